package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

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
