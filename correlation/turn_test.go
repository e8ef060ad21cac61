package correlation_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
)

func (b *bench) onlyTurn(session int64) Turn {
	b.tb.Helper()
	all := must(b.Book().Turns(b.ctx(), session))(b.tb)
	if len(all) != 1 {
		b.tb.Fatalf("%d turns", len(all))
	}
	return all[0]
}

func TestTurn(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s", Key: "k"})
	b.clock.Advance(time.Second)
	id := b.save(Turn{Session: v.ID, Process: "p", User: "hello\x00\xff"})
	want := Turn{ID: id, Session: v.ID, Key: "k", Process: "p", User: "hello\x00\uFFFD", Tools: []ToolCall{},
		Started: b.clock.Now()}
	if diff := cmp.Diff(want, b.onlyTurn(v.ID)); diff != "" {
		t.Fatal(diff)
	}
	if got := must(b.Get(t.Context(), v.ID))(t); !got.LastActive.Equal(b.clock.Now()) {
		t.Error("the session was not active")
	}
	tools := []ToolCall{{Title: "read a file", Kind: "read", Status: "completed"}}
	b.save(Turn{ID: id, Assistant: "h"})
	b.save(Turn{ID: id, Assistant: "hi", Tools: tools})
	want.Assistant, want.Tools = "hi", tools
	if diff := cmp.Diff(want, b.onlyTurn(v.ID)); diff != "" {
		t.Fatal(diff)
	}
	b.clock.Advance(time.Second)
	b.save(Turn{ID: id, Assistant: "hi", Tools: tools, Ended: b.clock.Now(), Stop: "end_turn"})
	want.Ended, want.Stop = b.clock.Now(), "end_turn"
	b.clock.Advance(time.Second)
	b.save(Turn{ID: id, Assistant: "hi", Tools: tools, Ended: b.clock.Now(), Stop: "cancelled", Code: 7})
	if diff := cmp.Diff(want, b.onlyTurn(v.ID)); diff != "" {
		t.Errorf("ended twice: %s", diff)
	}
	_, err := b.db.ExecContext(t.Context(), "UPDATE turns SET learned = 1")
	check(t, err)
	b.save(Turn{ID: id, Assistant: "hi, late", Tools: tools})
	want.Assistant = "hi, late" // and not learned any more
	if diff := cmp.Diff(want, b.onlyTurn(v.ID)); diff != "" {
		t.Errorf("written after its end: %s", diff)
	}

	if err := correlationtest.Save(t.Context(), b.Store, []Turn{{Session: 1 << 40}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a turn of no session: %v", err)
	}
}

// What was forgotten of an answer does not come back with what is said after it.
func TestForgottenStaysForgotten(t *testing.T) {
	for _, tt := range []struct{ name, said, cut, late, want string }{
		{"cut", "It is Rex. Yes.", "It is [forgotten]. Yes.", "It is Rex. Yes. More.", "It is [forgotten]. Yes."},
		{"all of it", "It is Rex.", "[forgotten]", "It is Rex. More.", "[forgotten]"},
		{"not cut", "It is Rex.", "It is Rex.", "It is Rex. More.", "It is Rex. More."},
		{"said like that", "It says [forgotten].", "It says [forgotten].", "It says [forgotten]. More.",
			"It says [forgotten]. More."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			v := b.open(OpenSession{ACPID: "s"})
			id := b.save(Turn{Session: v.ID, User: "hello"})
			b.save(Turn{ID: id, Assistant: tt.said})
			must(b.db.ExecContext(t.Context(), "UPDATE turns SET assistant = ?", tt.cut))(t)
			b.save(Turn{ID: id, Assistant: tt.late, Ended: b.clock.Now(), Stop: "end_turn"})
			if got := b.onlyTurn(v.ID); got.Assistant != tt.want || got.Stop != "end_turn" || got.Ended.IsZero() {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestTurnKeepsItsKey(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s", Key: "k1"})
	b.turn(v.ID, "p", "one", "1")
	check(t, b.rekey(v.ID, "k2"))
	b.turn(v.ID, "p", "two", "2")
	b.save(Turn{Session: v.ID, Key: "k1", User: "three"})
	var keys []string
	for _, turn := range must(b.Book().Turns(t.Context(), v.ID))(t) {
		keys = append(keys, turn.Key)
	}
	if diff := cmp.Diff([]string{"k1", "k2", "k1"}, keys); diff != "" {
		t.Error(diff)
	}
}

func TestTurnIsBounded(t *testing.T) {
	const maxText = 1 << 20 // bytes, as the store keeps them
	for _, tt := range []struct {
		name            string
		user, assistant string
		tools           int
		given, want     bool
	}{
		{"short", "a", "b", 1, false, false},
		{"as long as may be", strings.Repeat("a", maxText), strings.Repeat("b", maxText), 256, false, false},
		{"long prompt", strings.Repeat("a", maxText+1), "b", 0, false, true},
		{"long answer", "a", strings.Repeat("é", maxText/2) + "x", 0, false, true},
		{"cut inside a character", "a", "x" + strings.Repeat("é", maxText/2), 0, false, true},
		{"many tools", "a", "b", 257, false, true},
		{"cut by the caller", "a", "b", 0, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			v := b.open(OpenSession{ACPID: "s"})
			id := b.save(Turn{Session: v.ID, User: tt.user, Truncated: tt.given})
			b.save(Turn{ID: id, Assistant: tt.assistant, Tools: make([]ToolCall, tt.tools)})
			got := b.onlyTurn(v.ID)
			if got.Truncated != tt.want {
				t.Errorf("truncated is %t", got.Truncated)
			}
			if !strings.HasPrefix(tt.user, got.User) || !strings.HasPrefix(tt.assistant, got.Assistant) ||
				!utf8.ValidString(got.Assistant) ||
				len(got.User) > maxText || len(got.Assistant) > maxText ||
				len(got.Assistant) < min(len(tt.assistant), maxText-3) {
				t.Errorf("kept %d of %d and %d of %d bytes", len(got.User), len(tt.user), len(got.Assistant),
					len(tt.assistant))
			}
		})
	}
}

// An answer grows by pieces; what is missing between them is said, once and in all.
func TestAnswer(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s"})
	check(t, b.happen("p", TurnBegan{Session: b.number("p", v.ID), Turn: 1}))
	for _, tt := range []struct {
		text    string
		skipped int
		want    string
	}{
		{"a", 0, "a"}, {"b\xff", 0, "ab\uFFFD"}, {"", 0, "ab\uFFFD"},
		{"c", 3, "ab\uFFFD\n[3 bytes left out …]\nc"}, {"d", 2, "ab\uFFFD\n[6 bytes left out …]\nd"},
	} {
		check(t, b.happen("p", AssistantSaid{1, tt.text, tt.skipped}))
		if got := b.onlyTurn(v.ID); got.Assistant != tt.want || got.Truncated != strings.Contains(tt.want, "left out") {
			t.Errorf("behind %q: %q, %v, want %q", tt.text, got.Assistant, got.Truncated, tt.want)
		}
	}
}

// What a harness calls a tool call's kind and its status is cut at 32 bytes.
func TestToolWords(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s"})
	check(t, b.happen("p", TurnBegan{Session: b.number("p", v.ID), Turn: 1},
		ToolUsed{1, ToolCall{ID: "1", Kind: strings.Repeat("k", 33), Status: strings.Repeat("s", 33)}}))
	if got := b.onlyTurn(v.ID).Tools; len(got) != 1 || len(got[0].Kind) != 32 || len(got[0].Status) != 32 {
		t.Errorf("%+v", got)
	}
}

// A later report of a command says how it ended, and a later plan replaces the one before, also by none.
func TestCommandsAndPlans(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s"})
	one := 1
	check(t, b.happen("p", TurnBegan{Session: b.number("p", v.ID), Turn: 1},
		ToolUsed{1, ToolCall{ID: "1", Title: "Test it", Kind: "execute", Command: "make test"}},
		ToolUsed{1, ToolCall{ID: "1", Status: "failed", Exit: &one}}, ToolUsed{1, ToolCall{ID: "1"}},
		ToolUsed{1, ToolCall{ID: PlanKind, Kind: PlanKind, Steps: []string{strings.Repeat("x", 501), "b"}}}))
	want := []ToolCall{{ID: "1", Title: "Test it", Kind: "execute", Status: "failed", Command: "make test", Exit: &one},
		{ID: PlanKind, Kind: PlanKind, Steps: []string{strings.Repeat("x", 500), "b"}}}
	if diff := cmp.Diff(want, b.onlyTurn(v.ID).Tools); diff != "" {
		t.Error(diff)
	}
	check(t, b.happen("p", ToolUsed{1, ToolCall{ID: PlanKind, Kind: PlanKind}}))
	if got := b.onlyTurn(v.ID).Tools[1].Steps; len(got) != 0 {
		t.Errorf("left of the plan: %q", got)
	}
}

func TestFirstPrompt(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s"})
	if _, err := b.FirstPrompt(t.Context(), v.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("nothing was said: %v", err)
	}
	b.turn(v.ID, "p", "one", "1")
	b.turn(v.ID, "p", "two", "2")
	fork := b.open(OpenSession{ACPID: "f", ForkOf: v.ID})
	b.turn(fork.ID, "p", "three", "3")
	for _, id := range []int64{v.ID, fork.ID} {
		if got := must(b.FirstPrompt(t.Context(), id))(t); got != "one" {
			t.Errorf("the first prompt is %q", got)
		}
	}
}

// A command made no title: the prompt that carried the context did.
func TestFirstPromptBehindCommand(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	v := b.open(OpenSession{ACPID: "s", Key: "k"})
	b.turn(v.ID, p.ID(), "/init", "done")
	b.clock.Advance(time.Minute)
	started := b.clock.Now()
	b.clock.Advance(time.Second)
	must(b.Claim(t.Context(), v.ID, []State{Armed}, p.ID(), Injection{Key: "k", Kind: "context", Text: "block"}))(t)
	b.clock.Advance(time.Second)
	b.save(Turn{Session: v.ID, Process: p.ID(), User: "What is it?", Started: started, Ended: b.clock.Now(),
		Stop: "end_turn"})
	b.clock.Advance(time.Minute)
	b.turn(v.ID, p.ID(), "And now?", "that")
	if got := must(b.FirstPrompt(t.Context(), v.ID))(t); got != "What is it?" {
		t.Errorf("the first prompt is %q", got)
	}
}

func TestLedger(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	v := b.open(OpenSession{ACPID: "s", Key: "k"})
	b.clock.Advance(time.Second)
	inj := Injection{Key: "k", Kind: "context", BlockID: "3f9c", Text: "<signet-memory>\n\u202e", Source: "daemon",
		Bytes: 99, FetchMS: 2000, HeldMS: 1500, Items: []string{"a", "b"}}
	id := must(b.Claim(t.Context(), v.ID, []State{Armed}, p.ID(), inj))(t)
	b.step(v.ID, p.ID(), Step{Name: Answered})
	recall := Injection{Key: "k", Kind: "recall", Text: "more"}
	check(t, b.happen(p.ID(), Injected{Session: b.number(p.ID(), v.ID), Injection: recall}))
	recall.ID, recall.Session = id+1, v.ID
	inj.ID, inj.Session, inj.At, inj.Outcome = id, v.ID, b.clock.Now(), "kept"
	recall.At, recall.Outcome, recall.Bytes, recall.Items = b.clock.Now(), "kept", 4, []string{}
	if diff := cmp.Diff([]Injection{recall, inj}, must(b.Injections(t.Context(), v.ID))(t)); diff != "" {
		t.Error(diff)
	}
	if b.count(`SELECT count(*) FROM session_keys WHERE session = ? AND used > 0`, v.ID) == 0 {
		t.Error("the key is not noted as used")
	}
}
