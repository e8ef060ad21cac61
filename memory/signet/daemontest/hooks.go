package daemontest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	statusLine = "[memory active | /remember | /recall]"
	fenceOpen  = "<signet-memory-context>\n"
	fenceClose = "\n</signet-memory-context>\n"
	// standing is what the newer kind says of itself at every start.
	standing = "[signet active]\nYou have persistent memory managed by Signet.\n\nMemory tools:\n- " +
		"mcp__signet__memory_search: search stored memories by keyword or meaning"
	// preamble is that of 0.145.8, shortened: five tools, a call to recall before commands and edits, and where the
	// files are.
	preamble = "[signet active]\n\n## Memory Check Loop\n\nRun 1-3 recalls before commands and file edits.\n\nMemory " +
		"tools:\n" +
		"- mcp__signet__memory_search\n- mcp__signet__memory_store\n- mcp__signet__memory_list\n- " +
		"mcp__signet__memory_get\n- mcp__signet__memory_feedback\n\n" +
		"Cross-session history: earlier sessions are searched too.\nIdentity files in your Signet workspace: " +
		"AGENTS.md, SOUL.md, IDENTITY.md, USER.md, MEMORY.md\n" +
		"Secrets: use secret_exec.\n"

	recallWindow = 5 // prompts whose memories are not given again
	peerLimit    = 6
)

func (d *Daemon) health(w http.ResponseWriter, _ *http.Request) {
	m := map[string]any{
		"status": "healthy", "uptime": d.opts.Now().Sub(d.start).Seconds(), "pid": 8973, "version": d.opts.Version,
		"port": 3850, "agentsDir": d.opts.AgentsDir, "db": true, "updateAvailable": false, "pendingRestart": false,
	}
	if d.opts.Generation == Newer {
		m["mode"], m["live"], m["ready"] = "local", true, true
	}
	reply(w, http.StatusOK, m)
}

func (d *Daemon) sessionStart(w http.ResponseWriter, r *http.Request) {
	h, ok := read(w, r)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case h.Harness == "":
		reply(w, http.StatusBadRequest, map[string]any{"error": "harness is required"})
		return
	case r.Header.Get("X-Signet-No-Hooks") == "1":
		reply(w, http.StatusOK, map[string]any{"inject": "", "memories": []any{}})
		return
	}
	s := &session{}
	if h.SessionKey != "" {
		s = d.session(h.SessionKey)
	}
	switch {
	case h.RuntimePath != "" && d.heldByOther(s, h.RuntimePath):
		reply(w, http.StatusConflict, map[string]any{"error": "session claimed by " + s.path + " path"})
		return
	case s.bypassed:
		reply(w, http.StatusOK, map[string]any{"inject": "", "memories": []any{}, "bypassed": true})
		return
	}
	if h.RuntimePath != "" && h.SessionKey != "" {
		s.path, s.claimed = h.RuntimePath, d.opts.Now()
	}
	s.project = h.Project
	s.ended = time.Time{} // it goes on
	if h.ClaimOnly && d.opts.Generation == Newer {
		reply(w, http.StatusOK, map[string]any{"sessionKnown": true})
		return
	}
	if h.Source == "clear" {
		s.seen = false
	}
	if s.seen {
		reply(w, http.StatusOK, d.stub())
		return
	}
	s.seen = true
	reply(w, http.StatusOK, d.full(h))
}

// stub is the reply to every start of a key after the first.
func (d *Daemon) stub() map[string]any {
	m := map[string]any{"identity": map[string]any{"name": "Agent"}, "memories": []any{}}
	if d.opts.Generation == Newer {
		return fenced(m, standing, statusLine)
	}
	if d.opts.Generation == Middle {
		m["inject"] = preamble + "\n" + statusLine + "\n# Current Date & Time\n" + d.clock()
		return m
	}
	m["inject"] = statusLine + "\n# Current Date & Time\n" + d.clock()
	return m
}

