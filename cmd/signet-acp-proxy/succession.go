package main

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

const (
	endLimit   = 3 * time.Second // for marking the end of a process
	sweepLimit = time.Minute     // for looking at what others have left
)

// A succession sees to it that what this process owes, and what others have left, finds somebody to deliver it. It posts nothing itself, but
// with deliver_at_exit: the relay must not wait, and may be killed at any moment.
type succession struct {
	c       *Config
	store   *correlation.Store
	process *correlation.Process
	log     zerolog.Logger

	ctx    context.Context // ends with the process
	cancel context.CancelFunc
	tasks  sync.WaitGroup // the sweep, and the first processes of workers

	mu      sync.Mutex // guards parting
	parting []*os.File // their end is ours: workers wait for it
}

// newSuccession begins with a sweep, beside the conversation.
func newSuccession(c *Config, store *correlation.Store, process *correlation.Process, log zerolog.Logger) *succession {
	s := &succession{c: c, store: store, process: process, log: log}
	s.ctx, s.cancel = context.WithTimeout(context.Background(), sweepLimit)
	s.tasks.Go(s.sweep)
	return s
}

// sweep buries dead processes and starts a worker if anything is due.
func (s *succession) sweep() {
	if _, err := s.store.SweepDead(s.ctx); err != nil && s.ctx.Err() == nil {
		s.log.Warn().Err(err).Msg("sweeping up after dead processes")
	}
	if err := s.store.DropContexts(s.ctx, s.c.ContextAge); err != nil && s.ctx.Err() == nil {
		s.log.Warn().Err(err).Msg("removing old contexts")
	}
	if s.due(s.ctx) || s.stale(s.ctx) {
		s.spawn(false)
	}
}

// expire lets turns go that are older than they are to be kept.
func (s *succession) expire(own *embedded.Store) {
	s.tasks.Go(func() { expire(s.ctx, s.c, s.store, own, s.log) })
}

func expire(ctx context.Context, c *Config, store *correlation.Store, own *embedded.Store, log zerolog.Logger) {
	gone, err := store.Expire(ctx, time.Now().Add(-c.Retention), own.Unlearn)
	if err != nil && ctx.Err() == nil {
		log.Warn().Err(err).Msg("removing old turns")
	}
	if gone > 0 {
		log.Info().Int("turns", gone).Msg("old turns removed")
	}
}

// expireDelivered is expire for what owes nothing any more now that a process has ended.
func expireDelivered(ctx context.Context, c *Config, store *correlation.Store, log zerolog.Logger) {
	expire(ctx, c, store, embedded.New(nil, embedded.Options{}), log) // to unlearn takes no database but the transaction's
}

// due reports whether a delivery is due now.
func (s *succession) due(ctx context.Context) bool {
	next, open, err := s.store.Due(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Warn().Err(err).Msg("looking for what is owed")
		}
		return false
	}
	return open > 0 && !next.After(time.Now())
}

// stale reports whether the daemon knows of keys that nobody will use.
func (s *succession) stale(ctx context.Context) bool {
	keys, err := s.process.StaleKeys(ctx, s.c.ContextAge)
	return err == nil && len(keys) > 0
}

// spawn starts a worker, which begins at once, or when we have gone.
func (s *succession) spawn(atOurEnd bool) {
	began := time.Now()
	parting, first, err := spawnWorker(s.c)
	if err != nil {
		s.log.Error().Err(err).Msg("starting a worker")
		return
	}
	s.tasks.Go(func() { s.reap(first) })
	s.log.Info().Bool("atEnd", atOurEnd).Dur("took", time.Since(began)).Msg("worker started")
	if !atOurEnd {
		parting.Close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parting = append(s.parting, parting)
}

func (s *succession) reap(first *exec.Cmd) {
	if err := first.Wait(); err != nil {
		s.log.Error().Err(err).Msg("detaching a worker")
	}
}

// handOver implements proxy.Backend.HandOver.
func (s *succession) handOver(ended bool) {
	if s.c.DeliverAtExit > 0 {
		return
	}
	if ended {
		ctx, cancel := context.WithTimeout(context.Background(), endLimit)
		defer cancel()
		if !s.due(ctx) {
			return
		}
	} else if s.c.Memory == "embedded" && len(s.c.OnSessionEnd) == 0 {
		return // the turn that is still under way will owe nothing
	}
	s.spawn(true)
}

// leave implements proxy.Backend.Leave.
func (s *succession) leave(ctx context.Context, row int64, reason string) error {
	err := s.process.Leave(ctx, row, reason)
	if err == nil && s.due(ctx) {
		s.spawn(false)
	}
	return err
}

// end is the last thing: from here on workers begin.
func (s *succession) end() {
	s.cancel()
	s.tasks.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
	defer cancel()
	if err := s.process.End(ctx, "ended"); err != nil {
		s.log.Error().Err(err).Msg("marking the end of the process")
	}
	if s.c.Retention == 0 { // without anything to deliver there is no worker to do so
		expireDelivered(ctx, s.c, s.store, s.log)
	}
	if s.c.DeliverAtExit > 0 {
		s.deliver()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.parting {
		f.Close()
	}
}

// deliver delivers what is due before we exit.
func (s *succession) deliver() {
	ctx, cancel := context.WithTimeout(context.Background(), s.c.DeliverAtExit)
	defer cancel()
	if !s.due(ctx) {
		return
	}
	if err := work(ctx, s.c, s.store, daemonToken(), delivery.UntilQuiet, s.log); err != nil {
		s.log.Warn().Err(err).Msg("delivering before the exit")
	}
}
