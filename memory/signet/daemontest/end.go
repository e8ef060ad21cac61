package daemontest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

var injected = regexp.MustCompile(`(?is)<(signet-memory-context|signet-memory|memory-context)\b.*?(?:</(?:signet-memory-context|signet-memory|memory-context)>|$)`)

// duplicateWindow is how long after an end another end of the same key is a duplicate.
const duplicateWindow = 30 * time.Minute

// sessionEnd reads the transcript within the request: the file may be gone once the answer is there.
func (d *Daemon) sessionEnd(_ *http.Request, b body) (int, fields) {
	now, s, said := d.opts.Now(), d.session(b.SessionKey), fields{"memoriesSaved": 0}
	e := End{
		At: now, Harness: b.Harness, Key: b.SessionKey, AgentID: b.AgentID,
		Cwd: b.Cwd, Reason: b.Reason, TranscriptPath: b.TranscriptPath,
	}
	d.read(b, &e)
	switch {
	case s.bypassed && (d.once || !s.bypassSaid):
		e.Outcome, s.bypassSaid = Bypassed, true
		said["bypassed"] = true
	case b.Reason == "clear": // releases the claim, as every end does, and extracts nothing
		e.Outcome = Discarded
		s.end(now, b.RuntimePath)
		s.seen, s.started = false, false
	case d.documented && d.heldByOther(s, b.RuntimePath):
		e.Outcome = Conflict
		said["skipped"], said["duplicateRuntimePath"], said["claimedBy"] = true, true, s.path
	case d.once && b.SessionKey != "" && !s.ended.IsZero() && now.Sub(s.ended) < duplicateWindow:
		e.Outcome = Duplicate
		said["skipped"], said["duplicateSessionEnd"], said["endedBy"] = true, true, s.endedBy
	default:
		s.end(now, b.RuntimePath)
		s.seen = s.seen && d.once
		d.extract(s, &e, said)
	}
	d.ends = append(d.ends, e)
	return http.StatusOK, said
}

// end ends a session.
func (s *session) end(at time.Time, by string) { s.ended, s.endedBy, s.path, s.given = at, by, "", nil }

// read reads the transcript that an end brings.
func (d *Daemon) read(b body, e *End) {
	if filepath.IsAbs(b.TranscriptPath) {
		if text, err := os.ReadFile(b.TranscriptPath); err == nil {
			e.Transcript = string(text)
			return
		}
	}
	e.Transcript, e.Inline = b.Transcript, b.Transcript != ""
}

// extract makes a job of a transcript. Who ends a key once uses the longest that it has had for the key ("keeps the
// transcript of every session-end for its key, and uses the longest of all that it has had"; "the sources up to about
// 0.214 have the same rule"), also where none is given.
func (d *Daemon) extract(s *session, e *End, said fields) {
	text, why := d.normalise(e)
	if d.once {
		text, why = s.longest(text), ""
		e.Stored = text
	}
	switch {
	case text == "" && e.TranscriptPath == "" && e.Transcript == "":
		e.Outcome = Bare
		return
	case why == "" && units(text) < d.least:
		why = "too short"
	}
	if e.Why = why; why != "" {
		e.Outcome = Dropped
		if d.once {
			said["queued"] = false
		}
		return
	}
	e.Outcome, e.Kept = Queued, cutUnits(text, d.max, d.cutMark)
	e.JobID = d.queue(d.job, e.Key, e.Kept)
	said["queued"] = true
	if d.documented {
		said["transcriptCaptureJobId"] = e.JobID
	} else {
		said["jobId"] = e.JobID
	}
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

// queue makes a job of a text, and returns its id.
func (d *Daemon) queue(kind, key, text string) string {
	job := Job{Key: key, ID: d.id(kind), Text: text, Status: cmp.Or(d.becomes, Completed)}
	d.jobs = append(d.jobs, job)
	return job.ID
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// cutUnits cuts s to n UTF-16 units, and marks that it did.
func cutUnits(s string, n int, mark string) string {
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return s[:i] + mark
		}
	}
	return s
}

// normalise renders a transcript: without our blocks, as documented; before, JSON lines of role and text become lines
// of text, other JSON lines are dropped, all else stays.
func (d *Daemon) normalise(e *End) (kept, why string) {
	raw := e.Transcript
	switch {
	case d.documented:
		return injected.ReplaceAllString(raw, ""), ""
	case e.Inline && !d.once:
		return "", "an inline transcript is not read"
	case strings.TrimSpace(raw) == "":
		return "", "missing or empty"
	case strings.EqualFold(strings.TrimSpace(e.Harness), "codex"):
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
func (d *Daemon) checkpoint(_ *http.Request, b body) (int, fields) {
	if b.SessionKey == "" {
		return refuse(http.StatusBadRequest, "harness and sessionKey are required")
	}
	s := d.session(b.SessionKey)
	switch {
	case d.heldByOther(s, b.RuntimePath):
		return http.StatusOK, fields{"skipped": true, "duplicateRuntimePath": true, "claimedBy": s.path}
	case s.bypassed, len(b.Transcript)-s.extracted < behaviours[Middle].least:
		return http.StatusOK, fields{"skipped": true}
	}
	s.longest(b.Transcript)
	news := b.Transcript[s.extracted:]
	s.extracted = len(b.Transcript)
	return http.StatusOK, fields{"queued": true, "jobId": d.queue("job", b.SessionKey, news)}
}

// captured says what became of a transcript; of a named agent's only if it is named.
func (d *Daemon) captured(r *http.Request, _ body) (int, fields) {
	id, agent := r.PathValue("id"), r.FormValue("agentId")
	if !slices.ContainsFunc(d.ends, func(e End) bool { return e.JobID == id && e.AgentID == agent }) {
		return refuse(http.StatusNotFound, "Transcript capture job not found")
	}
	at := slices.IndexFunc(d.jobs, func(j Job) bool { return j.ID == id })
	return http.StatusOK, fields{"id": id, "status": d.jobs[at].Status, "error": nil}
}

// Extract says what becomes of jobs from now on, and of those that wait.
func (d *Daemon) Extract(becomes string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.becomes = becomes
	for i := range d.jobs {
		if d.jobs[i].Status == Waiting {
			d.jobs[i].Status = becomes
		}
	}
}

// summaries lists the keys of which there is a summary. The newer kinds make none.
func (d *Daemon) summaries(*http.Request, body) (int, fields) {
	all := []any{}
	for _, j := range d.jobs {
		if j.Status == Completed && !d.documented {
			all = append(all, fields{"session_key": j.Key, "depth": 0})
		}
	}
	return http.StatusOK, fields{"summaries": all, "total": len(all)}
}

// count counts the jobs by what has become of them; one that was skipped has completed.
func (d *Daemon) count() map[string]int {
	n := map[string]int{"pending": 0, "leased": 0, "completed": 0, "failed": 0, "dead": 0}
	for _, j := range d.jobs {
		if j.Status == Skipped {
			j.Status = Completed
		}
		n[j.Status]++
	}
	return n
}

func (d *Daemon) pipeline(*http.Request, body) (int, fields) {
	jobs := map[string]int{}
	if !d.documented {
		jobs = d.count()
	}
	return http.StatusOK, fields{"queues": fields{"summary": jobs}}
}

func (d *Daemon) transcripts(*http.Request, body) (int, fields) {
	n, captures := d.count(), map[string]int{}
	failed := n["dead"]
	if d.documented {
		captures, failed = n, 0
	}
	return http.StatusOK, fields{"ok": n["dead"] == 0, "capture": captures,
		"artifacts": fields{"failedSummaries": failed}}
}
