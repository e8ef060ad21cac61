// Package eventlog writes down what happens in a process when it happens, and brings it into the database.
//
// What is appended is queued. One goroutine writes what is queued, in order and with plain write(2), into a file that
// only this process appends to ($SIGNET_PATH/acp/live, 0600, one JSON object a line): what is written survives kill
// -9, and nobody waits for a database. Another goroutine folds the file into the database a tenth of a second later,
// or at once for who waits for a row, in order and in short transactions, and blanks what is folded in. What a process
// could not fold in is left to whoever comes next (Sweep). Events are numbered, and the database keeps the number up
// to which it has those of a process, so that each counts once, whoever folds it in.
//
//	log, err := eventlog.Open(eventlog.Options{Dir: liveDir, Process: processInfo})
//	const session, turn = 1, 1            // the caller counts them
//	log.Append(correlation.Opened{Session: session, Open: openSession})
//	log.Attach(store)                     // once the database is open; until then all waits in the file
//	row, err := log.Row(ctx, session)     // what Store.Claim wants
//	log.Append(correlation.TurnBegan{Session: session, Turn: turn})
//	log.Append(correlation.UserSaid{Turn: turn, Text: words})
//	log.Append(correlation.AssistantSaid{Turn: turn, Text: more})
//	err = log.AppendWait(ctx, correlation.TurnEnded{Turn: turn, Stop: "end_turn"}) // before the response leaves
//	…
//	log.Append(correlation.ProcessEnded{Reason: "eof"})
//	unfolded, err := log.Close(ctx)       // ctx: what the database gets
//
// The log sees only text that is redacted already (memory/privacy): it looks at none, and writes whatever it is given.
//
// Events keep their order, but for an end that somebody has waited for in vain (AppendWait): it goes before the text
// that it waits behind. Claims are no events: who may inject is decided in the database (Store.Claim) before a prompt
// leaves.
package eventlog

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// A Log writes down the events of this process. Methods may be called from several goroutines; those that append never
// wait for a disk or a database.
type Log struct {
	o Options
	*queue
	f    *folder
	sync *syncer
	full atomic.Bool // the disk takes nothing

	closed  atomic.Bool
	stop    chan struct{}
	stopped chan struct{}

	// The goroutine's, and after it of whoever has joined it.
	lock   *correlation.Lock // shows that the process lives
	out    *output
	recent history
	told   bool // a person knows that the disk took nothing
}

// Open makes the process known as living, and begins to write down its events. It needs no database. The caller closes
// it.
func Open(o Options) (*Log, error) {
	o.defaults()
	lock, err := correlation.TakeLock(o.Dir, o.Process.ID)
	if errors.Is(err, correlation.ErrTaken) {
		o.Process.ID = correlation.NewProcessID()
		lock, err = correlation.TakeLock(o.Dir, o.Process.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("starting to record: %w", err)
	}
	out := &output{log: o.Log, file: fileOf(o.Dir, o.Process.ID),
		header: header{version, o.Now().UnixMilli(), o.Process}}
	l := &Log{o: o, queue: &queue{o: o, wake: make(chan struct{}, 1)}, f: newFolder(o, out.header, out.file),
		lock: lock, out: out, stop: make(chan struct{}), stopped: make(chan struct{})}
	l.sync = newSyncer(o, func() error { return errors.Join(l.out.sync(), l.f.sync()) })
	l.f.ended = l.sync.ended
	guard.Go("writer", l.run)
	guard.Go("syncer", l.sync.run)
	return l, nil
}

// Process is the id under which the process is known: that of Options, unless another process had it.
func (l *Log) Process() string { return l.o.Process.ID }

// Append queues events. It never waits; where too much is queued already, because neither the database nor the disk
// takes it, text is dropped and counted.
func (l *Log) Append(events ...correlation.Event) {
	for _, e := range events {
		l.add(e, nil)
	}
}

// waitLimit is how long AppendWait waits: a busy machine writes at once, and a disk that hangs does not.
const waitLimit = 50 * time.Millisecond

// AppendWait appends an event and waits until it is written, behind the text that was appended before it: waitLimit,
// and no longer than ctx. ErrNotWritten: it is still queued, in front of that text now, or the disk does not take it.
func (l *Log) AppendWait(ctx context.Context, e correlation.Event) error {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	written := make(chan error, 1)
	l.add(e, written)
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
	}
	l.overtake(written)
	l.o.Log.Warn().Str("event", correlation.KindOf(e)).Msg("neither the database nor the disk takes it; going on")
	return ErrNotWritten
}

