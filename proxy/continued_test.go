package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
				before, err := w.store.Continued(ctx, row, []string{name})
				if err != nil || before.Session == 0 {
					return "", err
				}
				turns, err := w.store.LastTurns(ctx, before.Session, 50)
				var rounds []memory.Round
				for _, t := range turns {
					rounds = append(rounds, memory.Round{User: t.User, Assistant: t.Assistant})
				}
				return memory.Continued(rounds), err
			}
			return b, nil
		}
	}
}

// told returns the prompts in which the agent was told what was said earlier.
func (c *connection) told() []string { return c.got("## Earlier in this conversation") }

// refusesLoad is an agent that takes no session up again. It answers with code, or without one it does not know the
// method at all.
func refusesLoad(r *modelProcess, code int) agent {
	if code != 0 {
		return lost(r, code)
	}
	return func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if method(f) == "initialize" {
			r.agent(f, line, func(format string, args ...any) {
				say("%s", strings.ReplaceAll(fmt.Sprintf(format, args...), `"loadSession":true`, `"loadSession":false`))
			})
			return
		}
		r.agent(f, line, say)
	}
}

// However a session is lost (docs/facts/acpx.md, "A load that fails"), the one that takes its place is told once what
// was said, and nothing where nothing was.
func TestContinuedAfterFailedLoad(t *testing.T) {
	const load = `{"sessionId":"model-session-0001","cwd":"/tmp/x","mcpServers":[]}`
	type test struct {
		name   string
		method string
		code   int
		said   []string
		told   bool
	}
	tests := []test{
		{"no load at all", "", 0, []string{"The port is 7443."}, true},
		{"after two prompts", "session/load", -32002, []string{"The port is 7443.", "And the host is heron."}, true},
		{"nothing was said", "session/load", -32002, nil, false},
		{"only a command was given", "session/load", -32002, []string{"/help"}, true},
		{"a login is needed", "session/load", -32000, []string{"The port is 7443."}, false},
	}
	for _, method := range []string{"session/load", "session/resume"} {
		for _, code := range []int{-32001, -32002, -32601, -32602, -32603} {
			tests = append(tests, test{fmt.Sprint(method, code), method, code, []string{"The port is 7443."}, true})
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource()}
			record := "model-session-0001"
			p.change = func(o *Options) { goesOn(p.w, "model")(o) }
			p.start()
			steps["new"](p)
			for _, words := range tt.said {
				p.prompt(words, succeed)
			}
			if n := len(p.c.told()); n != 0 {
				t.Errorf("the first session was told %d times", n)
			}
			p.c.close()

			for range 2 { // it is lost once more, and has the first one's turns to tell too
				p.process = p.model.process()
				recorded := func(o *Options) {
					if tt.code != -32000 {
						o.Record = func(string) string { return record }
					}
				}
				agent := refusesLoad(p.process, tt.code)
				p.c = p.w.start(p.mem, agent, longLimits, goesOn(p.w, "model"), recorded)
				p.ask("initialize", `{"protocolVersion":1,"clientInfo":{"name":"acpx","version":"0.19.1"}}`)
				if tt.method != "" {
					p.ask(tt.method, load)
				}
				p.id, _ = stringAt([]byte(p.ask("session/new", cwd)), "result", "sessionId")
				for i, words := range []string{"a plain prompt", "a second prompt"} {
					p.prompt(words, succeed)
					told := p.c.told()
					if want := map[bool]int{true: 1}[tt.told]; len(told) != want {
						t.Fatalf("after prompt %d it was told %d times, want %d", i, len(told), want)
					}
					for _, words := range tt.said {
						if tt.told && !strings.Contains(told[0], "> User: "+words) {
							t.Errorf("%q is not in %s", words, told[0])
						}
					}
				}
				p.c.close()
				if !tt.told {
					break
				}
			}
		})
	}
}

// A prompt that was refused is told it again with the next one, and not a third time.
func TestContinuedAfterRefusal(t *testing.T) {
	p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource()}
	p.change = goesOn(p.w, "model")
	p.start()
	steps["new"](p)
	p.prompt("The port is 7443.", succeed)
	p.c.close()
	p.process = p.model.process()
	p.c = p.w.start(p.mem, lost(p.process, -32002), longLimits, goesOn(p.w, "model"))
	p.ask("initialize", `{"protocolVersion":1,"clientInfo":{"name":"acpx","version":"0.19.1"}}`)
	p.ask("session/load", `{"sessionId":"model-session-0001","cwd":"/tmp/x","mcpServers":[]}`)
	p.id, _ = stringAt([]byte(p.ask("session/new", cwd)), "result", "sessionId")
	p.prompt("a plain prompt", refuse)
	p.prompt("a plain prompt", succeed)
	p.prompt("a plain prompt", succeed)
	if told := p.c.told(); len(told) != 2 {
		t.Errorf("it was told %d times", len(told))
	}
}

// Where there is nothing to go on from, a prompt is what it would be without all this, byte for byte.
func TestContinuedLeavesOthersAlone(t *testing.T) {
	prompts := func(change func(w *world) func(*Options)) []byte {
		w := newWorld(t)
		c := w.start(newSource(), echo(), change(w))
		c.open()
		c.call(1, "session/new", cwd)
		c.prompt(2, "s1", "hello")
		c.prompt(3, "s1", "hello again")
		c.close()
		return []byte(strings.Join(c.got("session/prompt"), ""))
	}
	with := prompts(func(w *world) func(*Options) { return goesOn(w, "echo") })
	without := prompts(func(*world) func(*Options) { return func(*Options) {} })
	if !bytes.Equal(with, without) || len(with) == 0 {
		t.Errorf("%s\nis not\n%s", with, without)
	}
}
