package session

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// What a response says of the block that its prompt carried.
func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer PromptAnswered
		keeps  Cancelled
		turn   Turn // as it was by then
		want   correlation.StepName
	}{
		{"end_turn", PromptAnswered{Stop: StopEnd}, "", Turn{}, correlation.Answered},
		{"refusal", PromptAnswered{Stop: "refusal"}, "", Turn{}, correlation.Answered},
		{"unheard of", PromptAnswered{Stop: "tired"}, "", Turn{}, correlation.Answered},
		{"nothing", PromptAnswered{}, "", Turn{}, correlation.Answered},
		{"cancelled", PromptAnswered{Stop: stopCancelled}, "", Turn{begun: true}, correlation.Cancelled},
		{"cancelled, kept", PromptAnswered{Stop: stopCancelled}, CancelledKept, Turn{}, correlation.Answered},
		{"cancelled early", PromptAnswered{Stop: stopCancelled}, CancelledBegun, Turn{}, correlation.Cancelled},
		{"cancelled while it thinks", PromptAnswered{Stop: stopCancelled}, CancelledBegun, Turn{begun: true}, correlation.Answered},
		{"cancelled in a tool", PromptAnswered{Stop: stopCancelled}, CancelledBegun, Turn{toolCalled: true}, correlation.Answered},
		{"cancelled, forgotten", PromptAnswered{Stop: stopCancelled}, CancelledForgot, Turn{begun: true}, correlation.Refused},
		{"a cancelled request", PromptAnswered{Failed: true, Code: -32800}, CancelledForgot, Turn{}, correlation.Refused},
		{"an error after a cancel", PromptAnswered{Failed: true, Code: -32603}, CancelledForgot, Turn{cancelled: true}, correlation.Refused},
		{"a refusal after a cancel", PromptAnswered{Failed: true, Code: -32602}, CancelledKept, Turn{cancelled: true}, correlation.Refused},
		{"invalid request", PromptAnswered{Failed: true, Code: -32600}, "", Turn{}, correlation.Refused},
		{"no method", PromptAnswered{Failed: true, Code: -32601}, "", Turn{}, correlation.Refused},
		{"invalid params", PromptAnswered{Failed: true, Code: -32602}, "", Turn{}, correlation.Refused},
		{"not found", PromptAnswered{Failed: true, Code: -32002}, "", Turn{}, correlation.Refused},
		{"auth", PromptAnswered{Failed: true, Code: -32000}, "", Turn{}, correlation.Refused},
		{"internal", PromptAnswered{Failed: true, Code: -32603}, "", Turn{}, correlation.Failed},
		{"internal, once accepted", PromptAnswered{Failed: true, Code: -32603}, "", Turn{step: turnAccepted}, correlation.Answered},
		{"invalid, once accepted", PromptAnswered{Failed: true, Code: -32602}, "", Turn{step: turnAccepted}, correlation.Answered},
		{"http code", PromptAnswered{Failed: true, Code: 401}, "", Turn{}, correlation.Failed},
		{"no object", PromptAnswered{Failed: true}, "", Turn{}, correlation.Failed},
	} {
		c := New(Options{Traits: func(string) Traits { return Traits{Cancelled: tt.keeps} }})
		turn := tt.turn
		if got := c.becameOf(&turn, tt.answer.Failed, tt.answer.Stop, tt.answer.Code); got != tt.want {
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
			p := newStage(t)
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
					t.Errorf("prompt %d carries %q", i, p.carried)
				}
			}
			if len(p.keys) != tt.keys {
				t.Errorf("%d keys: %v", len(p.keys), p.keys)
			}
		})
	}
}