// full is the reply to a key's first start. The caller holds d.mu.
func (d *Daemon) full(h hook) map[string]any {
	parts := []string{statusLine}
	switch d.opts.Generation {
	case Older:
		parts = append(parts, "[predictor: offline | baseline only]", "\n# Current Date & Time\n"+d.clock()+"\n")
	case Middle:
		parts = []string{preamble, statusLine, "\n# Current Date & Time\n" + d.clock() + "\n"}
	}
	if peers := d.peers(h); len(peers) > 0 {
		parts = append(parts, "\n## Active Peer Sessions\n", "Other Signet agent sessions are active right now:")
		parts = append(parts, peers...)
	}
	for _, f := range []struct {
		name, heading string
		limit         int
	}{
		{"AGENTS.md", "Agent Instructions", 12000},
		{"SOUL.md", "Soul", 4000},
		{"IDENTITY.md", "Identity", 2000},
		{"USER.md", "About Your User", 6000},
		{"MEMORY.md", "Working Memory", 10000},
	} {
		if text := d.opts.Files[f.name]; text != "" {
			parts = append(parts, "\n## "+f.heading+"\n", cut(text, f.limit, "[truncated]"))
		}
	}
	memories := []any{}
	var lines []string
	for _, m := range d.memories {
		if m.Forgotten {
			continue
		}
		d.session(h.SessionKey).recorded = append(d.session(h.SessionKey).recorded, m.ID)
		memories = append(memories, map[string]any{
			"id": m.ID, "content": m.Content, "type": m.Type, "importance": m.Importance,
			"created_at": m.Created.Format(time.RFC3339),
		})
		tags := ""
		if m.Tags != "" {
			tags = " [" + m.Tags + "]"
		}
		lines = append(lines, fmt.Sprintf("- %s%s (%s)", m.Content, tags, m.Created.Format("Jan 2, 2006")))
	}
	if len(lines) > 0 {
		parts = append(parts, fmt.Sprintf("\n## Relevant Memories (auto-loaded | scored by importance x recency | %d "+
			"results)\n", len(lines)))
		parts = append(parts, lines...)
	}
	said := strings.Join(parts, "\n")
	if d.opts.Generation != Middle { // which was seen to give 34,913 characters
		said = cut(said, 24000, "[context truncated]")
	}
	m := map[string]any{"identity": d.identity(), "memories": memories}
	if text := d.opts.Files["MEMORY.md"]; text != "" {
		m["recentContext"] = text
	}
	if d.opts.Generation == Newer {
		if len(d.opts.Warnings) > 0 {
			m["warnings"] = d.opts.Warnings
		}
		return d.notify(fenced(m, standing, said), h)
	}
	m["inject"] = said
	return m
}

func (d *Daemon) identity() map[string]any {
	m := map[string]any{"name": "Agent"}
	for line := range strings.Lines(d.opts.Files["IDENTITY.md"]) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok && (key == "name" || key == "description") {
			m[key] = value
		}
	}
	return m
}

