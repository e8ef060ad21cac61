package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	foldSoon  = 20 * time.Millisecond // pause before events are folded in, so that several go in one transaction
	foldRetry = 50 * time.Millisecond // pause after a failure, doubled up to foldLast
	foldLast  = 2 * time.Second
	foldNews  = 400 * time.Millisecond // pauses as long as this are logged at level info
	foldLimit = 10 * time.Second       // for one transaction, which normally takes 10 ms
	bigFile   = 1 << 20                // bytes: a file of this size is replaced by a new one once it is folded in
	idleFile  = 16 << 10               // bytes: so is one of this size after a silence
	idleAfter = 2 * time.Second        // of this length
)

// A folder folds the files of this process into a database, in a goroutine of its own.
type folder struct {
	o Options
	w *writer

	mu      sync.Mutex // guards what follows
	store   *correlation.Store
	rows    map[int]int64 // of sessions, by number
	gone    map[int]bool  // numbers of sessions that were forgotten
	reached place         // up to which all is folded in
	moved   chan struct{} // closed and replaced when reached or rows change
	urgent  bool          // somebody waits: do not pause
	refused chan struct{} // closed and replaced when a transaction fails

	urged   chan struct{} // 1-buffered
	ctx     context.Context
	cancel  context.CancelFunc
	running bool
	stopped chan struct{}

	// Used by the goroutine, and after it by whoever has joined it.
	number   int         // of the file that is being folded in
	database fs.FileInfo // at the database's path; nil: nothing was
	r        *reader
	reported bool // a person was told that the database takes nothing
}

func newFolder(o Options, w *writer) *folder {
	f := &folder{o: o, w: w, rows: map[int]int64{}, gone: map[int]bool{}, moved: make(chan struct{}),
		refused: make(chan struct{}), urged: make(chan struct{}, 1), stopped: make(chan struct{}), number: 1}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

func (f *folder) attach(store *correlation.Store) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running || f.ctx.Err() != nil {
		return
	}
	f.store, f.running = store, true
	guard.Go("folder", f.run)
}

// run is the folder's goroutine.
func (f *folder) run() {
	defer close(f.stopped)
	wait := foldRetry
	for f.ctx.Err() == nil {
		err := guard.Try("folder", func() error { return f.foldAll(f.ctx) })
		if err != nil {
			f.refuse()
			f.report(err)
		}
		switch {
		case err == nil:
			wait = foldRetry
			if !f.awaitMore() {
				return
			}
			f.pauseUnlessUrged(foldSoon)
		case f.ctx.Err() == nil:
			note := f.o.Log.Debug() // usually another process is writing
			if wait >= foldNews {
				note = f.o.Log.Info()
			}
			note.Err(err).Dur("again", wait).Msg("the database takes no events just now")
			f.takeUrgent() // trying at once would not help who waits
			f.pause(wait)
			wait = min(2*wait, foldLast)
		}
	}
}

// report tells a person, once, that events cannot be folded in. Another process's lock passes, and the writer reports a
// full disk, and a file that is gone.
func (f *folder) report(err error) {
	if f.reported || err == nil || passes(err) || errors.Is(err, sqlite.ErrFull) || errors.Is(err, fs.ErrNotExist) {
		return
	}
	f.reported = true
	f.o.Tell(fmt.Sprintf("what is said waits in a file until the database takes it: %v", err))
}

// passes reports whether an error comes of another process's lock, or of the time that there was.
func passes(err error) bool {
	return errors.Is(err, sqlite.ErrBusy) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// awaitMore waits until there is more to fold in; it returns false when the log ends. After a silence it has a new file
// begun, so that what was said does not stay in the old one.
func (f *folder) awaitMore() bool {
	idle := time.NewTimer(idleAfter)
	defer idle.Stop()
	for {
		select {
		case <-f.w.grown:
			return true
		case <-idle.C:
			if f.w.written().position >= idleFile {
				f.w.renew()
			}
		case <-f.ctx.Done():
			return false
		}
	}
}

// pauseUnlessUrged pauses, so that more events come together and the conversation has the machine, unless somebody
// waits.
func (f *folder) pauseUnlessUrged(d time.Duration) {
	if !f.takeUrgent() {
		f.pause(d)
	}
}

// takeUrgent reports whether somebody has begun to wait since the last call.
func (f *folder) takeUrgent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	hurry := f.urgent
	f.urgent = false
	return hurry
}

// pause waits for d, or until somebody begins to wait.
func (f *folder) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-f.urged:
	case <-f.ctx.Done():
	}
}

// foldAll folds in what is written so far, and removes files that are folded in and followed by another.
func (f *folder) foldAll(ctx context.Context) error {
	for {
		target := f.w.written()
		database := f.store.File()
		if database != nil && !os.SameFile(database, f.database) || f.r != nil && !f.r.file.is(f.r.opened) {
			f.anew(database)
		}
		if f.r == nil {
			r, err := fileOf(f.o.Dir, f.o.Process.ID, f.number).reader(f.store, f.o.Log, f.o.Now)
			if errors.Is(err, fs.ErrNotExist) && f.number < target.number {
				f.number++ // another process has folded it in
				continue
			}
			if errors.Is(err, fs.ErrNotExist) {
				wake(f.w.wake) // begins it again, or says why not
			}
			if err != nil {
				return err
			}
			f.r = r
		}
		began := time.Now()
		limited, cancel := context.WithTimeout(sqlite.WithLockWait(ctx, foldWait), foldLimit)
		did, err := f.r.step(limited)
		cancel()
		if err != nil {
			return err
		}
		f.applied(did)
		if ctx == f.ctx { // not at the end of the process, which must not pause
			f.pauseUnlessUrged(pace.Rest(time.Since(began)))
		}
		switch {
		case !did.atEnd && !did.superseded:
		case f.number < target.number: // the next file; all of this one is folded in
			old := f.r.file
			err := f.r.close()
			if err == nil && !f.w.sync.slow.Load() {
				err = removeFile(ctx, f.store, old, false)
			}
			if err != nil { // whoever comes next removes it
				f.o.Log.Info().Err(err).Msg("a file of events stays")
			}
			f.r, f.number = nil, f.number+1
		default:
			if target.position >= bigFile {
				f.w.renew()
			}
			return nil
		}
	}
}