// What a held prompt waits for, how long, and how it leaves.
func TestHeldWaits(t *testing.T) {
	const hold, claim = 1500 * time.Millisecond, 100 * time.Millisecond
	for _, tt := range []struct {
		name    string
		before  []string // steps
		with    func(*stage)
		need    Need
		until   time.Duration // from when it was read
		comes   func(*stage, *Held)
		carries string
	}{
		{"the ledger, in vain", nil, func(p *stage) { p.dumb = true }, Wait, hold - claim, nil, ""},
		{"the ledger", nil, func(p *stage) { p.dumb = true }, Wait, hold - claim,
			func(p *stage, _ *Held) { p.dumb = false; p.answer() }, whole},
		{"the fetch, in vain", nil, late, Wait, hold - claim, nil, "files"},
		{"the fetch", nil, late, Wait, hold - claim, func(p *stage, _ *Held) { p.fetch() }, whole},
		{"a recall, in vain", nil, func(p *stage) { p.slow = true }, Wait, hold - claim, nil, whole},
		{"a recall", nil, func(p *stage) { p.slow = true }, Wait, hold - claim, func(p *stage, h *Held) {
			p.see(Recalled{Prompt: h, Found: memory.Context{Items: []memory.Item{{ID: "m7", Text: "Robin likes tea."}}}})
		}, whole + "+recall"},
		{"a later recall, in vain", []string{"prompt"}, func(p *stage) { p.slow, p.o.PerPrompt = true, true }, Wait,
			300 * time.Millisecond, nil, ""},
		{"a recall behind what came late, in vain", []string{"prompt", "memories come"},
			func(p *stage) { p.late, p.slow = true, true }, Wait, 300 * time.Millisecond, nil, "memories"},
		{"a cancel", nil, late, Wait, hold - claim,
			func(p *stage, _ *Held) { p.see(CancelAsked{ID: []byte(p.id)}) }, ""},
		{"a cancelled request", nil, late, Wait, hold - claim,
			func(p *stage, h *Held) { p.see(CancelAsked{Key: h.key}) }, ""},
		{"another's cancel", nil, late, Wait, hold - claim,
			func(p *stage, _ *Held) { p.see(CancelAsked{ID: []byte("other"), Key: "other"}) }, "files"},
		{"its owner has given up", nil, late, Wait, hold - claim,
			func(p *stage, h *Held) { p.see(PromptWaits{Prompt: h, GivenUp: true}) }, ""},
		{"the claim", nil, nil, Claim, hold, nil, whole},
		{"a later claim", []string{"prompt", "tea"}, func(p *stage) { p.o.PerPrompt = true }, Claim, 400 * time.Millisecond, nil, "recall"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newStage(t)
			if tt.with != nil {
				tt.with(p)
			}
			p.start()
			steps["new"](p)
			for _, step := range tt.before {
				steps[step](p)
			}
			read := p.at
			s, h := p.hold(plain)
			next := p.driveTo(s, h, p.see(PromptWaits{Prompt: h}), tt.need)
			if next.Until.Sub(read) != tt.until {
				t.Errorf("it waits %v", next.Until.Sub(read))
			}
			if tt.comes != nil {
				tt.comes(p, h)
			}
			carried := ""
			if in := p.drive(s, h); in != nil {
				carried = carries(in.Text)
			}
			if carried != tt.carries {
				t.Errorf("it carries %q, want %q", carried, tt.carries)
			}
			if p.at.Sub(read) > hold {
				t.Errorf("it was held %v", p.at.Sub(read))
			}
			if req := p.see(Answered{Key: h.key}).Request; req.Turn == nil || req.Turn.Session != s {
				t.Error("its response is not awaited")
			}
		})
	}
}

