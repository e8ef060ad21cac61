package daemontest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Remember stores a memory, dated now, and returns its id.
func (d *Daemon) Remember(content, kind string) string {
	return d.RememberAt(content, kind, d.opts.Now())
}

// RememberAt is Remember with a date.
func (d *Daemon) RememberAt(content, kind string, at time.Time) string {
	return d.add(Memory{Content: content, Type: kind, Created: at})
}

// RememberIn is Remember for a project.
func (d *Daemon) RememberIn(project, content, kind string) string {
	return d.add(Memory{Content: content, Type: kind, Project: project, Created: d.opts.Now()})
}

func (d *Daemon) add(m Memory) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	m.Importance = 0.9
	return d.store(m).ID
}

func (d *Daemon) store(m Memory) *Memory {
	m.ID, m.Created = d.id("mem"), m.Created.UTC()
	d.memories = append(d.memories, &m)
	return &m
}

// Memories returns all memories, forgotten ones included.
func (d *Daemon) Memories() []Memory {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Memory, len(d.memories))
	for i, m := range d.memories {
		out[i] = *m
	}
	return out
}

func (d *Daemon) remember(_ *http.Request, b body) (int, fields) {
	m := Memory{Type: "fact", Importance: 0.8, Pinned: b.Pinned, Created: d.opts.Now()}
	set(&m.Content, b.Content)
	set(&m.Type, b.Type)
	set(&m.Importance, b.Importance)
	if strings.TrimSpace(m.Content) == "" {
		return refuse(http.StatusBadRequest, "content is required")
	}
	if rest, ok := strings.CutPrefix(m.Content, "["); ok {
		if tags, text, ok := strings.Cut(rest, "]:"); ok {
			m.Tags, m.Content = tags, strings.TrimSpace(text)
		}
	}
	row := d.store(m).row()
	row["embedded"] = false
	return http.StatusOK, row
}

func (d *Daemon) recall(_ *http.Request, b body) (int, fields) {
	if strings.TrimSpace(b.Query) == "" {
		return refuse(http.StatusBadRequest, "query is required")
	}
	results := []any{}
	for _, m := range d.memories {
		if !m.Forgotten && (b.Type == nil || m.Type == *b.Type) && m.Importance >= b.ImportanceMin &&
			shareWord(b.Query, m.Content) && len(results) < max(b.Limit, 1) {
			row := m.row()
			row["score"], row["source"] = 1, "keyword"
			results = append(results, row)
		}
	}
	return http.StatusOK, fields{"results": results, "query": b.Query, "method": "keyword"}
}

func (d *Daemon) list(r *http.Request, _ body) (int, fields) {
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	offset, _ := strconv.Atoi(r.FormValue("offset"))
	rows := []any{}
	for _, m := range slices.Backward(d.memories) {
		if kind := r.FormValue("type"); !m.Forgotten && (kind == "" || kind == m.Type) {
			rows = append(rows, m.row())
		}
	}
	total := len(rows)
	rows = rows[min(offset, total):]
	rows = rows[:min(cmp.Or(limit, 100), len(rows))]
	return http.StatusOK, fields{"memories": rows, "stats": fields{"total": total}}
}

func (d *Daemon) get(r *http.Request, _ body) (int, fields) {
	m := d.find(r)
	if m == nil {
		return refuse(http.StatusNotFound, "Memory not found")
	}
	return http.StatusOK, m.row()
}

func (d *Daemon) modify(r *http.Request, b body) (int, fields) {
	return d.change(r, b, "updated", func(m *Memory) {
		set(&m.Content, b.Content)
		set(&m.Type, b.Type)
		set(&m.Tags, b.Tags)
		set(&m.Importance, b.Importance)
	})
}

func (d *Daemon) forget(r *http.Request, b body) (int, fields) {
	return d.change(r, b, "deleted", func(m *Memory) { m.Forgotten = true })
}

// change changes the memory of the path, for a reason.
func (d *Daemon) change(r *http.Request, b body, status string, do func(*Memory)) (int, fields) {
	m := d.find(r)
	switch {
	case m == nil:
		return refuse(http.StatusNotFound, "Memory not found")
	case b.Reason == "":
		return refuse(http.StatusBadRequest, "reason is required")
	}
	do(m)
	m.Reason = b.Reason
	return http.StatusOK, fields{"id": m.ID, "status": status}
}

func (d *Daemon) rate(_ *http.Request, b body) (int, fields) {
	if b.SessionKey == "" || len(b.Feedback) == 0 {
		return refuse(http.StatusBadRequest, "sessionKey and feedback are required")
	}
	d.feedback = append(d.feedback, Feedback{b.SessionKey, b.Feedback})
	said := fields{"ok": true, "recorded": len(b.Feedback)}
	if d.once { // only what was given under the key
		accepted := 0
		for id := range b.Feedback {
			if slices.Contains(d.session(b.SessionKey).recorded, id) {
				accepted++
			}
		}
		said["accepted"], said["rejected"] = accepted, len(b.Feedback)-accepted
	}
	return http.StatusOK, said
}

// find returns the memory of the path; nil where there is none.
func (d *Daemon) find(r *http.Request) *Memory {
	for _, m := range d.memories {
		if m.ID == r.PathValue("id") && !m.Forgotten {
			return m
		}
	}
	return nil
}

func (m *Memory) row() fields {
	return fields{
		"project": m.Project, "id": m.ID, "content": m.Content, "type": m.Type, "tags": m.Tags, "pinned": m.Pinned,
		"importance": m.Importance, "who": "daemon", "created_at": m.Created.Format(time.RFC3339),
	}
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// shareWord reports a word of four letters or more that both texts have.
func shareWord(a, b string) bool {
	words := func(s string) []string {
		return slices.DeleteFunc(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}), func(w string) bool { return len(w) < 4 })
	}
	have := words(b)
	return slices.ContainsFunc(words(a), func(w string) bool { return slices.Contains(have, w) })
}
