package session

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// What a response says of the block that its prompt carried.
func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer PromptAnswer
		keeps  Cancelled
		turn   Turn // as it was by then
		want   correlation.StepName
	}{
		{"end_turn", PromptAnswer{Stop: StopEnd}, "", Turn{}, correlation.Answered},
		{"refusal", PromptAnswer{Stop: "refusal"}, "", Turn{}, correlation.Answered},
		{"unheard of", PromptAnswer{Stop: "tired"}, "", Turn{}, correlation.Answered},
		{"nothing", PromptAnswer{}, "", Turn{}, correlation.Answered},
		{"cancelled", PromptAnswer{Stop: stopCancelled}, "", Turn{begun: true}, correlation.Cancelled},
		{"cancelled, kept", PromptAnswer{Stop: stopCancelled}, CancelledKept, Turn{}, correlation.Answered},
		{"cancelled early", PromptAnswer{Stop: stopCancelled}, CancelledBegun, Turn{}, correlation.Cancelled},
		{"cancelled while it thinks", PromptAnswer{Stop: stopCancelled}, CancelledBegun, Turn{begun: true}, correlation.Answered},
		{"cancelled in a tool", PromptAnswer{Stop: stopCancelled}, CancelledBegun, Turn{toolCalled: true}, correlation.Answered},
		{"cancelled, forgotten", PromptAnswer{Stop: stopCancelled}, CancelledForgot, Turn{begun: true}, correlation.Refused},
		{"a cancelled request", PromptAnswer{Failed: true, Code: -32800}, CancelledForgot, Turn{}, correlation.Refused},
		{"an error after a cancel", PromptAnswer{Failed: true, Code: -32603}, CancelledForgot, Turn{cancelled: true}, correlation.Refused},
		{"a refusal after a cancel", PromptAnswer{Failed: true, Code: -32602}, CancelledKept, Turn{cancelled: true}, correlation.Refused},
		{"invalid request", PromptAnswer{Failed: true, Code: -32600}, "", Turn{}, correlation.Refused},
		{"no method", PromptAnswer{Failed: true, Code: -32601}, "", Turn{}, correlation.Refused},
		{"invalid params", PromptAnswer{Failed: true, Code: -32602}, "", Turn{}, correlation.Refused},
		{"not found", PromptAnswer{Failed: true, Code: -32002}, "", Turn{}, correlation.Refused},
		{"auth", PromptAnswer{Failed: true, Code: -32000}, "", Turn{}, correlation.Refused},
		{"internal", PromptAnswer{Failed: true, Code: -32603}, "", Turn{}, correlation.Failed},
		{"internal, once accepted", PromptAnswer{Failed: true, Code: -32603}, "", Turn{step: turnAccepted}, correlation.Answered},
		{"invalid, once accepted", PromptAnswer{Failed: true, Code: -32602}, "", Turn{step: turnAccepted}, correlation.Answered},
		{"http code", PromptAnswer{Failed: true, Code: 401}, "", Turn{}, correlation.Failed},
		{"no object", PromptAnswer{Failed: true}, "", Turn{}, correlation.Failed},
	} {
		c := newConnection(Options{Traits: Traits{Cancelled: tt.keeps}}, nil)
		turn := tt.turn
		if got := c.becameOf(&turn, tt.answer); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A source that is not there: the identity files go in, it is asked again with each prompt under the same key, and what
// it tells when it is back goes with that prompt; a key whose start is in doubt is given up.
func TestBrokenSource(t *testing.T) {
	for _, tt := range []struct {
		name    string
		err     error
		files   bool
		carries []string // by three prompts, the last when it is back
		keys    int
	}{
		{"away", memory.ErrUnavailable, true, []string{"files", "", "memories"}, 1},
		{"in doubt", fmt.Errorf("%w: %w", memory.ErrKeySpent, memory.ErrUnavailable), true, []string{"files", "", "memories"}, 3},
		{"away, no files", memory.ErrUnavailable, false, []string{"", "", whole}, 1},
		{"broken", errors.New("broken"), true, []string{"files", "", ""}, 1},
		{"another speaks for it", memory.ErrOwned, true, []string{"", "", ""}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onStage(t, func(p *stage) {
				if p.err = tt.err; !tt.files {
					p.identity = memory.Context{}
				}
				p.start()
				steps["new"](p)
				for i, want := range tt.carries {
					if i == 2 {
						p.err = nil
					}
					if p.prompt(plain, succeeds); p.carried != want {
						p.Errorf("prompt %d carries %q", i, p.carried)
					}
				}
				if len(p.keys) != tt.keys {
					p.Errorf("%d keys: %v", len(p.keys), p.keys)
				}
			})
		})
	}
}

