package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// An askedLedger does what a test wants before it answers.
type askedLedger struct {
	Ledger
	find  func()
	claim func(ctx context.Context, claim func() error) error
}

func (l askedLedger) Find(ctx context.Context, harness, id string) (correlation.Session, error) {
	if l.find != nil {
		l.find()
	}
	return l.Ledger.Find(ctx, harness, id)
}

func (l askedLedger) Claim(ctx context.Context, id int64, from []correlation.State, process string,
	in correlation.Injection) (n int64, err error) {
	if l.claim == nil {
		return l.Ledger.Claim(ctx, id, from, process, in)
	}
	err = l.claim(ctx, func() error {
		n, err = l.Ledger.Claim(context.WithoutCancel(ctx), id, from, process, in)
		return err
	})
	return n, err
}

func asking(wrap func(Ledger) Ledger) func(*Options) {
	return func(o *Options) {
		open := o.Open
		o.Open = func(ctx context.Context) (*Backend, error) {
			b, err := open(ctx)
			if err == nil {
				b.Ledger = wrap(b.Ledger)
			}
			return b, err
		}
	}
}

// What a harness shows of the user's turns waits for what the ledger has to say: our block is in none of it, however
// late that comes.
func TestReplayBeforeTheLedgerAnswers(t *testing.T) {
	w := newWorld(t)
	h := newModel()
	c := w.start(newSource(), h.process().agent, longLimits)
	c.open()
	c.call(1, "session/new", cwd)
	c.prompt(2, "model-session-0001", "hello")
	c.close()

	answer := make(chan struct{})
	long := strings.Repeat("x", 1<<20)
	plain := h.process().agent
	c = w.start(newSource(), func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		plain(f, line, func(format string, args ...any) {
			if said := fmt.Sprintf(format, args...); strings.Contains(said, "signet-memory") {
				say(`%s,"_meta":{"x":%q}}`, strings.TrimSuffix(said, "}"), long)
				close(answer) // the frame was judged by now: no pipe holds it
				return
			}
			say(format, args...)
		})
	}, longLimits, asking(func(l Ledger) Ledger {
		return askedLedger{Ledger: l, find: func() { <-answer }}
	}))
	c.open()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"model-session-0001",` +
		`"cwd":"/tmp/x","mcpServers":[]}}`)
	shown := strings.Join(c.until(`"id":1,`), "\n")
	if strings.Contains(shown, "signet-memory") || !strings.Contains(shown, `"text":"hello"`) {
		t.Errorf("the client was shown\n%s", strings.ReplaceAll(shown, long, "…"))
	}
}

// A claim that the ledger takes after the prompt has left without its context is taken back. The identity went in its
// place, the next prompt gets the rest. The clock is the test's, as in TestDeadlines.
func TestClaimThatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		left, taken := make(chan struct{}), make(chan struct{})
		var once sync.Once
		c := w.start(newSource(), echo(), asking(func(l Ledger) Ledger {
			return askedLedger{Ledger: l, claim: func(ctx context.Context, claim func() error) error {
				late := false
				once.Do(func() { late = true })
				if late {
					<-ctx.Done() // the prompt does not wait any longer
					<-left
					defer close(taken)
				}
				return claim()
			}}
		}))
		c.open()
		c.call(1, "session/new", cwd)
		w.awaitFetch(c, "s1")
		c.prompt(2, "s1", "first")
		close(left)
		<-taken
		w.await("s1", correlation.IdentityGiven)
		c.prompt(3, "s1", "second")
		if first, second := c.blocks(0), c.blocks(1); len(first) != 2 || len(second) != 2 {
			t.Errorf("the first prompt had %d blocks, the second %d", len(first), len(second))
		}
		c.synced()
		blocks, err := w.store.Injections(t.Context(), w.session("echo", "s1").ID)
		var ended []string
		for _, in := range blocks {
			if in.Outcome != correlation.WasRefused { // the claim, if it came before the identity's row
				ended = append(ended, in.Kind+" "+string(in.Outcome))
			}
		}
		want := []string{"identity kept", "memories kept"}
		slices.Sort(ended)
		if err != nil || !slices.Equal(ended, want) {
			t.Errorf("the ledger has %q, %v", ended, err)
		}
	})
}

// A tool is written down while it runs, also where no word is said: whoever kills the agent then wants to know of it.
func TestToolIsWrittenDownBeforeTheTurnEnds(t *testing.T) {
	w := newWorld(t)
	c, h := w.scripted()
	c.openFor(h)
	c.write(promptOf(2, "go"))
	h.await(`"go"`)
	within := time.Now().Add(patience)
	await := func(what string, there func(correlation.Turn) bool) {
		for {
			turns, err := w.store.Book().Turns(t.Context(), w.session("scripted", "s1").ID)
			if err == nil && len(turns) == 1 && there(turns[0]) {
				return
			}
			if time.Now().After(within) {
				t.Fatalf("%s is not written down: %+v, %v", what, turns, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	await("the prompt", func(turn correlation.Turn) bool { return turn.User == "go" })
	h.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{` +
		`"sessionUpdate":"tool_call","toolCallId":"1","title":"Read main.go","kind":"read"}}}` + "\n")
	await("the tool", func(turn correlation.Turn) bool { return len(turn.Tools) == 1 && turn.Ended.IsZero() })
}

// A prompt that still waits for its context when the harness has ended reaches nobody. It is kept all the same, whole.
func TestHarnessEndsWhileHeld(t *testing.T) {
	w := newWorld(t)
	mem := newSource()
	mem.block = make(chan struct{})
	c, h := w.scripted(func(o *Options) {
		open := o.Open
		o.Open = func(ctx context.Context) (*Backend, error) {
			b, err := open(ctx)
			if err == nil {
				b.Memory = mem
			}
			return b, err
		}
	})
	c.openFor(h)
	c.write(promptOf(2, "is anybody there?"))
	for held := false; !held; time.Sleep(time.Millisecond) {
		c.know(func(known *session.Connection) { held = known.Busy() })
	}
	h.die()
	c.close()
	turns, err := w.store.Book().Turns(t.Context(), w.session("scripted", "s1").ID)
	if err != nil || len(turns) != 1 || turns[0].User != "is anybody there?" || turns[0].Ended.IsZero() {
		t.Errorf("%+v, %v", turns, err)
	}
}
