package eventlog

import (
	"context"
	"errors"
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
