package daemontest

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

var injected = regexp.MustCompile(`(?is)<(signet-memory-context|signet-memory|memory-context)\b.*?(?:</(?:signet-memory-context|signet-memory|memory-context)>|$)`)

// duplicateWindow is how long after an end another end of the same key is a duplicate.
const duplicateWindow = 30 * time.Minute

// sessionEnd reads the transcript within the request: the file may be gone once the answer is there.
func (d *Daemon) sessionEnd(w http.ResponseWriter, r *http.Request) {
	h, ok := read(w, r)
	if !ok {
		return
	}
	if h.Harness == "" {
		reply(w, http.StatusBadRequest, map[string]any{"error": "harness is required"})
		return
	}
	if h.CapturedAt != "" {
		if _, err := time.Parse(time.RFC3339, h.CapturedAt); err != nil {
			reply(w, http.StatusBadRequest, map[string]any{"error": "capturedAt must be an ISO timestamp"})
			return
		}
	}
	e := End{
		At: d.opts.Now(), Harness: h.Harness, Key: h.SessionKey, AgentID: h.AgentID,
		Cwd: h.Cwd, Reason: h.Reason, TranscriptPath: h.TranscriptPath,
	}
	given := h.TranscriptPath != "" || h.Transcript != ""
	found := false
	if strings.HasPrefix(h.TranscriptPath, "/") || len(h.TranscriptPath) > 1 && h.TranscriptPath[1] == ':' {
		if b, err := os.ReadFile(h.TranscriptPath); err == nil {
			e.Transcript, found = string(b), true
		}
	}
	if !found && h.Transcript != "" {
		e.Inline, e.Transcript = true, h.Transcript
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.session(h.SessionKey)
	m := map[string]any{"memoriesSaved": 0}
	switch {
	case s.bypassed && !(d.opts.Generation == Older && s.bypassSaid):
		e.Outcome, s.bypassSaid = Bypassed, true
		m["bypassed"] = true
	case h.Reason == "clear":
		s.seen, s.given = false, nil
		e.Outcome = Discarded
	case d.opts.Generation == Newer:
		d.endNewer(h, s, &e, m, given)
	case d.opts.Generation == Middle:
		d.endMiddle(h, s, &e, m, given)
	default:
		s.seen, s.path, s.given = false, "", nil
		d.endOlder(h, &e, m, given)
	}
	d.note(func(r *record) { r.ends = append(r.ends, e) })
	reply(w, http.StatusOK, m)
}

// endOlder reads no inline transcript, and extracts a session again that is ended again.
func (d *Daemon) endOlder(h hook, e *End, m map[string]any, given bool) {
	kept, why := normalise(h.Harness, e.Transcript)
	switch {
	case !given:
		e.Outcome = Bare
	case e.Inline:
		e.Outcome, e.Why = Dropped, "an inline transcript is not read"
	case why != "":
		e.Outcome, e.Why = Dropped, why
	case utf8.RuneCountInString(kept) < 500:
		e.Outcome, e.Why = Dropped, "under 500 characters"
	default:
		e.Outcome, e.JobID, e.Kept = Queued, d.id("job"), cutUnits(kept, extracted, "\n[truncated]")
		m["queued"], m["jobId"] = true, e.JobID
	}
}

// endMiddle keeps the longer of the given and the live transcript, and extracts the first 100,000 characters of it.
func (d *Daemon) endMiddle(h hook, s *session, e *End, m map[string]any, given bool) {
	now := d.opts.Now()
	if h.SessionKey != "" && !s.ended.IsZero() && now.Sub(s.ended) < duplicateWindow {
		e.Outcome = Duplicate
		m["skipped"], m["duplicateSessionEnd"], m["endedBy"] = true, true, s.endedBy
		return
	}
	s.ended, s.endedBy, s.path, s.given = now, h.RuntimePath, "", nil
	kept, why := normalise(h.Harness, e.Transcript)
	if utf8.RuneCountInString(s.live) > utf8.RuneCountInString(kept) {
		kept, why = s.live, ""
	}
	s.live = ""
	switch {
	case !given && kept == "":
		e.Outcome = Bare
	case why != "" || utf8.RuneCountInString(kept) < 500:
		e.Outcome, e.Why, e.Stored = Dropped, "under 500 characters", kept
		m["queued"] = false
	default:
		e.Outcome, e.JobID, e.Stored, e.Kept = Queued, d.id("job"), kept, cutUnits(kept, extracted, "")
		m["queued"], m["jobId"] = true, e.JobID
	}
}

// endNewer keeps the longer of the given and the captured transcript, and ends a key once.
func (d *Daemon) endNewer(h hook, s *session, e *End, m map[string]any, given bool) {
	now := d.opts.Now()
	switch {
	case h.RuntimePath != "" && d.heldByOther(s, h.RuntimePath):
		e.Outcome = Conflict
		m["skipped"], m["duplicateRuntimePath"], m["claimedBy"] = true, true, s.path
		return
	case h.SessionKey != "" && !s.ended.IsZero() && now.Sub(s.ended) < duplicateWindow:
		e.Outcome = Duplicate
		m["skipped"], m["duplicateSessionEnd"], m["endedBy"] = true, true, s.endedBy
		return
	}
	s.ended, s.endedBy, s.path = now, h.RuntimePath, ""
	if !given {
		e.Outcome = Bare
		return
	}
	kept, why := e.Transcript, ""
	if kept == "" {
		why = "no transcript found"
	}
	kept = injected.ReplaceAllString(kept, "")
	if len(kept) < len(s.transcript) {
		kept = s.transcript // the longer of the given and the stored one wins
	}
	if why != "" || strings.TrimSpace(kept) == "" {
		e.Outcome, e.Why = Dropped, why
		return
	}
	s.transcript = kept
	e.Outcome, e.JobID, e.Kept = Queued, d.id("capture"), kept
	m["queued"], m["transcriptCaptureJobId"] = true, e.JobID
}

// extracted is how much of a transcript a job reads, in UTF-16 units as JavaScript counts.
const extracted = 100_000

// cutUnits cuts s to n UTF-16 units, and marks that it did.
func cutUnits(s string, n int, mark string) string {
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return s[:i] + mark
		}
	}
	return s
}

