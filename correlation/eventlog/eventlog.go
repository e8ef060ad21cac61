// Package eventlog writes what happens in a process to a file at once, and folds that file into the database when that
// is possible.
//
// What is appended is written with plain write(2), by a goroutine of its own, one JSON object a line, into a file that
// only this process appends to ($SIGNET_PATH/acp/live, 0600): what is written survives kill -9. The database may be
// locked, full, slow or not there: the file grows, and nobody waits. Another goroutine folds the file in, in small
// transactions, each with the position that it has reached, so that each event counts once, whoever folds it. A file
// that its process could not fold in to its end is folded in by whoever comes next (Sweep).
//
//	log, err := eventlog.Open(eventlog.Options{Dir: liveDir, Process: processInfo})
//	const session, turn = 1, 1            // the caller counts them
//	log.Append(correlation.Opened{Session: session, Open: openSession})
//	log.Attach(store)                     // once the database is open; before that, everything waits in the file
//	row, err := log.Row(ctx, session)     // what Store.Claim wants
//	log.Append(correlation.TurnBegan{Session: session, Turn: turn})
//	log.Append(correlation.UserSaid{Turn: turn, Text: words})
//	log.Append(correlation.AssistantSaid{Turn: turn, Text: more})
//	err = log.AppendWait(ctx, correlation.TurnEnded{Turn: turn, Stop: "end_turn"}) // before the response leaves
//	…
//	log.Append(correlation.ProcessEnded{Reason: "eof"})
//	unfolded, err := log.Close(ctx)       // ctx: what the database gets
//
// The log sees only text that is redacted already (memory/privacy): it looks at none, and whatever it is given stands
// in the file.
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

// A Log is the file of events of this process. Methods may be called from several goroutines; those that append never
// wait for a disk or a database.
type Log struct {
	o Options
	w *writer
	f *folder

	closed atomic.Bool
}

// Open begins the file of events of this process, and makes the process known as living. It needs no database. The
// caller closes it.
func Open(o Options) (*Log, error) {
	o.defaults()
	lock, err := correlation.TakeLock(o.Dir, o.Process.ID)
	if errors.Is(err, correlation.ErrTaken) {
		o.Process.ID = correlation.NewProcessID()
		lock, err = correlation.TakeLock(o.Dir, o.Process.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("starting the event file: %w", err)
	}
	w, err := newWriter(o, lock)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the event file: %w", err), lock.Release())
	}
	f := newFolder(o, w)
	w.start(f.folded)
	return &Log{o: o, w: w, f: f}, nil
}

// Process is the id under which the process is known: that of Options, unless another process had it.
func (l *Log) Process() string { return l.o.Process.ID }

// Append queues events for the file. It never waits; where too much is queued already, because the disk does not take
// it, text is dropped and counted.
func (l *Log) Append(events ...correlation.Event) {
	for _, e := range events {
		l.w.add(e, nil)
	}
}

// waitLimit is how long AppendWait waits: a busy machine takes less, a disk that hangs may take more.
const waitLimit = 50 * time.Millisecond

// AppendWait appends an event and waits until it is in the file, behind the text that was appended before it: 50 ms,
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
	l.o.Log.Warn().Str("event", correlation.KindOf(e)).Msg("the file of events is slow; going on without it")
	return ErrNotWritten
}

// Flush waits until all that was appended is in the file, or ctx ends. ErrNotWritten: it is not.
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

// Attach begins to fold the file into a database. It is called once.
func (l *Log) Attach(store *correlation.Store) { l.f.attach(store) }

// Row waits until the Opened event of a session is folded in, and returns the session's row. Errors: that of ctx,
// errClosed, or correlation.ErrNotFound for a session that was forgotten.
func (l *Log) Row(ctx context.Context, session int) (int64, error) { return l.f.row(ctx, session) }

// Folded waits until all that was appended before is in the database. Unless ctx is one of pace.Gently, folding in does
// not pause meanwhile. Errors: that of ctx, ErrNotWritten or errClosed.
func (l *Log) Folded(ctx context.Context) error {
	if err := l.Flush(ctx); err != nil {
		return err
	}
	return l.f.awaitFolded(ctx, l.w.written())
}

// Refusal is closed when the database next takes no events, because somebody else holds it locked or it fails.
func (l *Log) Refusal() <-chan struct{} { return l.f.refusal() }

// Hurry has what is written folded in now.
func (l *Log) Hurry() { l.f.urge() }

// Close writes what is queued, folds in what it can until ctx ends, and releases the file and the process's lock.
// unfolded: the file is not folded in to its end; it stays for the next Sweep. What could not be written at all is
// reported to Options.Tell. Only the first call does anything.
func (l *Log) Close(ctx context.Context) (unfolded bool, err error) {
	if l.closed.Swap(true) {
		return false, nil
	}
	return l.f.close(ctx)
}
