package eventlog

import (
	"testing"
	"testing/synctest"
	"time"
)

// After a turn's end what was written is synced, once a second at most; a disk that takes longer than a second three times is
// left alone, also at the end.
func TestSyncer(t *testing.T) {
	for name, tt := range map[string]struct {
		takes time.Duration
		syncs int // in a minute of turns, the first at its beginning
		slow  bool
	}{
		"a quick disk":     {0, 60, false},
		"one at its limit": {time.Second, 30, false},
		"a slow disk":      {time.Second + 1, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				syncs := 0
				s := newSyncer(Options{}, func() error {
					syncs++
					time.Sleep(tt.takes)
					return nil
				})
				go s.run()
				for range 595 {
					wake(s.ended)
					time.Sleep(100 * time.Millisecond)
				}
				s.close(nil)
				if syncs != tt.syncs || s.slow.Load() != tt.slow {
					t.Errorf("%d syncs, slow: %t", syncs, s.slow.Load())
				}
			})
		})
	}
}
