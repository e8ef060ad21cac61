package daemontest

import (
	"cmp"
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
	absolute := strings.HasPrefix(h.TranscriptPath, "/") || len(h.TranscriptPath) > 1 && h.TranscriptPath[1] == ':'
	if absolute && !d.opts.Elsewhere {
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
	case h.Reason == "clear": // releases the claim, as every end does, and extracts nothing
		s.seen, s.given, s.path, s.ended, s.endedBy = false, nil, "", d.opts.Now(), h.RuntimePath
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
		e.Outcome, e.Kept = Queued, cutUnits(kept, extracted, "\n[truncated]")
		e.JobID = d.queue("job", h.SessionKey, e.Kept)
		m["queued"], m["jobId"] = true, e.JobID
	}
}

// endMiddle extracts the first 100,000 characters of the longest transcript that it has had for the key ("keeps the
// transcript of every session-end for its key, and uses the longest of all that it has had"), also where none is given.
func (d *Daemon) endMiddle(h hook, s *session, e *End, m map[string]any, given bool) {
	if d.ended(h, s, e, m) {
		return
	}
	kept, _ := normalise(h.Harness, e.Transcript)
	kept = s.longest(kept)
	switch {
	case !given && kept == "":
		e.Outcome = Bare
	case len(utf16.Encode([]rune(kept))) < leastExtracted:
		e.Outcome, e.Why, e.Stored = Dropped, "under 500 characters", kept
		m["queued"] = false
	default:
		e.Outcome, e.Stored, e.Kept = Queued, kept, cutUnits(kept, extracted, "")
		e.JobID = d.queue("job", h.SessionKey, e.Kept)
		m["queued"], m["jobId"] = true, e.JobID
	}
}

// endNewer captures the longest transcript that it has had for the key ("the sources up to about 0.214 have the same
// rule"), and ends a key once.
func (d *Daemon) endNewer(h hook, s *session, e *End, m map[string]any, given bool) {
	if h.RuntimePath != "" && d.heldByOther(s, h.RuntimePath) {
		e.Outcome = Conflict
		m["skipped"], m["duplicateRuntimePath"], m["claimedBy"] = true, true, s.path
		return
	}
	if d.ended(h, s, e, m) {
		return
	}
	kept := s.longest(injected.ReplaceAllString(e.Transcript, ""))
	switch {
	case !given && kept == "":
		e.Outcome = Bare
	case strings.TrimSpace(kept) == "":
		e.Outcome, e.Why = Dropped, "no transcript found"
		m["queued"] = false
	default:
		e.Outcome, e.Stored, e.Kept = Queued, kept, kept
		e.JobID = d.queue("capture", h.SessionKey, e.Kept)
		m["queued"], m["transcriptCaptureJobId"] = true, e.JobID
	}
}

// ended ends a key, and reports whether it was ended within the last 30 minutes, so that nothing is taken.
func (d *Daemon) ended(h hook, s *session, e *End, m map[string]any) bool {
	now := d.opts.Now()
	if h.SessionKey != "" && !s.ended.IsZero() && now.Sub(s.ended) < duplicateWindow {
		e.Outcome = Duplicate
		m["skipped"], m["duplicateSessionEnd"], m["endedBy"] = true, true, s.endedBy
		return true
	}
	s.ended, s.endedBy, s.path, s.given = now, h.RuntimePath, "", nil
	return false
}

// longest returns the longest transcript that there was under a key, its prompts among them, and keeps it.
func (s *session) longest(given string) string {
	for _, other := range []string{given, s.live} {
		if len(other) > len(s.stored) {
			s.stored = other
		}
	}
	return s.stored
}

// queue makes a job of a text, and gives its id. The caller holds d.mu.
func (d *Daemon) queue(kind, key, text string) string {
	job := Job{Key: key, ID: d.id(kind), Text: text}
	d.note(func(r *record) { r.jobs = append(r.jobs, job) })
	return job.ID
}

// leastExtracted is the length below which nothing is queued, in UTF-16 units.
const leastExtracted = 500

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

// checkpoint makes a job of what is new in a session that goes on, and leaves its claim: "it takes the difference
// itself". What it is given is stored, so that "a session-end with the whole afterwards extracts all of it again".
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
	s := d.session(h.SessionKey)
	switch {
	case h.RuntimePath != "" && d.heldByOther(s, h.RuntimePath):
		reply(w, http.StatusOK, map[string]any{"skipped": true, "duplicateRuntimePath": true, "claimedBy": s.path})
		return
	case s.bypassed, len(h.Transcript)-s.extracted < leastExtracted:
		reply(w, http.StatusOK, map[string]any{"skipped": true})
		return
	}
	s.longest(h.Transcript)
	news := h.Transcript[s.extracted:]
	s.extracted = len(h.Transcript)
	reply(w, http.StatusOK, map[string]any{"queued": true, "jobId": d.queue("job", h.SessionKey, news)})
}

// captured says what became of a transcript; of a named agent's only if it is named.
func (d *Daemon) captured(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.Ends() {
		if e.JobID == r.PathValue("id") && e.AgentID == r.URL.Query().Get("agentId") {
			reply(w, http.StatusOK, map[string]any{"jobId": e.JobID, "status": cmp.Or(d.opts.Captured, "completed")})
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
