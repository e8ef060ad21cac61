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
	maxRecalled  = 5
)

// identityFiles are the files that a start tells, and how many characters of each.
var identityFiles = []struct {
	name, heading string
	limit         int
}{
	{"AGENTS.md", "Agent Instructions", 12000},
	{"SOUL.md", "Soul", 4000},
	{"IDENTITY.md", "Identity", 2000},
	{"USER.md", "About Your User", 6000},
	{"MEMORY.md", "Working Memory", 10000},
}

func (d *Daemon) sessionStart(_ *http.Request, b body) (int, fields) {
	s := &session{}
	if b.SessionKey != "" {
		s = d.session(b.SessionKey)
	}
	switch {
	case d.heldByOther(s, b.RuntimePath):
		return refuse(http.StatusConflict, "session claimed by "+s.path+" path")
	case s.bypassed:
		return http.StatusOK, fields{"inject": "", "memories": []any{}, "bypassed": true}
	}
	if b.RuntimePath != "" && b.SessionKey != "" {
		s.path, s.claimed = b.RuntimePath, d.opts.Now()
	}
	s.ended = time.Time{} // it goes on
	s.started, s.agent, s.project = true, b.AgentID, b.Project
	switch {
	case b.ClaimOnly && d.documented:
		return http.StatusOK, fields{"sessionKnown": true}
	case s.seen:
		return http.StatusOK, d.stub()
	}
	s.seen = true
	return http.StatusOK, d.full(s)
}

// stub is the reply to every start of a key after the first.
func (d *Daemon) stub() fields {
	said := fields{"identity": fields{"name": "Agent"}, "memories": []any{}}
	text := strings.Join(d.again, "\n")
	if d.documented {
		return fenced(said, standing, text)
	}
	said["inject"] = text + "\n" + d.clock()
	return said
}

// full is the reply to a key's first start.
func (d *Daemon) full(s *session) fields {
	parts := slices.Clone(d.first)
	if !d.documented {
		parts = append(parts, "\n"+d.clock()+"\n")
	}
	for _, f := range identityFiles {
		if text := d.opts.Files[f.name]; text != "" {
			parts = append(parts, "\n## "+f.heading+"\n", cut(text, f.limit, "[truncated]"))
		}
	}
	memories, lines := []any{}, []string{}
	for _, m := range d.memories {
		if m.Forgotten {
			continue
		}
		s.recorded = append(s.recorded, m.ID)
		memories = append(memories, m.row())
		tags := ""
		if m.Tags != "" {
			tags = " [" + m.Tags + "]"
		}
		lines = append(lines, fmt.Sprintf("- %s%s (%s)", m.Content, tags, m.Created.Format("Jan 2, 2006")))
	}
	if len(lines) > 0 {
		parts = append(parts, fmt.Sprintf("\n## Relevant Memories (auto-loaded | scored by importance x recency | %d "+
			"results)\n", len(lines)))
	}
	text := strings.Join(append(parts, lines...), "\n")
	if d.maxStart > 0 {
		text = cut(text, d.maxStart, "[context truncated]")
	}
	said := fields{"identity": d.identity(), "memories": memories}
	if !d.documented {
		said["inject"] = text
		return said
	}
	if len(d.opts.Warnings) > 0 {
		said["warnings"] = d.opts.Warnings
	}
	return d.notify(fenced(said, standing, text))
}

func (d *Daemon) identity() fields {
	said := fields{"name": "Agent"}
	for line := range strings.Lines(d.opts.Files["IDENTITY.md"]) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok && (key == "name" || key == "description") {
			said[key] = value
		}
	}
	return said
}