// A claim that another proxy has won is decided again, once; one that comes too late is taken back.
func TestClaims(t *testing.T) {
	changed := fmt.Errorf("claiming: %w", correlation.ErrStateChanged)
	for _, tt := range []struct {
		name    string
		answers []error // of the ledger
		injects bool
		undone  bool
		state   correlation.State
	}{
		{"granted", []error{nil}, true, false, correlation.InFlight},
		{"changed, then granted", []error{changed, nil}, true, false, correlation.InFlight},
		{"changed twice", []error{changed, changed}, false, false, correlation.Armed},
		{"too late", []error{errors.New("deadline"), nil}, false, true, correlation.Armed},
		{"granted, then told that it was too late", []error{nil, errors.New("deadline")}, true, false, correlation.InFlight},
		{"refused", []error{errors.New("busy")}, false, false, correlation.Armed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newStage(t)
			p.start()
			steps["new"](p)
			s, h := p.hold(plain)
			do := p.see(PromptWaits{Prompt: h})
			for i, err := range tt.answers {
				if i == 0 || errors.Is(tt.answers[i-1], changed) {
					p.driveTo(s, h, do, Claim)
				}
				do = p.see(Claimed{Prompt: h, Err: err})
			}
			if next := do.Prompt; next.Need != Leave || (next.Injection != nil) != tt.injects {
				t.Errorf("it leaves: %+v", next)
			}
			undone := false
			for _, e := range do.Record {
				if e, ok := e.(correlation.Stepped); ok && e.Step.Name == correlation.Refused {
					undone = true
				}
			}
			if undone != tt.undone || s.context.state != tt.state {
				t.Errorf("taken back: %t; the state is %q", undone, s.context.state)
			}
			if s.context.sent() != tt.injects || s.context.held != nil && !tt.injects {
				t.Error("the next prompt is judged by one that has left")
			}
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
			p := newStage(t)
			p.start()
			steps["new"](p)
			for _, step := range tt.before {
				steps[step](p)
			}
			first := p.rows[p.id]
			steps["ends"](p)
			p.see(ClientGreeted{Client: Program{Name: tt.client}, Key: "0"})
			failed := p.see(OpeningAsked{Key: "a", Opening: Opening{Kind: OpensKnown, Target: p.id, Cwd: "/tmp/x"}}).Session
			p.see(OpeningAnswered{Request: p.see(Answered{Key: "a"}).Request, Failed: true, Code: tt.code, Editing: true})
			if p.at = p.at.Add(tt.later); tt.between {
				p.see(Asked{Key: "b"})
			}
			p.see(OpeningAsked{Key: "c", Opening: Opening{Kind: OpensNew, Cwd: tt.cwd}})
			p.see(OpeningAnswered{Request: p.see(Answered{Key: "c"}).Request, ID: "new", Editing: true})
			s := p.c.Session("new")
			if continues := s.exists.Open.ContinueOf == first.ID; continues != tt.continues {
				t.Errorf("it continues %d", s.exists.Open.ContinueOf)
			}
			if took := s.context.fetch == failed.context.fetch; took != tt.key || took && s.context.fetch.session != s {
				t.Errorf("it takes the fetch over: %t", took)
			}
			if same := s.exists.Open.Key == failed.exists.Open.Key; same != tt.key {
				t.Errorf("its key is %s, the first one's %s", s.exists.Open.Key, failed.exists.Open.Key)
			}
			if s.off() != (tt.name == "it was off") {
				t.Errorf("off: %t", s.off())
			}
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
			p := newStage(t)
			p.late = tt.late
			p.start()
			p.n++
			key := fmt.Sprint(p.n)
			s := p.see(OpeningAsked{Key: key, Opening: Opening{Kind: OpensNew, Cwd: "/tmp/x"}}).Session
			p.see(Placed{Session: s, Injection: block("You are Alto.", KindSystem)})
			p.id = "placed"
			p.see(OpeningAnswered{Request: p.see(Answered{Key: key}).Request, ID: p.id, Editing: true})
			p.see(Advertised{ID: p.id, Commands: map[string]bool{"clear": true}})
			for _, step := range tt.steps {
				steps[step](p)
			}
			if got := p.rows[p.id].State; p.carried != tt.carries || got != tt.to {
				t.Errorf("the last prompt carries %q, the state is %q", p.carried, got)
			}
		})
	}
}

// given is a block with these items.
func given(items ...string) []*Injection {
	return []*Injection{{Injection: correlation.Injection{Items: items}}}
}

// A search waits until the ledger has said what the session was given.
func TestRecallBegins(t *testing.T) {
	c := New(Options{})
	s := c.newSession("/w")
	search := RecallBegins{Prompt: &Held{turn: &Turn{Session: s}}}
	if !c.On(time.Time{}, search).Wait {
		t.Error("it begins before the ledger has answered")
	}
	s.exists.ledger, s.history.blocks = known, given("m1")
	if do := c.On(time.Time{}, search); do.Wait || !slices.Equal(do.Seen, []string{"m1"}) {
		t.Errorf("waits %v, has seen %q", do.Wait, do.Seen)
	}
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
		{"searched for", Options{PerPrompt: true}, nil, nil, true},
		{"in the middle of a turn", Options{PerPrompt: true, Messages: messages}, []*Turn{{}}, nil, false},
		{"a message", Options{Messages: messages}, nil, nil, true},
		{"a message that it has", Options{Messages: messages}, nil, given("m1"), false},
	} {
		c := New(tt.o)
		s := c.newSession("/w")
		s.exists.ledger, s.context.state, s.turns.open, s.history.blocks = known, correlation.Done, tt.open, tt.seen
		if got := c.mustHold(s); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