// normalise renders a transcript as the older kind does: JSON lines of role and text become lines of text, other JSON
// lines are dropped, all else stays.
func normalise(harness, raw string) (kept, why string) {
	if strings.TrimSpace(raw) == "" {
		return "", "missing or empty"
	}
	if strings.EqualFold(strings.TrimSpace(harness), "codex") {
		return "", "not the format of codex"
	}
	var turns []string
	lines, objects := 0, 0
	for line := range strings.Lines(raw) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		lines++
		var m map[string]any
		if json.Unmarshal([]byte(line), &m) != nil {
			continue
		}
		objects++
		text, plain := m["content"].(string)
		switch {
		case plain && m["role"] == "user":
			turns = append(turns, "User: "+text)
		case plain && m["role"] == "assistant":
			turns = append(turns, "Assistant: "+text)
		}
	}
	if objects*10 < lines*6 {
		return raw, ""
	}
	if len(turns) == 0 {
		return "", "produced no conversation turns"
	}
	return strings.Join(turns, "\n"), ""
}

// checkpoint makes a job of what is new in a session that goes on, and leaves its claim.
func (d *Daemon) checkpoint(w http.ResponseWriter, r *http.Request) {
	h, ok := read(w, r)
	if !ok {
		return
	}
	if h.Harness == "" || h.SessionKey == "" {
		reply(w, http.StatusBadRequest, map[string]any{"error": "harness and sessionKey are required"})
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s, c := d.session(h.SessionKey), Checkpoint{Key: h.SessionKey, Project: h.Project, Transcript: h.Transcript}
	defer func() { d.note(func(r *record) { r.soFar = append(r.soFar, c) }) }()
	switch {
	case h.RuntimePath != "" && d.heldByOther(s, h.RuntimePath):
		reply(w, http.StatusOK, map[string]any{"skipped": true, "duplicateRuntimePath": true, "claimedBy": s.path})
		return
	case s.bypassed, utf8.RuneCountInString(h.Transcript)-s.extracted < 500:
		reply(w, http.StatusOK, map[string]any{"skipped": true})
		return
	}
	s.extracted = utf8.RuneCountInString(h.Transcript)
	c.JobID = d.id("job")
	reply(w, http.StatusOK, map[string]any{"queued": true, "jobId": c.JobID})
}

// captured says what became of a transcript.
func (d *Daemon) captured(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.Ends() {
		if e.JobID == r.PathValue("id") {
			reply(w, http.StatusOK, map[string]any{"jobId": e.JobID, "status": "completed"})
			return
		}
	}
	reply(w, http.StatusNotFound, map[string]any{"error": "Transcript capture job not found"})
}

func (d *Daemon) preCompaction(w http.ResponseWriter, r *http.Request) {
	h, ok := read(w, r)
	if !ok {
		return
	}
	if h.Harness == "" {
		reply(w, http.StatusBadRequest, map[string]any{"error": "harness is required"})
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session(h.SessionKey).bypassed {
		reply(w, http.StatusOK, map[string]any{"instructions": "", "bypassed": true})
		return
	}
	d.note(func(r *record) { r.begun = append(r.begun, h.SessionKey) })
	reply(w, http.StatusOK, map[string]any{"summaryPrompt": "Pre-compaction memory flush...", "guidelines": "..."})
}

func (d *Daemon) compactionComplete(w http.ResponseWriter, r *http.Request) {
	h, ok := read(w, r)
	if !ok {
		return
	}
	if h.Harness == "" || h.Summary == "" {
		reply(w, http.StatusBadRequest, map[string]any{"error": "harness and summary are required"})
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.session(h.SessionKey).given = nil
	c := Compaction{Key: h.SessionKey, Summary: h.Summary, Project: h.Project, MemoryID: d.id("memory")}
	d.note(func(r *record) { r.compacts = append(r.compacts, c) })
	reply(w, http.StatusOK, map[string]any{"success": true, "memoryId": c.MemoryID})
}

func (d *Daemon) listSessions(w http.ResponseWriter, _ *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []any{}
	for key, s := range d.sessions {
		if s.path != "" {
			list = append(list, map[string]any{"key": key, "runtimePath": s.path,
				"claimedAt": s.claimed.Format(time.RFC3339), "bypassed": s.bypassed})
		}
	}
	reply(w, http.StatusOK, map[string]any{"sessions": list, "count": len(list)})
}

func (d *Daemon) setBypass(w http.ResponseWriter, r *http.Request) {
	var body struct{ Enabled bool }
	json.NewDecoder(r.Body).Decode(&body)
	key := r.PathValue("key")
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.sessions[key]
	if s == nil || s.path == "" {
		reply(w, http.StatusNotFound, map[string]any{"error": "Session not found"})
		return
	}
	s.bypassed = body.Enabled
	reply(w, http.StatusOK, map[string]any{"key": key, "bypassed": s.bypassed})
}
