package daemontest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Remember stores a memory, dated now, and gives its id.
func (d *Daemon) Remember(content, kind string) string {
	return d.RememberAt(content, kind, d.opts.Now())
}

// RememberAt is Remember with a date.
func (d *Daemon) RememberAt(content, kind string, at time.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := &Memory{ID: d.id("mem"), Content: content, Type: kind, Importance: 0.9, Created: at.UTC()}
	d.memories = append(d.memories, m)
	return m.ID
}

// RememberIn is Remember for a project.
func (d *Daemon) RememberIn(project, content, kind string) string {
	id := d.Remember(content, kind)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memories[len(d.memories)-1].Project = project
	return id
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

func (d *Daemon) remember(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Content, Type, Tags string
		Importance          *float64
		Pinned              bool
	}
	if json.NewDecoder(r.Body).Decode(&b) != nil {
		reply(w, http.StatusBadRequest, map[string]any{"error": "Invalid JSON body"})
		return
	}
	if strings.TrimSpace(b.Content) == "" {
		reply(w, http.StatusBadRequest, map[string]any{"error": "content is required"})
		return
	}
	if rest, ok := strings.CutPrefix(b.Content, "critical:"); ok {
		b.Pinned, b.Content = true, strings.TrimSpace(rest)
	}
	if rest, ok := strings.CutPrefix(b.Content, "["); ok {
		if tags, text, ok := strings.Cut(rest, "]:"); ok {
			b.Tags, b.Content = tags, strings.TrimSpace(text)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	m := &Memory{ID: d.id("mem"), Content: b.Content, Type: b.Type, Tags: b.Tags, Pinned: b.Pinned, Importance: 0.8,
		Created: d.opts.Now().UTC()}
	if m.Type == "" {
		m.Type = "fact"
	}
	if b.Importance != nil {
		m.Importance = *b.Importance
	}
	d.memories = append(d.memories, m)
	row := m.row()
	row["embedded"] = false
	reply(w, http.StatusOK, row)
}

func (d *Daemon) recall(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Query, Type   string
		Limit         int
		ImportanceMin float64 `json:"importance_min"`
	}
	if json.NewDecoder(r.Body).Decode(&b) != nil || strings.TrimSpace(b.Query) == "" {
		reply(w, http.StatusBadRequest, map[string]any{"error": "query is required"})
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	results := []any{}
	for _, m := range d.memories {
		if m.Forgotten || b.Type != "" && m.Type != b.Type || m.Importance < b.ImportanceMin ||
			!shareWord(b.Query, m.Content) {
			continue
		}
		if len(results) < max(b.Limit, 1) {
			row := m.row()
			row["score"], row["source"] = 1, "keyword"
			results = append(results, row)
		}
	}
	reply(w, http.StatusOK, map[string]any{"results": results, "query": b.Query, "method": "keyword"})
}

func (d *Daemon) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, _ := strconv.Atoi(q.Get("limit"))
	limit = cmp.Or(limit, 100)
	offset, _ := strconv.Atoi(q.Get("offset"))
	d.mu.Lock()
	defer d.mu.Unlock()
	rows := []any{}
	for _, m := range slices.Backward(d.memories) {
		if !m.Forgotten && (q.Get("type") == "" || q.Get("type") == m.Type) {
			rows = append(rows, m.row())
		}
	}
	total := len(rows)
	rows = rows[min(max(offset, 0), total):]
	rows = rows[:min(max(limit, 0), len(rows))]
	reply(w, http.StatusOK, map[string]any{"memories": rows, "stats": map[string]any{"total": total}})
}

func (d *Daemon) get(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m := d.find(w, r); m != nil {
		reply(w, http.StatusOK, m.row())
	}
}

func (d *Daemon) modify(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Content, Type, Tags *string
		Importance          *float64
		Reason              string
	}
	bad := json.NewDecoder(r.Body).Decode(&b) != nil
	d.mu.Lock()
	defer d.mu.Unlock()
	switch m := d.find(w, r); {
	case m == nil:
	case bad || b.Reason == "":
		reply(w, http.StatusBadRequest, map[string]any{"error": "reason is required"})
	default:
		set(&m.Content, b.Content)
		set(&m.Type, b.Type)
		set(&m.Tags, b.Tags)
		set(&m.Importance, b.Importance)
		m.Reason = b.Reason
		reply(w, http.StatusOK, map[string]any{"id": m.ID, "status": "updated"})
	}
}

func (d *Daemon) forget(w http.ResponseWriter, r *http.Request) {
	var b struct{ Reason string }
	bad := json.NewDecoder(r.Body).Decode(&b) != nil
	d.mu.Lock()
	defer d.mu.Unlock()
	switch m := d.find(w, r); {
	case m == nil:
	case bad || b.Reason == "":
		reply(w, http.StatusBadRequest, map[string]any{"error": "reason is required"})
	default:
		m.Forgotten, m.Reason = true, b.Reason
		reply(w, http.StatusOK, map[string]any{"id": m.ID, "status": "deleted"})
	}
}

func (d *Daemon) rate(w http.ResponseWriter, r *http.Request) {
	var b struct {
		SessionKey string
		Feedback   map[string]float64
	}
	if json.NewDecoder(r.Body).Decode(&b) != nil || b.SessionKey == "" || len(b.Feedback) == 0 {
		reply(w, http.StatusBadRequest, map[string]any{"error": "sessionKey and feedback are required"})
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.note(func(r *record) { r.feedback = append(r.feedback, Feedback{b.SessionKey, b.Feedback}) })
	m := map[string]any{"ok": true, "recorded": len(b.Feedback)}
	if d.opts.Generation != Older { // only what was given under the key
		accepted := 0
		for id := range b.Feedback {
			if slices.Contains(d.session(b.SessionKey).recorded, id) {
				accepted++
			}
		}
		m["accepted"], m["rejected"] = accepted, len(b.Feedback)-accepted
	}
	reply(w, http.StatusOK, m)
}

// find returns the memory of the path, or answers 404. The caller holds d.mu.
func (d *Daemon) find(w http.ResponseWriter, r *http.Request) *Memory {
	for _, m := range d.memories {
		if m.ID == r.PathValue("id") && !m.Forgotten {
			return m
		}
	}
	reply(w, http.StatusNotFound, map[string]any{"error": "Memory not found"})
	return nil
}

func (m *Memory) row() map[string]any {
	return map[string]any{
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
