package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/pace"
)

// Whoever waits for the database makes the folder hurry, unless nobody waits for him.
func TestHurry(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   func(context.Context) context.Context
		want bool
	}{
		{"somebody waits", func(ctx context.Context) context.Context { return ctx }, true},
		{"nobody waits", pace.Gently, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(tt.in(t.Context()))
			cancel()
			f := newFolder(Options{}, nil)
			if err := f.awaitFolded(ctx, place{number: 1, position: 1}); !errors.Is(err, context.Canceled) {
				t.Fatalf("nothing is folded in, but: %v", err)
			}
			if got := f.takeUrgent(); got != tt.want {
				t.Errorf("it hurries: %v, want %v", got, tt.want)
			}
		})
	}
}

// An end that was waited for in vain overtakes text, and nothing else: not its turn's beginning.
func TestOvertake(t *testing.T) {
	end := make(chan error, 1)
	w := &queue{events: []queued{
		{event: UserSaid{Turn: 1}, bytes: 1},
		{event: TurnBegan{Turn: 2}}, {event: UserSaid{Turn: 2}, bytes: 1}, {event: Said{Turn: 2}, bytes: 1},
		{event: TurnEnded{Turn: 2}, written: end}, {event: TurnBegan{Turn: 3}},
	}}
	w.overtake(make(chan error)) // written meanwhile
	w.overtake(end)
	var got []string
	for _, q := range w.events {
		got = append(got, fmt.Sprintf("%T", q.event))
	}
	want := "eventlog.UserSaid eventlog.TurnBegan eventlog.TurnEnded eventlog.UserSaid eventlog.Said eventlog.TurnBegan"
	if strings.Join(got, " ") != want {
		t.Errorf("the order is %q", got)
	}
}

// A queue takes events and text up to its limits, and what has no text also behind a full one; at its end nothing more.
func TestQueueIsBounded(t *testing.T) {
	took := func(q *queue, e Event) bool {
		lost := q.lost.events
		q.add(e, nil)
		return q.lost.events == lost
	}
	q := newQueue(Options{Now: time.Now})
	for n := range maxEvents {
		if !took(q, TurnBegan{Turn: n}) {
			t.Fatalf("event %d is lost", n)
		}
	}
	if took(q, TurnEnded{Turn: 1}) {
		t.Error("one more than it holds is taken")
	}

	q = newQueue(Options{Now: time.Now})
	page := strings.Repeat("x", maxText)
	for n := range maxQueued / maxText {
		if !took(q, Said{Turn: 1, Text: page}) {
			t.Fatalf("page %d is lost", n)
		}
	}
	if took(q, Said{Turn: 1, Text: "x"}) {
		t.Error("a byte more than it holds is taken")
	}
	if _, bytes := q.left(); bytes != maxQueued+1 {
		t.Errorf("%d bytes would be lost at the end", bytes)
	}
	q.waiting++ // as behind one long text
	if !took(q, TurnEnded{Turn: 1}) {
		t.Error("an event without text is lost behind a full queue")
	}
	q.end()
	if took(q, TurnBegan{Turn: 2}) {
		t.Error("something is taken behind the end")
	}
}
