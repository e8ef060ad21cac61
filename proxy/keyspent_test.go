package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// firstKeySpent is a source that gives its context, but says of the key that it is used up.
type firstKeySpent struct {
	Memory
	err error // beside the context

	mu   sync.Mutex
	keys []string
}

func (m *firstKeySpent) Start(_ context.Context, s memory.Session) (memory.Context, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keys = append(m.keys, s.Key)
	if m.err != nil {
		return memory.Context{}, m.err
	}
	return memory.Context{Source: memory.FromEmbedded, Identity: "You are Alto.", KeySpent: true}, nil
}

func (m *firstKeySpent) Recall(context.Context, memory.Session, string, []string) (memory.Context, error) {
	return memory.Context{}, nil
}

func (m *firstKeySpent) Identity(memory.Session) memory.Context { return memory.Context{} }

// A session whose key is spent goes on under a new one; the old one stays in its sequence, so that it can be ended.
func TestKeySpent(t *testing.T) {
	for name, err := range map[string]error{"with a context from elsewhere": nil,
		"with none": fmt.Errorf("daemon: %w", memory.ErrKeySpent)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			mem := &firstKeySpent{err: err}
			c := w.start(mem, echo())
			c.open()
			c.call(1, "session/new", `{"cwd":"/","mcpServers":[]}`)
			c.prompt(2, "s1", "hello")
			if got := c.blocks(0)[0]; err == nil && !strings.Contains(got, "You are Alto.") {
				t.Errorf("no context: %q", got)
			}
			c.close()
			db, store := w.connect()
			defer db.Close()
			all, err := store.Sessions(t.Context(), 0)
			if err != nil || len(all) != 1 {
				t.Fatalf("%d sessions (%v)", len(all), err)
			}
			keys, err := store.Keys(t.Context(), all[0].ID)
			if err != nil || len(keys) != 2 || keys[0].Key != mem.keys[0] || keys[1].Key != all[0].Key {
				t.Errorf("started %v, kept %+v, current %s (%v)", mem.keys, keys, all[0].Key, err)
			}
		})
	}
}

// The summary of a compaction, given whole or in pieces, is handed over once, without what is private.
func TestSummarised(t *testing.T) {
	update := func(fields string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{` + fields + `}}}`
	}
	start, done := update(`"sessionUpdate":"compaction_update","compactionId":"a","status":"in_progress"`),
		update(`"sessionUpdate":"compaction_update","compactionId":"a","status":"completed"`)
	piece := func(text string) string {
		return update(`"sessionUpdate":"compaction_summary_chunk","compactionId":"a",` +
			`"content":{"type":"text","text":"` +
			text + `"}`)
	}
	for name, tt := range map[string]struct {
		said []string
		want []string
	}{
		"whole":          {[]string{update(`"sessionUpdate":"compaction_update","compactionId":"a","status":"completed","summary":[{"type":"text","text":"one"},{"type":"text","text":"two"}]`)}, []string{"one\ntwo"}},
		"in pieces":      {[]string{start, piece("one "), piece("two"), done}, []string{"one two"}},
		"without a word": {[]string{start, done}, nil},
		"private": {[]string{piece("it said <private>canary</private>, no more"), done},
			[]string{"it said , no more"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			e := echo()
			var mu sync.Mutex
			var got []string
			c := w.start(&firstKeySpent{}, func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
				if method(f) == "session/prompt" {
					for _, line := range tt.said {
						say("%s", line)
					}
				}
				e(f, line, say)
			}, seeing(func(e correlation.Event) {
				if e, ok := e.(correlation.Summarised); ok {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, e.Text)
				}
			}))
			c.open()
			c.call(1, "session/new", `{"cwd":"/","mcpServers":[]}`)
			c.prompt(2, "s1", "hello")
			c.close()
			if strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
