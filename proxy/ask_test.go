package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// questions is what agents ask, and what was answered.
type questions struct {
	mu       sync.Mutex
	open     []Question
	answered []string
}

func (q *questions) ask(open ...Question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = open
}

func (q *questions) of(_ context.Context, keys []string) (found []Question, _ error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(keys) == 0 {
		return nil, nil
	}
	for _, one := range q.open {
		one.Key = keys[0]
		found = append(found, one)
	}
	return found, nil
}

func (q *questions) answer(_ context.Context, id string, allowed bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = slices.DeleteFunc(slices.Clone(q.open), func(one Question) bool { return one.ID == id })
	q.answered = append(q.answered, fmt.Sprint(id, " ", allowed))
	return nil
}

// The client is asked while the turn runs, as the session that it is about; what it answers reaches nobody else, and
// what nobody waits for any more is withdrawn.
func TestAsk(t *testing.T) {
	w := newWorld(t)
	e, q := echo(), &questions{}
	var prompt json.RawMessage
	c := w.start(newSource(), func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		switch method(f) {
		case "session/prompt":
			prompt = f["id"]
			say(`{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s1"}}`)
		case "_finish":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, prompt)
		default:
			e(f, line, say)
		}
	}, func(o *Options) {
		o.Ask = true
		open := o.Open
		o.Open = func(ctx context.Context) (*Backend, error) {
			b, err := open(ctx)
			if err == nil {
				b.Questions, b.Answered = q.of, q.answer
			}
			return b, err
		}
	})
	c.open()
	c.call(1, "session/new", cwd)
	q.ask(Question{ID: "q1", Title: `heron: rm "x"`, Kind: "execute", Paths: []string{"/x"}}, Question{ID: "q2", Kind: "fetch"})
	c.sendPrompt(2, "s1", "hello")
	var asked []string
	for range 3 { // the harness's own, and ours, in whatever order
		asked = append(asked, c.until(`"session/request_permission"`)...)
	}
	all := strings.Join(asked, "\n")
	for _, want := range []string{`"id":5,"method":"session/request_permission","params":{"sessionId":"s1"}}`,
		`"id":"signet-acp-proxy/q1"`, `"sessionId":"s1"`, `"title":"heron: rm \"x\""`, `"kind":"execute"`,
		`"locations":[{"path":"/x"}]`, `"kind":"allow_once"`, `"id":"signet-acp-proxy/q2"`} {
		if !strings.Contains(all, want) {
			t.Errorf("the client is not asked %s:\n%s", want, all)
		}
	}
	yes := `"result":{"outcome":{"outcome":"selected","optionId":"allow"}}`
	c.send(`{"jsonrpc":"2.0","id":5,%s}`, yes)
	c.send(`{"jsonrpc":"2.0",%s,"id":"signet-acp-proxy\/q1"}`, yes)
	c.send(`{"jsonrpc":"2.0","id":"signet-acp-proxy/of another",%s}`, yes)
	c.send(`{"jsonrpc":"2.0","method":"_finish"}`)
	if withdrawn := c.until("$/cancel_request"); !strings.Contains(withdrawn[len(withdrawn)-1],
		`"requestId":"signet-acp-proxy/q2"`) {
		t.Errorf("withdrawn: %s", withdrawn)
	}
	c.send(`{"jsonrpc":"2.0","id":"signet-acp-proxy/q2",%s}`, yes) // too late
	c.call(3, "session/close", `{"sessionId":"s1"}`)
	c.close()
	if got := c.got(`"signet-acp-proxy/`); len(got) != 1 || !strings.Contains(got[0], "of another") {
		t.Errorf("the harness was sent %q", got)
	}
	if got := c.got(`"id":5,"result"`); len(got) != 1 {
		t.Errorf("its own answer: %q", got)
	}
	slices.Sort(q.answered)
	if got := strings.Join(q.answered, ", "); got != "q1 true, q2 false" {
		t.Errorf("answered: %s", got)
	}
}
