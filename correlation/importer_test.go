package correlation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// A turn that another program has told becomes the events that it would have had, and those that it lacks when it has
// grown.
func TestImporter(t *testing.T) {
	b := newBench(t)
	p := must(b.Register(t.Context(), ProcessInfo{ID: "p", Kind: Relay}))(t)
	at := time.UnixMilli(1_000_000)
	i := Importer{Store: b.Store, Process: p.ID(), Now: time.Now}
	open := OpenSession{Harness: "h", ACPID: "s", New: true, Process: p.ID()}
	one := Turn{User: "u", Assistant: "a", Started: at, Ended: at.Add(time.Second), Stop: "end_turn",
		Tools: []ToolCall{{ID: "1", Kind: "read"}}}
	long := one
	long.User = strings.Repeat("x", 80<<10)
	whole := []TurnTold{{Whole: one, Command: "c", Notes: []string{"n"}}, {Whole: long}, {Whole: long}, {Whole: one}}
	if err := i.Add(t.Context(), must(b.Import(t.Context(), open))(t), whole); err != nil || !i.Waits("s") {
		t.Fatalf("the last turn waits: %t, %v", i.Waits("s"), err)
	}
	if n := b.count("SELECT count(*) FROM turns"); n != 3 {
		t.Errorf("%d turns before it is flushed", n)
	}
	if err := i.Flush(t.Context()); err != nil || i.Waits("s") {
		t.Fatalf("it still waits: %t, %v", i.Waits("s"), err)
	}
	grown := one
	grown.ID, grown.Tools = 1, append(grown.Tools, ToolCall{ID: "2", Kind: "edit"})
	again := must(b.Import(t.Context(), open))(t)
	if err := i.Add(t.Context(), again, []TurnTold{{Whole: grown}}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range must(b.Book().Events(t.Context(), 1, 0, 0))(t) {
		if e.Turn == 1 {
			got = append(got, e.Kind+" "+e.At.Sub(at).String())
		}
	}
	want := []string{"turn_began 0s", "noted 0s", "tool_used 0s", "tool_used 0s", "turn_ended 1s", "turn_ended 1s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := b.count("SELECT count(*) FROM turns"); n != 4 {
		t.Errorf("%d turns", n)
	}
}