// peers lists the other sessions of the project that were started and not ended. The caller holds d.mu.
func (d *Daemon) peers(h hook) []string {
	var keys []string
	for key, s := range d.sessions {
		if key != h.SessionKey && s.path != "" && h.Project != "" && s.project == h.Project {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	keys = keys[:min(len(keys), peerLimit)]
	for i, key := range keys {
		keys[i] = fmt.Sprintf("- default (acp) project=%s session=%s [seen just now]", h.Project, key)
	}
	return keys
}

func (d *Daemon) promptSubmit(w http.ResponseWriter, r *http.Request) {
	h, ok := read(w, r)
	if !ok {
		return
	}
	prompt := strings.TrimSpace(h.UserMessage)
	if prompt == "" {
		prompt = strings.TrimSpace(h.UserPrompt)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if h.Harness == "" || prompt == "" {
		reply(w, http.StatusBadRequest, map[string]any{"error": "harness and userMessage or userPrompt are required"})
		return
	}
	nothing := map[string]any{"inject": "", "memoryCount": 0}
	if r.Header.Get("X-Signet-No-Hooks") == "1" {
		reply(w, http.StatusOK, nothing)
		return
	}
	s := d.session(h.SessionKey)
	if h.RuntimePath != "" && d.heldByOther(s, h.RuntimePath) {
		if d.opts.Generation == Newer {
			reply(w, http.StatusOK, map[string]any{"inject": "", "dynamicContext": "", "memoryCount": 0,
				"sessionKnown": true, "skipped": true, "duplicateRuntimePath": true, "claimedBy": s.path})
			return
		}
		reply(w, http.StatusConflict, map[string]any{"error": "session claimed by " + s.path + " path"})
		return
	}
	if s.bypassed {
		nothing["bypassed"] = true
		reply(w, http.StatusOK, nothing)
		return
	}
	s.prompts = append(s.prompts, prompt)
	s.ended = time.Time{} // it goes on
	if d.opts.Generation != Older {
		if said := strings.TrimSpace(h.LastAssistantMessage); said != "" {
			s.live += "Assistant: " + said + "\n"
		}
		s.live += "User: " + h.UserMessage + "\n" // as it is given, line breaks and all
	}
	hits := d.match(prompt, s)
	if d.opts.Generation != Older && len(d.entities) > 0 &&
		!slices.ContainsFunc(d.entities, func(word string) bool { return shareWord(prompt, word) }) {
		hits = nil
	}
	var ids, lines []string
	for _, m := range hits {
		s.recorded = append(s.recorded, m.ID)
		ids = append(ids, m.ID)
		lines = append(lines, fmt.Sprintf("- %s (%s)", m.Content, m.Created.Format("Jan 2, 2006")))
	}
	if len(hits) > 0 {
		s.given = append([][]string{ids}, s.given...)
		s.given = s.given[:min(len(s.given), recallWindow)]
	}
	if d.opts.Generation == Newer {
		m := map[string]any{"inject": "", "dynamicContext": "", "memoryCount": len(hits),
			"engine": "no-entity", "sessionKnown": s.seen}
		if len(hits) > 0 {
			m["engine"] = "entity-context"
			m = fenced(m, "", "\n## Relevant Entity Context\n\n"+strings.Join(lines, "\n")+"\n")
		}
		reply(w, http.StatusOK, d.notify(m, h))
		return
	}
	if d.opts.Generation == Middle && len(hits) == 0 {
		reply(w, http.StatusOK, map[string]any{"inject": "", "memoryCount": 0, "queryTerms": cut(prompt, 80, ""),
			"engine": "no-entity", "sessionKnown": false})
		return
	}
	head := "# Current Date & Time\n" + d.clock() + "\n"
	if d.opts.Generation == Middle {
		head = ""
	}
	if len(hits) == 0 {
		reply(w, http.StatusOK, map[string]any{"inject": head, "memoryCount": 0})
		return
	}
	query := cut(prompt, 80, "")
	reply(w, http.StatusOK, map[string]any{
		"inject": fmt.Sprintf("%s\n[signet:recall | query=\"%s\" | results=%d | engine=hybrid]\n%s\n<memory-feedback>\n"+
			"Rate injected memories using the mcp__signet__memory_feedback tool. Pass session_key %q and a ratings "+
			"map of memory ID to score (-1 to 1). "+
			"0=unused, 1=directly helpful, -1=harmful.\nIDs: %s\n</memory-feedback>",
			head, query, len(hits), strings.Join(lines, "\n"), h.SessionKey, strings.Join(ids, ", ")),
		"memoryCount": len(hits), "queryTerms": query, "engine": "hybrid",
	})
}

// match finds memories that share a word of four letters with the prompt. The caller holds d.mu.
func (d *Daemon) match(prompt string, s *session) []*Memory {
	var hits []*Memory
	for _, m := range d.memories {
		recent := slices.ContainsFunc(s.given, func(ids []string) bool { return slices.Contains(ids, m.ID) })
		if !m.Forgotten && !recent && shareWord(prompt, m.Content) {
			hits = append(hits, m)
		}
	}
	return hits[:min(len(hits), 5)]
}

func (d *Daemon) clock() string {
	return d.opts.Now().UTC().Format("Monday, January 2, 2006 at 3:04 PM") + " (UTC)"
}

// fenced gives a reply the newer kind's fields.
func fenced(m map[string]any, stable, dynamic string) map[string]any {
	inject := dynamic
	if stable != "" {
		m["stableSystemPrompt"] = stable
		inject = stable + "\n" + dynamic
	}
	m["dynamicContext"] = dynamic
	inject = fenceOpen + strings.TrimRight(inject, " \n") + fenceClose
	sum := sha256.Sum256([]byte(inject))
	m["inject"], m["contextHash"], m["contextVersion"] = inject, hex.EncodeToString(sum[:]), 1
	return m
}

func cut(s string, n int, mark string) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + mark
}
