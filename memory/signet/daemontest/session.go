package daemontest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Know makes words entities that the daemon knows: the newer and the middle kind then recall only for prompts with one
// of them. Before that, every word counts as one.
func (d *Daemon) Know(words ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entities = append(d.entities, words...)
}

// Live returns the live transcript of a key: the prompts that prompt-submit brought.
func (d *Daemon) Live(key string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session(key).live
}

// Sessions returns the keys that are claimed: the sessions that the daemon takes to be present.
func (d *Daemon) Sessions() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var keys []string
	for key, s := range d.sessions {
		if s.path != "" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Claim makes another runtime path, such as "legacy", the owner of a key.
func (d *Daemon) Claim(key, path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.session(key)
	s.path, s.claimed = path, d.opts.Now()
}

// Bypass switches a session's hooks off or on.
func (d *Daemon) Bypass(key string, on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.session(key).bypassed = on
}

// heldByOther reports a claim of another path, which lasts 4 h.
func (d *Daemon) heldByOther(s *session, path string) bool {
	return path != "" && s.path != "" && s.path != path && d.opts.Now().Sub(s.claimed) < 4*time.Hour
}

func (d *Daemon) health(*http.Request, body) (int, fields) {
	return http.StatusOK, fields{"status": "healthy", "version": d.version, "agentsDir": d.opts.AgentsDir,
		"port": 3850, "pid": 8973, "db": true}
}

func (d *Daemon) listSessions(*http.Request, body) (int, fields) {
	list := []any{}
	for key, s := range d.sessions {
		if s.path != "" {
			list = append(list, fields{"key": key, "runtimePath": s.path,
				"claimedAt": s.claimed.Format(time.RFC3339), "bypassed": s.bypassed})
		}
	}
	return http.StatusOK, fields{"sessions": list, "count": len(list)}
}

// searchSessions finds the transcripts with a text.
func (d *Daemon) searchSessions(_ *http.Request, b body) (int, fields) {
	found := []any{}
	for _, e := range d.ends {
		if strings.Contains(e.Stored, b.Query) {
			found = append(found, fields{"session_key": e.Key, "project": e.Cwd, "content": e.Stored})
		}
	}
	return http.StatusOK, fields{"results": found}
}

func (d *Daemon) setBypass(r *http.Request, b body) (int, fields) {
	key := r.PathValue("key")
	s := d.sessions[key]
	if s == nil || s.path == "" {
		return refuse(http.StatusNotFound, "Session not found")
	}
	s.bypassed = b.Enabled
	return http.StatusOK, fields{"key": key, "bypassed": s.bypassed}
}

func (d *Daemon) preCompaction(_ *http.Request, b body) (int, fields) {
	if d.session(b.SessionKey).bypassed {
		return http.StatusOK, fields{"instructions": "", "bypassed": true}
	}
	d.compacting = append(d.compacting, b.SessionKey)
	return http.StatusOK, fields{"summaryPrompt": "Pre-compaction memory flush...", "guidelines": "..."}
}

func (d *Daemon) compactionComplete(_ *http.Request, b body) (int, fields) {
	if b.Summary == "" {
		return refuse(http.StatusBadRequest, "harness and summary are required")
	}
	d.session(b.SessionKey).given = nil
	c := Compaction{Key: b.SessionKey, Summary: b.Summary, Project: b.Project, MemoryID: d.id("memory")}
	d.compactions = append(d.compactions, c)
	return http.StatusOK, fields{"success": true, "memoryId": c.MemoryID}
}
