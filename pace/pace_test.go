package pace_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/pace"
)

func TestPause(t *testing.T) {
	ended, cancel := context.WithCancel(pace.Gently(t.Context()))
	cancel()
	for _, tt := range []struct {
		name       string
		ctx        context.Context
		took, want time.Duration
	}{
		{"somebody waits", t.Context(), time.Second, 0},
		{"a moment", pace.Gently(t.Context()), 2 * time.Millisecond, 18 * time.Millisecond},
		{"long", pace.Gently(t.Context()), time.Minute, 250 * time.Millisecond},
		{"over", ended, time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			time.Sleep(tt.took)
			pace.Pause(tt.ctx, began)
			if rested := time.Since(began) - tt.took; rested != tt.want {
				t.Errorf("%s: it rested for %v, not %v", tt.name, rested, tt.want)
			}
		})
	}
}