// Flush waits until all that was appended is written, or ctx ends. ErrNotWritten: it is not.
func (l *Log) Flush(ctx context.Context) error {
	l.mu.Lock()
	busy := l.busy
	l.mu.Unlock()
	if busy != nil {
		select {
		case <-busy:
		case <-ctx.Done():
			return ErrNotWritten
		}
	}
	if l.full.Load() {
		return ErrNotWritten
	}
	return nil
}

// Attach has events folded into a database from now on. It is called once.
func (l *Log) Attach(store *correlation.Store) { l.f.attach(store) }

// Row waits until all that was appended before, and the Opened event of a session, are in the database, and returns the
// session's row. Errors: those of Folded, or correlation.ErrNotFound for a session that was forgotten.
func (l *Log) Row(ctx context.Context, session int) (row int64, err error) {
	if err := l.Folded(ctx); err != nil {
		return 0, err
	}
	err = l.f.await(ctx, func() (bool, error) {
		store := l.f.store.Load()
		if store == nil {
			return false, nil
		}
		row, err = store.EventSession(ctx, l.o.Process.ID, session)
		l.f.mu.Lock()
		defer l.f.mu.Unlock()
		if _, known := l.f.there[session]; !known && errors.Is(err, correlation.ErrNotFound) { // it comes
			return false, nil
		}
		return true, err
	})
	return row, err
}

// Folded waits until all that was appended before is in the database. Errors: that of ctx, ErrNotWritten or errClosed.
func (l *Log) Folded(ctx context.Context) error {
	if err := l.Flush(ctx); err != nil {
		return err
	}
	n := l.number.Load()
	return l.f.await(ctx, func() (bool, error) { return l.f.reached.Load() >= n, nil })
}

const (
	lastWrite = 500 * time.Millisecond // how long the end of a process waits for a disk that hangs
	lastFold  = time.Second            // and then for a commit, or for why the database takes nothing
)

// Close writes what is queued, folds it in until ctx ends, and releases the process's lock. unfolded: some
// of it is not in the database, and waits in the file for the next Sweep. What could not be written at all is reported
// to Options.Tell. Only the first call does anything.
func (l *Log) Close(ctx context.Context) (unfolded bool, err error) {
	if l.closed.Swap(true) {
		return false, nil
	}
	l.end()
	close(l.stop)
	limit, cancel := context.WithTimeout(context.Background(), lastWrite)
	defer cancel()
	select {
	case <-l.stopped:
	case <-limit.Done(): // the goroutine is left to it
		return true, errors.New("nothing is saved any more: a write hangs")
	}
	l.sync.close(limit.Done())
	if joined := l.f.stop(time.After(lastFold)); joined && l.out.out != nil {
		if err = l.f.fold(ctx); errors.Is(err, errLacks) {
			l.again()
			err = l.f.fold(ctx)
		}
		if err == nil {
			err = l.out.remove()
		}
		l.f.report(err)
	}
	if store := l.f.store.Load(); store != nil && l.sync.slow.Load() {
		err = errors.Join(err, store.NoteSlow(ctx))
	}
	if ctx.Err() != nil || isTransient(ctx, err) {
		err = nil // another process folds the rest in
	}
	unfolded = l.out.out != nil
	if events, bytes := l.left(); events > 0 {
		l.o.Tell(fmt.Sprintf("%d events (%d bytes of text) of this conversation could not be saved", events,
			bytes))
	}
	return unfolded, errors.Join(err, l.out.close(), l.lock.Release())
}
