package pace_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/pace"
)

func TestPause(t *testing.T) {
	over := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(pace.Gently(ctx))
		cancel()
		return ctx
	}
	for _, tt := range []struct {
		name       string
		in         func(context.Context) context.Context
		took, want time.Duration
	}{
		{"somebody waits", func(ctx context.Context) context.Context { return ctx }, time.Second, 0},
		{"a moment", pace.Gently, 2 * time.Millisecond, 18 * time.Millisecond},
		{"long", pace.Gently, time.Minute, 250 * time.Millisecond},
		{"over", over, time.Second, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := tt.in(t.Context())
				began := time.Now()
				time.Sleep(tt.took)
				pace.Pause(ctx, began)
				if rested := time.Since(began) - tt.took; rested != tt.want {
					t.Errorf("it rested for %v, not %v", rested, tt.want)
				}
			})
		})
	}
}