// anew begins with the files and the database that are there now: somebody has removed or replaced the folder.
func (f *folder) anew(database fs.FileInfo) {
	if f.r != nil {
		_ = f.r.close() // it was only read
		f.r = nil
	}
	f.number = f.w.written().number
	all, _ := filesIn(f.o.Dir) // what cannot be listed cannot be opened, which is reported
	for _, one := range all {
		if one.process == f.o.Process.ID {
			f.number = min(f.number, one.number)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.rows)
	clear(f.gone)
	f.reached, f.database = place{}, database
}

// folded returns how far a file of this process is folded into the database that is there now.
func (f *folder) folded(number int) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.store == nil || f.reached.number != number || !os.SameFile(f.store.File(), f.database) {
		return 0 // it has gone, and may have been made anew
	}
	return f.reached.position
}

// applied notes the result of a step, and calls Options.Folded.
func (f *folder) applied(did stepResult) {
	f.mu.Lock()
	maps.Copy(f.rows, did.Opened)
	for _, n := range did.Closed { // it is looked up in the database if it is asked for again
		delete(f.rows, n)
	}
	var gone []int
	for n := range did.Gone {
		if !f.gone[n] {
			f.gone[n] = true
			gone = append(gone, n)
		}
		delete(f.rows, n)
	}
	for n := range did.Opened {
		delete(f.gone, n)
	}
	f.mu.Unlock()
	tellRefused(did.refused, f.o.Tell)
	if did.Spoke || len(gone) > 0 {
		slices.Sort(gone)
		f.o.Folded(did.Spoke, gone)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if at := (place{f.number, did.to}); f.reached.before(at) {
		f.reached = at
	}
	close(f.moved)
	f.moved = make(chan struct{})
}

// urge ends a pause, or skips the next.
func (f *folder) urge() {
	f.mu.Lock()
	f.urgent = true
	f.mu.Unlock()
	wake(f.urged)
}

// refuse tells who waits that a transaction has failed.
func (f *folder) refuse() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.refused)
	f.refused = make(chan struct{})
}

func (f *folder) refusal() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused
}

// row waits for the row of a session, by its number.
func (f *folder) row(ctx context.Context, n int) (int64, error) {
	for {
		f.mu.Lock()
		row, known := f.rows[n]
		gone, moved, store := f.gone[n], f.moved, f.store
		f.mu.Unlock()
		switch {
		case known:
			return row, nil
		case gone:
			return 0, correlation.ErrNotFound
		}
		if store != nil { // another process may have folded our file in
			if row, err := store.EventSession(ctx, f.o.Process.ID, n); err == nil {
				f.mu.Lock()
				f.rows[n] = row
				f.mu.Unlock()
				return row, nil
			}
		}
		f.urge()
		select {
		case <-moved:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-f.stopped:
			return 0, errClosed
		}
	}
}

// awaitFolded waits until all up to a place is folded in.
func (f *folder) awaitFolded(ctx context.Context, target place) error {
	for {
		f.mu.Lock()
		there, moved := !f.reached.before(target), f.moved
		f.mu.Unlock()
		if there {
			return nil
		}
		if !pace.Gentle(ctx) {
			f.urge()
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

// close ends the log, as Log.Close says.
func (f *folder) close(ctx context.Context) (unfolded bool, err error) {
	limit := time.NewTimer(lastWrite)
	defer limit.Stop()
	writing := f.w.close(limit.C)
	f.stop()
	unfolded = true
	if f.store != nil && writing == nil {
		if err = ctx.Err(); err == nil {
			err = guard.Try("folder", func() error { return f.foldAll(ctx) })
			f.report(err)
		}
		unfolded = err != nil
	}
	if f.r != nil {
		err = errors.Join(err, f.r.close())
	}
	last := fileOf(f.o.Dir, f.o.Process.ID, f.number)
	switch {
	case !unfolded && f.w.sync.slow.Load():
		err = errors.Join(err, f.store.NoteSlow(ctx))
	case !unfolded:
		err = errors.Join(err, removeFile(ctx, f.store, last, true))
	case f.store == nil && writing == nil && f.w.empty():
		unfolded, err = false, errors.Join(err, os.Remove(last.path))
	}
	if ctx.Err() != nil || isTransient(ctx, err) {
		err = nil // another process folds the rest in
	}
	return unfolded, errors.Join(writing, err, f.w.release())
}

// lastWrite is how long the end of a process waits for a disk that hangs.
const lastWrite = 500 * time.Millisecond

// stop ends and joins the goroutine, which may be waiting for the database.
func (f *folder) stop() {
	f.mu.Lock()
	f.cancel()
	running := f.running
	f.mu.Unlock()
	if running {
		<-f.stopped
	} else {
		close(f.stopped)
	}
}