func (d *Daemon) promptSubmit(_ *http.Request, b body) (int, fields) {
	prompt := strings.TrimSpace(b.UserMessage)
	s := d.session(b.SessionKey)
	switch {
	case prompt == "":
		return refuse(http.StatusBadRequest, "harness and userMessage or userPrompt are required")
	case d.heldByOther(s, b.RuntimePath) && d.documented:
		return http.StatusOK, fields{"inject": "", "dynamicContext": "", "memoryCount": 0,
			"sessionKnown": true, "skipped": true, "duplicateRuntimePath": true, "claimedBy": s.path}
	case d.heldByOther(s, b.RuntimePath):
		return refuse(http.StatusConflict, "session claimed by "+s.path+" path")
	case s.bypassed:
		return http.StatusOK, fields{"inject": "", "memoryCount": 0, "bypassed": true}
	}
	s.ended = time.Time{}                               // it goes on
	if d.once && !d.documented && b.RuntimePath != "" { // "presence shows the session from then on"
		s.path, s.claimed = b.RuntimePath, d.opts.Now()
	}
	if said := strings.TrimSpace(b.LastAssistantMessage); d.once && said != "" {
		s.live += "Assistant: " + said + "\n"
	}
	if d.once {
		s.live += "User: " + b.UserMessage + "\n" // as it is given, line breaks and all
	}
	return http.StatusOK, d.recalled(b.SessionKey, prompt, d.match(prompt, s), s.seen)
}

// match finds memories that share a word of four letters with the prompt, and notes that they are given.
func (d *Daemon) match(prompt string, s *session) (hits []*Memory) {
	named := func(word string) bool { return shareWord(prompt, word) }
	if d.once && len(d.entities) > 0 && !slices.ContainsFunc(d.entities, named) {
		return nil
	}
	for _, m := range d.memories {
		recent := slices.ContainsFunc(s.given, func(ids []string) bool { return slices.Contains(ids, m.ID) })
		if !m.Forgotten && !recent && shareWord(prompt, m.Content) && len(hits) < maxRecalled {
			hits = append(hits, m)
		}
	}
	if len(hits) > 0 {
		s.given = append([][]string{idsOf(hits)}, s.given...)
		s.given = s.given[:min(len(s.given), recallWindow)]
		s.recorded = append(s.recorded, idsOf(hits)...)
	}
	return hits
}

func idsOf(all []*Memory) (ids []string) {
	for _, m := range all {
		ids = append(ids, m.ID)
	}
	return ids
}

// recalled is the reply to a prompt.
func (d *Daemon) recalled(key, prompt string, hits []*Memory, known bool) fields {
	var lines []string
	for _, m := range hits {
		lines = append(lines, fmt.Sprintf("- %s (%s)", m.Content, m.Created.Format("Jan 2, 2006")))
	}
	said := fields{"inject": "", "memoryCount": len(hits)}
	query, head := cut(prompt, 80, ""), ""
	switch {
	case d.documented:
		said["dynamicContext"], said["engine"], said["sessionKnown"] = "", "no-entity", known
		if len(hits) > 0 {
			said["engine"] = "entity-context"
			said = fenced(said, "", "\n## Relevant Entity Context\n\n"+strings.Join(lines, "\n")+"\n")
		}
		return d.notify(said)
	case !d.once:
		head = d.clock() + "\n"
		said["inject"] = head
	case len(hits) == 0:
		said["queryTerms"], said["engine"], said["sessionKnown"] = query, "no-entity", false
	}
	if len(hits) > 0 {
		said["queryTerms"], said["engine"] = query, "hybrid"
		said["inject"] = fmt.Sprintf("%s\n[signet:recall | query=\"%s\" | results=%d | engine=hybrid]\n%s\n"+
			"<memory-feedback>\n"+
			"Rate injected memories using the mcp__signet__memory_feedback tool. Pass session_key %q and a ratings "+
			"map of memory ID to score (-1 to 1). "+
			"0=unused, 1=directly helpful, -1=harmful.\nIDs: %s\n</memory-feedback>",
			head, query, len(hits), strings.Join(lines, "\n"), key, strings.Join(idsOf(hits), ", "))
	}
	return said
}

func (d *Daemon) clock() string {
	return "# Current Date & Time\n" + d.opts.Now().UTC().Format("Monday, January 2, 2006 at 3:04 PM") + " (UTC)"
}

// fenced gives a reply the newer kind's fields.
func fenced(said fields, stable, dynamic string) fields {
	inject := dynamic
	if stable != "" {
		said["stableSystemPrompt"] = stable
		inject = stable + "\n" + dynamic
	}
	said["dynamicContext"] = dynamic
	inject = fenceOpen + strings.TrimRight(inject, " \n") + fenceClose
	sum := sha256.Sum256([]byte(inject))
	said["inject"], said["contextHash"], said["contextVersion"] = inject, hex.EncodeToString(sum[:]), 1
	return said
}

func cut(s string, n int, mark string) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + mark
}
