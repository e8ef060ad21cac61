package proxy

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// A weighed file of events knows how much text it is given before anybody waits for it.
type weighed struct {
	Events
	given, most atomic.Int64
}

func (w *weighed) Append(events ...correlation.Event) {
	for _, e := range events {
		if said, ok := e.(correlation.UserSaid); ok {
			w.most.Store(max(w.most.Load(), w.given.Add(int64(len(said.Text)))))
		}
	}
	w.Events.Append(events...)
}

func (w *weighed) Flush(ctx context.Context) error {
	w.given.Store(0)
	return w.Events.Flush(context.WithoutCancel(ctx)) // a busy machine is no disk that hangs
}

// Of prompts that come faster than they can be written down nothing is lost: the file holds half a megabyte that the
// disk has not taken yet, and is waited for before it has that.
func TestQuickPrompts(t *testing.T) {
	const prompts = 100
	words := strings.TrimSpace(strings.Repeat("and so on, ", 2400))
	file := &weighed{}
	w := newWorld(t)
	c := w.start(newSource(), echo(), func(o *Options) {
		open := o.Events
		o.Events = func(folded func(bool, []int)) (events Events, err error) {
			file.Events, err = open(folded)
			return file, err
		}
	})
	c.open()
	c.call(1, "session/new", cwd)
	go func() {
		for n := range prompts {
			c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s1","prompt":[%s]}}`,
				100+n, textBlock(fmt.Sprint(n, " ", words)))
		}
	}()
	c.until(fmt.Sprintf(`"id":%d,`, 100+prompts-1))
	c.close()
	turns, err := w.store.Turns(t.Context(), w.session("echo", "s1").ID)
	if err != nil || len(turns) != prompts {
		t.Fatalf("%d turns (%v)", len(turns), err)
	}
	for n, turn := range turns {
		if want := fmt.Sprint(n, " ", words); turn.User != want {
			t.Errorf("of prompt %d %d bytes are stored, of %d", n, len(turn.User), len(want))
		}
	}
	if most := file.most.Load(); most >= 512<<10 {
		t.Errorf("the file was given %d bytes at a time", most)
	}
}