// A new session continues the one whose load has just failed: its context, unless that was used, with its key.
func TestContinuesFailedLoad(t *testing.T) {
	for _, tt := range []struct {
		name      string
		before    []string // what became of the first session
		client    string
		code      int
		cwd       string
		later     time.Duration
		between   bool // another request is in between
		continues bool
		key       bool // it has the first one's
	}{
		{"at once", nil, "acpx", -32002, "/tmp/x", 0, false, true, true},
		{"in the last moment", nil, "acpx", -32002, "/tmp/x", 5 * time.Second, false, true, true},
		{"too late", nil, "acpx", -32002, "/tmp/x", 5*time.Second + 1, false, false, false},
		{"another folder", nil, "acpx", -32002, "/tmp/y", 0, false, false, false},
		{"another client", nil, "zed", -32002, "/tmp/x", 0, false, false, false},
		{"a login is needed", nil, "acpx", -32000, "/tmp/x", 0, false, false, false},
		{"a list in between", nil, "acpx", -32002, "/tmp/x", 0, true, false, false},
		{"its context was used", []string{"prompt"}, "acpx", -32002, "/tmp/x", 0, false, true, false},
		{"its identity was given", []string{"memories are late", "prompt", "clear", "prompt"}, "acpx", -32002, "/tmp/x", 0, false, true, false},
		{"it was off", []string{"prompt off"}, "acpx", -32002, "/tmp/x", 0, false, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onStage(t, func(p *stage) {
				p.start()
				steps["new"](p)
				for _, step := range tt.before {
					steps[step](p)
				}
				first := p.rows[p.id]
				steps["ends"](p)
				p.do(func(c *Connection) { c.ClientGreeted(Program{Name: tt.client}, "0", "") })
				failed := p.asks("a", Opening{Kind: OpensKnown, Target: p.id, Cwd: "/tmp/x"})
				p.opens("a", OpeningAnswer{Failed: true, Code: tt.code})
				if time.Sleep(tt.later); tt.between {
					p.do(func(c *Connection) { c.Asked("b", "", nil) })
				}
				p.asks("c", Opening{Kind: OpensNew, Cwd: tt.cwd})
				s := p.opens("c", OpeningAnswer{ID: "new"})
				if continues := s.exists.Open.ContinueOf == first.ID; continues != tt.continues {
					p.Errorf("it continues %d", s.exists.Open.ContinueOf)
				}
				if took := s.context.fetch == failed.context.fetch; took != tt.key || took && s.context.fetch.session != s {
					p.Errorf("it takes the fetch over: %t", took)
				}
				if same := s.exists.Open.Key == failed.exists.Open.Key; same != tt.key {
					p.Errorf("its key is %s, the first one's %s", s.exists.Open.Key, failed.exists.Open.Key)
				}
				if s.off() != (tt.name == "it was off") {
					p.Errorf("off: %t", s.off())
				}
			})
		})
	}
}

// The identity is in the system prompt: the first prompt waits for the memories alone, once, and a compaction does not
// touch it.
func TestPlaced(t *testing.T) {
	for _, tt := range []struct {
		name    string
		late    bool
		steps   []string
		carries string
		to      correlation.State
	}{
		{"in time", false, []string{"prompt"}, "memories", correlation.Done},
		{"late", true, []string{"prompt"}, "", correlation.IdentityGiven},
		{"late, then there", true, []string{"prompt", "memories come", "prompt"}, "memories", correlation.Done},
		{"compacted", false, []string{"prompt", "compacts itself", "prompt"}, "", correlation.Done},
		{"cleared", false, []string{"prompt", "clear"}, "", correlation.IdentityGiven},
		{"cleared, then", false, []string{"prompt", "clear", "prompt"}, "memories", correlation.Done},
		{"forked", false, []string{"prompt", "fork", "prompt"}, "", correlation.Done},
		{"in doubt, and it shows nothing", false, []string{"fails", "slash", "ends", "load", "prompt"}, "memories", correlation.Done},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onStage(t, func(p *stage) {
				p.late = tt.late
				p.start()
				s := p.asks("n", Opening{Kind: OpensNew, Cwd: "/tmp/x"})
				p.do(func(c *Connection) { c.Placed(s, block("You are Alto.", KindSystem)) })
				p.id = "placed"
				p.opens("n", OpeningAnswer{ID: p.id})
				p.do(func(c *Connection) { c.Advertised(p.id, map[string]bool{"clear": true}) })
				for _, step := range tt.steps {
					steps[step](p)
				}
				if got := p.rows[p.id].State; p.carried != tt.carries || got != tt.to {
					p.Errorf("the last prompt carries %q, the state is %q", p.carried, got)
				}
			})
		})
	}
}

// given is a block with these items.
func given(items ...string) []*Injection {
	return []*Injection{{Injection: correlation.Injection{Items: items}}}
}

// A later prompt is held only if it may get something, and none is on its way.
func TestLaterPromptIsHeld(t *testing.T) {
	messages := func(string) []memory.Item { return []memory.Item{{ID: "m1"}} }
	for _, tt := range []struct {
		name string
		o    Options
		open []*Turn
		seen []*Injection
		want bool
	}{
		{"nothing to get", Options{}, nil, nil, false},
		{"in the middle of a turn", Options{Messages: messages}, []*Turn{{}}, nil, false},
		{"a message", Options{Messages: messages}, nil, nil, true},
		{"a message that it has", Options{Messages: messages}, nil, given("m1"), false},
	} {
		c := newConnection(tt.o, nil)
		s := c.newSession("/w")
		s.exists.ledger, s.context.state, s.turns.open, s.history.blocks = known, correlation.Done, tt.open, tt.seen
		if got := c.mustHold(s); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
