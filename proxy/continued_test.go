package proxy

import (
	"context"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// goesOn makes a relay tell its sessions what was said in those that they go on from, to an agent of a name.
func goesOn(w *world, name string) func(*Options) {
	return func(o *Options) {
		open := o.Open
		o.Open = func(ctx context.Context) (*Backend, error) {
			b, err := open(ctx)
			if err != nil {
				return nil, err
			}
			b.Continued = func(ctx context.Context, row int64, _ string) (string, error) {
				before, _, err := w.store.Continued(ctx, row, []string{name})
				if err != nil || before == 0 {
					return "", err
				}
				turns, err := w.store.Book().LastTurns(ctx, before, 50)
				var rounds []memory.Round
				for _, t := range turns {
					rounds = append(rounds, memory.Round{User: t.User, Assistant: t.Assistant})
				}
				return memory.BriefOf(rounds).Text(), err
			}
			return b, nil
		}
	}
}

// told returns the prompts in which the agent was told what was said earlier.
func (c *connection) told() []string { return c.got("## Earlier in this conversation") }

// However a session is lost (docs/facts/acpx.md, "A load that fails"), the one that takes its place is told once what
// was said, or once more where the prompt was refused; and nothing where nothing was, or a login is needed.
func TestContinuedAfterFailedLoad(t *testing.T) {
	for _, tt := range []struct {
		name   string
		method string
		code   int
		said   []string
		first  outcome // of the prompts in its place
		told   int
	}{
		{"no load at all", "", 0, []string{"The port is 7443."}, succeed, 1},
		{"after two prompts", "session/load", -32002, []string{"The port is 7443.", "And the host is heron."}, succeed, 1},
		{"resumed", "session/resume", -32603, []string{"The port is 7443."}, succeed, 1},
		{"a refused prompt", "session/load", -32002, []string{"The port is 7443."}, refuse, 2},
		{"no text", "session/load", -32002, nil, succeed, 0},
		{"a login is needed", "session/load", -32000, []string{"The port is 7443."}, succeed, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newScenario(t)
			p.change = goesOn(p.w, "model")
			p.start(asItIs)
			p.open("session/new")
			record := p.id
			for _, words := range tt.said {
				p.prompt(words, succeed)
			}
			if n := len(p.c.told()); n != 0 {
				t.Errorf("the first session was told %d times", n)
			}
			p.c.close()
			p.change = func(o *Options) {
				goesOn(p.w, "model")(o)
				if tt.code != -32000 {
					o.Record = func(string) string { return record }
				}
			}
			p.start(func(r *modelProcess) agent { return lost(r, tt.code) })
			if tt.method != "" {
				p.ask(tt.method, loadParams(p.id))
			}
			p.open("session/new")
			p.prompt("a plain prompt", tt.first)
			p.prompt("a second prompt", succeed)
			p.prompt("a third prompt", succeed)
			told := p.c.told()
			if len(told) != tt.told {
				t.Fatalf("it was told %d times, want %d", len(told), tt.told)
			}
			for _, words := range tt.said {
				if tt.told > 0 && !strings.Contains(told[0], "> User: "+words) {
					t.Errorf("%q is not in %s", words, told[0])
				}
			}
			p.c.close()
		})
	}
}
