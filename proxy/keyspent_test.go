package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A session whose key is spent goes on under a new one; the old one stays in its sequence, so that it can be ended.
func TestKeySpent(t *testing.T) {
	for name, err := range map[string]error{"with a context from elsewhere": nil,
		"with none": fmt.Errorf("daemon: %w", memory.ErrKeySpent)} {
		mem := newSource()
		mem.context.KeySpent, mem.err = err == nil, err
		q := armed(t, mem)
		got := q.sends(t, promptTo("s2", "["+textBlock("hello")+"]"))
		if err == nil && !strings.Contains(got, "You are Alto.") {
			t.Errorf("%s: no context: %s", name, got)
		}
		var spent []string
		for _, e := range q.events.take() {
			if e, ok := e.(correlation.Rekeyed); ok && e.Spent != "" && e.Key != e.Spent {
				spent = append(spent, e.Spent)
			}
		}
		mem.mu.Lock()
		if len(spent) == 0 || spent[0] != mem.starts[0].Key {
			t.Errorf("%s: started with %v, spent %q", name, mem.starts, spent)
		}
		mem.mu.Unlock()
	}
}
