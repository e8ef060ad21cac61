package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	linger    = 100 * time.Millisecond // pause before a fold, so that what comes next is in it
	lull      = 9                      // times as long as the last fold took, at least: a tenth of a core is for it
	foldLimit = 10 * time.Second       // for one fold, which normally takes a millisecond
	foldRetry = 50 * time.Millisecond  // pause after the database has refused, doubled up to foldLast
	foldLast  = 2 * time.Second
	maxLog    = 4 << 20 // bytes of the database's log, which is brought into the database then
)

// A folder folds the file of this process into the database, in a goroutine of its own.
type folder struct {
	o       Options
	file    file
	folding folding
	written chan struct{}                     // 1-buffered: the file has more
	urged   chan struct{}                     // 1-buffered: somebody waits for it to be folded in
	lacks   chan struct{}                     // 1-buffered: the database lacks what it had
	again   chan struct{}                     // 1-buffered: the file has that again
	ended   chan<- struct{}                   // 1-buffered: a turn that has ended is in the database's log
	store   atomic.Pointer[correlation.Store] // nil: there is no database yet
	reached atomic.Int64                      // number up to which the database has all

	mu    sync.Mutex    // guards what follows
	there map[int]bool  // by number, of sessions whose event is in the database: false once they were forgotten
	moved chan struct{} // closed and replaced when the database has more

	ctx     context.Context
	cancel  context.CancelFunc
	stopped chan struct{}

	checkpointed int64 // size of the log when it was last brought into the database; only the syncer uses it

	// The goroutine's, and after it of whoever has joined it.
	reported bool // a person was told that the database takes nothing
}

func newFolder(o Options, h header, f file) *folder {
	d := &folder{o: o, file: f, folding: folding{header: h, own: true, log: o.Log, tell: o.Tell}, checkpointed: maxLog,
		written: make(chan struct{}, 1), urged: make(chan struct{}, 1), lacks: make(chan struct{}, 1),
		again: make(chan struct{}, 1), moved: make(chan struct{}), stopped: make(chan struct{}), there: map[int]bool{}}
	d.folding.did = d.applied
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// attach begins to use a database.
func (f *folder) attach(store *correlation.Store) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.store.Load() != nil || f.ctx.Err() != nil {
		return
	}
	f.folding.store = store
	f.store.Store(store)
	guard.Go("folder", f.run)
}

// run is the folder's goroutine. It begins with what was written before there was a database.
func (f *folder) run() {
	defer close(f.stopped)
	wait := foldRetry
	for f.ctx.Err() == nil {
		began := time.Now()
		ctx, cancel := context.WithTimeout(f.ctx, foldLimit)
		err := f.fold(sqlite.WithLockWait(ctx, foldWait))
		cancel()
		switch {
		case err == nil:
			wait = foldRetry
			rest := min(max(linger, lull*time.Since(began)), foldLast)
			f.pause(f.written, nil)
			f.pause(f.urged, time.After(rest))
		case errors.Is(err, errLacks):
			wake(f.lacks)
			f.pause(f.again, nil)
		default:
			f.report(err)
			f.o.Log.Debug().Err(err).Msg("the database takes no events just now") // usually another writes
			f.pause(f.urged, time.After(wait))
			wait = min(2*wait, foldLast)
		}
	}
}

// pause waits until one of two things happens, or the goroutine is to end.
func (f *folder) pause(one <-chan struct{}, other <-chan time.Time) {
	select {
	case <-one:
	case <-other:
	case <-f.ctx.Done():
	}
}

// fold brings what is written into the database.
func (f *folder) fold(ctx context.Context) error {
	had := f.reached.Load()
	f.folding.least = had
	err := guard.Try("folder", func() error {
		err := f.folding.file(ctx, f.file)
		if begins := errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !begins {
			return err
		}
		if f.reached.Load() > had {
			return nil
		}
		written, err := f.folding.store.Written(ctx, f.o.Process.ID) // another process may have folded it in
		if err == nil && written > had {
			f.applied(correlation.Changes{To: written})
		}
		return err
	})
	if errors.Is(err, errLacks) { // another database is there now
		select {
		case <-f.again: // of another time
		default:
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		clear(f.there)
		f.reached.Store(0)
	}
	return err
}

// report tells a person, once, that events cannot be written. Another process's lock passes, and the writer reports a
// full disk, and a file that is gone.
func (f *folder) report(err error) {
	if f.reported || err == nil || passes(err) {
		return
	}
	for _, known := range []error{errLacks, sqlite.ErrFull, fs.ErrNotExist} {
		if errors.Is(err, known) {
			return
		}
	}
	f.reported = true
	f.o.Tell(fmt.Sprintf("conversations wait in a file until the database accepts them: %v", err))
}

// passes reports whether an error comes of another process's lock, or of the time that there was.
func passes(err error) bool {
	return errors.Is(err, sqlite.ErrBusy) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// applied notes what a transaction has changed, and calls Options.Folded.
func (f *folder) applied(did correlation.Changes) {
	f.mu.Lock()
	var gone []int
	for n := range did.Gone {
		if there, known := f.there[n]; there || !known {
			f.there[n] = false
			gone = append(gone, n)
		}
	}
	for _, n := range did.Opened {
		f.there[n] = true
	}
	f.reached.Store(max(f.reached.Load(), did.To))
	close(f.moved)
	f.moved = make(chan struct{})
	f.mu.Unlock()
	if did.Ended {
		wake(f.ended)
	}
	if did.Spoke || len(gone) > 0 {
		slices.Sort(gone)
		f.o.Folded(did.Spoke, gone)
	}
}

// await waits until something is there, or an error. It looks again whenever the database has more.
func (f *folder) await(ctx context.Context, there func() (bool, error)) error {
	for {
		f.mu.Lock()
		moved := f.moved
		f.mu.Unlock()
		if is, err := there(); is || err != nil {
			return err
		}
		if !pace.Gentle(ctx) {
			wake(f.urged)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		case <-f.stopped:
			return errClosed
		}
	}
}

// sync has the system bring the database's log to the disk itself, and that into the database once it is large.
func (f *folder) sync() error {
	store := f.store.Load()
	if store == nil {
		return nil
	}
	size, err := store.SyncLog()
	if err != nil || size <= f.checkpointed || f.o.Checkpoint == nil {
		return err
	}
	f.checkpointed = size // it is written from its beginning next, and grows when that takes more
	if err := f.o.Checkpoint(f.ctx); !passes(err) {
		return err
	}
	return nil // others read or write it; it grows on
}

// stop ends the goroutine, and joins it unless a commit takes longer than limit. joined: there is a database, and the
// goroutine does not use it any more.
func (f *folder) stop(limit <-chan time.Time) (joined bool) {
	f.mu.Lock()
	f.cancel()
	attached := f.store.Load() != nil
	if !attached {
		close(f.stopped)
	}
	f.mu.Unlock()
	select {
	case <-f.stopped:
		return attached
	case <-limit:
		return false
	}
}
