package eventlog_test

import (
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	. "github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// What an event costs whoever appends it, and how many bytes it is in the file.
func BenchmarkAppend(b *testing.B) {
	for _, bb := range []struct {
		name  string
		event Event
	}{
		{"turn ended", TurnEnded{Turn: 1, Stop: "end_turn", Request: "3"}},
		{"tool used", ToolUsed{Turn: 1, Tool: correlation.ToolCall{ID: "toolu_01", Title: "Read main.go", Kind: "read",
			Status: "completed", Locations: []string{"/home/x/main.go"}}}},
		{"80 bytes said", Said{Turn: 1, Text: "It is what it is, and nobody knows why: eighty bytes are about a line of prose.\n"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			l := must(Open(Options{Dir: b.TempDir(), Process: correlation.ProcessInfo{Kind: correlation.Relay}}))(b)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				l.Append(bb.event)
				if n++; n%4096 == 0 { // the queue is bounded
					check(b, l.Flush(b.Context()))
				}
			}
			check(b, l.Flush(b.Context()))
			b.StopTimer()
			check(b, l.Discard())
		})
	}
}

// How long a response waits for the end of its turn to be in the file.
func BenchmarkAppendWait(b *testing.B) {
	l := must(Open(Options{Dir: b.TempDir(), Process: correlation.ProcessInfo{Kind: correlation.Relay}}))(b)
	for b.Loop() {
		check(b, l.AppendWait(b.Context(), TurnEnded{Turn: 1, Stop: "end_turn", Request: "3"}))
	}
	b.StopTimer()
	check(b, l.Discard())
}

// What a whole turn costs until it is in the database.
func BenchmarkFold(b *testing.B) {
	x := newBench(b)
	l := x.log(true)
	session, _ := conversation(l, "s")
	for b.Loop() {
		t := number()
		l.Append(TurnBegan{Session: session, Turn: t}, UserSaid{Turn: t, Text: "question"},
			Said{Turn: t, Text: "answer"}, TurnEnded{Turn: t, Stop: "end_turn"})
		if t%256 == 0 {
			check(b, l.Folded(b.Context()))
		}
	}
	check(b, l.Folded(b.Context()))
	b.StopTimer()
	check(b, l.Discard())
}
