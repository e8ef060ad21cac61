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
)

// A Log writes down the events of this process. Methods may be called from several goroutines; those that append never
// wait for a disk or a database.
type Log struct {
	o Options
	w *writer

	closed atomic.Bool
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
	return &Log{o: o, w: newWriter(o, lock)}, nil
}

// Process is the id under which the process is known: that of Options, unless another process had it.
func (l *Log) Process() string { return l.o.Process.ID }

// Append queues events. It never waits; where too much is queued already, because neither the database nor the disk
// takes it, text is dropped and counted.
func (l *Log) Append(events ...correlation.Event) {
	for _, e := range events {
		l.w.add(e, nil)
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
	l.w.add(e, written)
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
	}
	l.w.overtake(written)
	l.o.Log.Warn().Str("event", correlation.KindOf(e)).Msg("neither the database nor the disk takes it; going on")
	return ErrNotWritten
}

// Flush waits until all that was appended is written, or ctx ends. ErrNotWritten: it is not.
func (l *Log) Flush(ctx context.Context) error {
	select {
	case <-l.w.idle():
	case <-ctx.Done():
		return ErrNotWritten
	}
	if l.w.full.Load() {
		return ErrNotWritten
	}
	return nil
}

// Attach has events folded into a database from now on. It is called once.
func (l *Log) Attach(store *correlation.Store) { l.w.f.attach(store) }

// Row waits until the Opened event of a session is in the database, and returns the session's row. Errors: that of ctx,
// errClosed, or correlation.ErrNotFound for a session that was forgotten.
func (l *Log) Row(ctx context.Context, session int) (int64, error) {
	return l.w.f.row(ctx, session)
}

// Folded waits until all that was appended before is in the database. Errors: that of ctx, ErrNotWritten or errClosed.
func (l *Log) Folded(ctx context.Context) error {
	if err := l.Flush(ctx); err != nil {
		return err
	}
	return l.w.f.awaitFolded(ctx, l.w.taken())
}

// Close writes what is queued, folds it in until ctx ends, and releases the process's lock. unfolded: some
// of it is not in the database, and waits in the file for the next Sweep. What could not be written at all is reported
// to Options.Tell. Only the first call does anything.
func (l *Log) Close(ctx context.Context) (unfolded bool, err error) {
	if l.closed.Swap(true) {
		return false, nil
	}
	return l.w.close(ctx)
}
