package proxy

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A hangingBackend is a source and a ledger that hang where they are told to.
type hangingBackend struct {
	*source
	Ledger
	start, recall, claim func(context.Context) // nil: it does not hang there
}

func (h *hangingBackend) Start(ctx context.Context, who memory.Session) (memory.Context, error) {
	if h.start == nil {
		return h.source.Start(ctx, who)
	}
	h.start(ctx)
	return memory.Context{}, memory.ErrUnavailable
}

func (h *hangingBackend) Recall(ctx context.Context, who memory.Session, prompt string,
	seen []string) (memory.Context, error) {
	if h.recall == nil {
		return h.source.Recall(ctx, who, prompt, seen)
	}
	h.recall(ctx)
	return memory.Context{}, memory.ErrUnavailable
}

func (h *hangingBackend) Claim(ctx context.Context, id int64, from []correlation.State, process string,
	in correlation.Injection) (int64, error) {
	if h.claim == nil {
		return h.Ledger.Claim(ctx, id, from, process, in)
	}
	h.claim(ctx)
	return 0, ctx.Err()
}

// Whatever of ours hangs, a prompt leaves at its deadline, and no later than 50 ms behind it. The clock is the test's:
// it stands still while anything works, so that a busy machine changes nothing.
func TestDeadlines(t *testing.T) {
	const slack = 50 * time.Millisecond
	for _, tt := range []struct {
		name        string
		where       func(h *hangingBackend, hang func(context.Context))
		open        bool // it hangs while the database is opened
		locked      bool // somebody has the database locked once it is open
		early       bool // and it opens when the session has begun
		first, then time.Duration
	}{
		{name: "nothing", where: func(*hangingBackend, func(context.Context)) {}},
		{name: "the start", where: func(h *hangingBackend, hang func(context.Context)) { h.start = hang }, first: defaultHold},
		{name: "the recall", where: func(h *hangingBackend, hang func(context.Context)) { h.recall = hang },
			first: defaultHold, then: 300 * time.Millisecond},
		{name: "both", where: func(h *hangingBackend, hang func(context.Context)) { h.start, h.recall = hang, hang },
			first: defaultHold},
		{name: "the claim", where: func(h *hangingBackend, hang func(context.Context)) { h.claim = hang },
			first: defaultHold, then: defaultHold},
		{name: "the database", where: func(*hangingBackend, func(context.Context)) {}, open: true,
			first: defaultHold, then: defaultHold},
		{name: "the database, once it is open", where: func(*hangingBackend, func(context.Context)) {}, locked: true,
			first: defaultHold, then: defaultHold},
		{name: "the database, in the session", where: func(*hangingBackend, func(context.Context)) {}, locked: true,
			early: true, first: defaultHold, then: defaultHold},
	} {
		for _, heeds := range []bool{true, false} {
			t.Run(tt.name+map[bool]string{true: "", false: ", for ever"}[heeds], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					over, begun := make(chan struct{}), make(chan struct{})
					hang := func(ctx context.Context) {
						if heeds {
							select {
							case <-over:
							case <-ctx.Done():
							}
						} else {
							<-over
						}
					}
					w := newBubble(t)
					backend, unlock := &hangingBackend{source: newSource()}, func() error { return nil }
					tt.where(backend, hang)
					var arrived []time.Time
					plain := echo()
					c := w.start(backend, func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
						if method(f) == methodPrompt {
							arrived = append(arrived, time.Now())
						}
						plain(f, line, say)
					}, func(o *Options) {
						open := o.Open
						o.Open = func(ctx context.Context) (*Backend, error) {
							if tt.early {
								<-begun
							}
							if tt.open {
								hang(ctx)
								return nil, context.Canceled
							}
							b, err := open(ctx)
							if err == nil {
								backend.Ledger, b.Ledger = b.Ledger, backend
							}
							return b, err
						}
					})
					c.open()
					if tt.early {
						c.call(1, methodNew, cwd)
					}
					if tt.locked {
						other, _ := w.connect()
						defer other.Close()
						tx, err := other.BeginTx(t.Context(), nil)
						if err != nil {
							t.Fatal(err)
						}
						unlock = tx.Rollback
					}
					close(begun)
					if tt.locked {
						<-c.relay.database.opened
					}
					if !tt.early {
						c.call(1, methodNew, cwd)
					}
					for i, limit := range []time.Duration{tt.first, tt.then} {
						synctest.Wait()
						began := time.Now()
						c.prompt(2+i, "s1", "what is the heron doing in the water")
						if took := arrived[i].Sub(began); took > limit+slack {
							t.Errorf("prompt %d left after %v, its deadline is %v", i+1, took, limit)
						} else {
							t.Logf("prompt %d left after %v, its deadline is %v", i+1, took, limit)
						}
					}
					close(over)
					if err := unlock(); err != nil {
						t.Error(err)
					}
					c.close()
				})
			})
		}
	}
}
