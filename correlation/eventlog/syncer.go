package eventlog

import (
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

const (
	syncEvery = time.Second // from one sync to the next
	maxLong   = 3           // syncs that take longer than hangs; then the disk is left alone
)

// A syncer has the system bring what was written to the disk itself after turns have ended, in a goroutine of its own:
// what is only written survives a kill, but no power cut.
type syncer struct {
	o       Options
	sync    func() error
	ended   chan struct{} // 1-buffered: a turn has ended since the last sync
	slow    atomic.Bool   // the disk is left alone
	stop    chan struct{}
	stopped chan struct{}
}

func newSyncer(o Options, sync func() error) *syncer {
	return &syncer{o: o, sync: sync, ended: make(chan struct{}, 1), stop: make(chan struct{}),
		stopped: make(chan struct{})}
}

// run is the syncer's goroutine.
func (s *syncer) run() {
	defer close(s.stopped)
	for long := 0; long < maxLong; {
		select {
		case <-s.ended:
		case <-s.stop:
			return
		}
		began := time.Now()
		guard.Run("syncer", func() {
			if err := s.sync(); err != nil {
				s.o.Log.Debug().Err(err).Msg("bringing what was said to the disk")
			}
		})
		if time.Since(began) > hangs {
			long++
		}
		select {
		case <-time.After(syncEvery):
		case <-s.stop:
			return
		}
	}
	s.slow.Store(true)
	s.o.Log.Warn().Msg("the disk takes seconds to sync: it is left alone")
}

// close ends the goroutine, and joins it unless a sync takes longer than limit.
func (s *syncer) close(limit <-chan struct{}) {
	close(s.stop)
	select {
	case <-s.stopped:
	case <-limit:
	}
}
