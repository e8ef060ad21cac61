package delegation

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// newTools are tools of a session, whose only agent is started by what the test does; they wait for a moment.
func newTools(t *testing.T) (toolbox, *Ledger) {
	t.Helper()
	l := newLedger(t)
	service := &Service{Ledger: l, Canonical: strings.ToLower,
		Known: func(context.Context) ([]Agent, error) { return []Agent{{ID: "codex", Bounds: BySystem}}, nil },
		Start: func(Delegation, string) error { return nil }}
	return toolbox{func(context.Context) (*Service, error) { return service, nil },
		func(memory.Session) Caller { return robin }, time.Millisecond}, l
}

// A call answers before clients give it up, after 30 s: with a handle and what to do with it where there is no result.
func TestHandle(t *testing.T) {
	if handleAfter > 25*time.Second {
		t.Errorf("a call answers after %v", handleAfter)
	}
	tools, l := newTools(t)
	type row struct {
		ID, State, Next, Answer string
	}
	ask := func(answer answer, arguments string) (r row) {
		t.Helper()
		got, err := answer(t.Context(), memory.Session{}, json.RawMessage(arguments))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(got)
		if err != nil || json.Unmarshal(text, &r) != nil {
			t.Fatalf("%s %v", text, err)
		}
		return r
	}
	const asked = `{"agent":"codex","task":"Look.","delegated_scope":["proxy/frame","its tests"],` +
		`"kept_work":"the release"}`
	first := ask(tools.on(call.delegate), asked)
	if first.State != "queued" || !strings.Contains(first.Next, "delegation_wait") {
		t.Errorf("delegate: %+v", first)
	}
	id := `{"id":"` + first.ID + `"}`
	if again := ask(tools.on(call.delegate), asked); again.ID != first.ID {
		t.Errorf("asked again: %+v", again)
	}
	if r := ask(tools.named(call.wait), id); r.State != "queued" || r.Next == "" {
		t.Errorf("delegation_wait: %+v", r)
	}
	_, lock := l.begin(t, first.ID)
	defer lock.Release()
	if err := l.saveProgress(t.Context(), Delegation{ID: first.ID, Runner: lock.ID()}, Run{Folder: "/folder"}); err != nil {
		t.Fatal(err)
	}
	kept := func(want int) {
		t.Helper()
		if all, err := l.Kept(t.Context()); len(all) != want || err != nil {
			t.Errorf("%d folders are kept, want %d (%v)", len(all), want, err)
		}
	}
	kept(0)     // while it runs
	go func() { // while somebody waits
		if err := l.End(context.Background(), Delegation{ID: first.ID, Runner: lock.ID(), State: Done, Run: Run{Folder: "/folder"}, Result: Result{Answer: "grey"}}); err != nil {
			t.Error(err)
		}
	}()
	r := ask(tools.named(call.wait), `{"id":"`+first.ID+`","timeout":60}`)
	if r.State != "done" || r.Answer != "grey" || r.Next != "" {
		t.Errorf("its end: %+v", r)
	}
	kept(1)
	if _, err := tools.named(call.feedback)(t.Context(), memory.Session{}, json.RawMessage(id)); err == nil ||
		!strings.Contains(err.Error(), "verdict is missing") {
		t.Errorf("without a verdict: %v", err)
	}
	ask(tools.named(call.feedback), `{"id":"`+first.ID+`","verdict":-0.5}`)
	if d, err := l.Get(t.Context(), first.ID); err != nil || d.Verdict == nil || *d.Verdict != -0.5 {
		t.Errorf("its verdict: %v (%v)", d.Verdict, err)
	}
	for mode, want := range map[Mode]string{Read: "", Edit: "/folder"} {
		if r := (Delegation{Request: Request{Mode: mode}, Run: Run{Folder: "/folder"}}).Row(); r.Folder != want {
			t.Errorf("to %s: folder %q", mode, r.Folder)
		}
	}
}

// What cannot be understood is refused in words that help.
func TestArguments(t *testing.T) {
	tools, _ := newTools(t)
	for _, tt := range []struct{ arguments, want string }{
		{`{"task":7}`, "task is not a string"},
		{`{"kept_work":7}`, "must be text, or a list of texts"},
		{`{"timeout":-1}`, "timeout must be a number of seconds"},
		{`[`, "the arguments cannot be read"},
		{`{"budget":{"seconds":-1},"task":"x","agent":"codex"}`, "a budget must not be negative"},
		{`{"task":"x","agent":"codex","delegated_scope":"a parser","kept_work":""}`, "kept_work is empty"},
	} {
		_, err := tools.on(call.delegate)(t.Context(), memory.Session{}, json.RawMessage(tt.arguments))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.arguments, err, tt.want)
		}
	}
	if _, err := tools.named(call.status)(t.Context(), memory.Session{}, json.RawMessage(`{"id":"nobody's"}`)); err == nil {
		t.Error("the state of none")
	}
}

// Clients ask before a tool that writes, and not before one that only reads.
func TestHints(t *testing.T) {
	reads, destroys := "", ""
	for _, x := range Tools(nil, nil) {
		if x.Tool.Annotations.ReadOnlyHint {
			reads += x.Tool.Name + " "
		}
		if *x.Tool.Annotations.DestructiveHint {
			destroys += x.Tool.Name
		}
	}
	if reads != "agents_list delegation_status delegation_wait delegation_diff " || destroys != "delegation_apply" {
		t.Errorf("reads: %s, destroys: %s", reads, destroys)
	}
}
