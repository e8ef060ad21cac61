package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// foldWait is how long a transaction waits for another process's lock on the database: the end of a process must not
// take longer.
const foldWait = 100 * time.Millisecond

// A Sweep folds in the files of other processes, which are in the store's LiveDir.
type Sweep struct {
	Store *correlation.Store
	Now   func() time.Time // nil: time.Now
	Log   zerolog.Logger
	// Tell tells a person, in one line and once in a process, of a file that is left alone. It may be nil.
	Tell func(string)
	// Living: fold in the files of living processes too, as far as they are written, to know what was said just now.
	// The processes notice.
	Living bool
	// Except is the id of a process that folds its own file in: this one. May be empty.
	Except string
}

// Swept is what a sweep did.
type Swept struct {
	Files  int // how many were folded in to their end, and removed
	Events int // how many were folded in
	// how many files were left alone, each with a line in the log: they are of a newer version or another user, or
	// their first line is damaged
	LeftAlone int
}

// Run folds in the files of dead processes, marks their end (what they had in flight is in doubt, what they owe is due)
// and removes the files; then it does what Store.SweepDead does for processes without files. It goes on after an error
// with a file. It ends with ctx, or when another process holds the database for 100 ms (sqlite.WithLockWait sets
// another time); what is left is for the next sweep. In a context of pace.Gently it pauses between transactions.
// Several processes may sweep at once.
func (s Sweep) Run(ctx context.Context) (Swept, error) {
	if s.Now == nil {
		s.Now = time.Now
	}
	ctx = sqlite.WithLockWait(ctx, sqlite.LockWait(ctx, foldWait))
	var did Swept
	if s.Store.LiveDir() == "" {
		return did, nil
	}
	all, err := filesIn(s.Store.LiveDir())
	if err != nil {
		return did, err
	}
	for i, file := range all {
		if ctx.Err() != nil {
			return did, ctx.Err()
		}
		if file.process == s.Except {
			continue
		}
		last := i+1 == len(all) || all[i+1].process != file.process
		one := guard.Try("sweep", func() error { return s.fold(ctx, file, last, &did) })
		if errors.Is(one, sqlite.ErrBusy) || errors.Is(one, sqlite.ErrSchema) {
			return did, errors.Join(err, one) // it is so for all files
		}
		err = errors.Join(err, one)
	}
	// a process that died after its file was folded in is left to the next sweep
	_, dead := s.Store.SweepDead(ctx, s.unread)
	return did, errors.Join(err, dead)
}

// unread reports whether files of a process are still to be folded in.
func (s Sweep) unread(process string) bool {
	files, err := filesIn(s.Store.LiveDir())
	if err != nil {
		s.Log.Warn().Err(err).Msg("looking for files of events")
		return true
	}
	return slices.ContainsFunc(files, func(f file) bool {
		_, alone := leftAlone.Load(f.path)
		return f.process == process && !alone
	})
}

// FoldAll folds in the files of all processes, living ones too, for a command that reads. It takes at most a second;
// what it has not come to is missing in what the command reads. tell, if not nil, tells a person why, if that will not
// pass by itself.
func FoldAll(ctx context.Context, store *correlation.Store, log zerolog.Logger, tell func(string)) {
	ctx, cancel := context.WithTimeout(sqlite.WithLockWait(ctx, readLimit), readLimit)
	defer cancel()
	_, err := Sweep{Store: store, Log: log, Tell: tell, Living: true}.Run(ctx)
	if err == nil {
		return
	}
	log.Warn().Err(err).Msg("what was said last may be missing")
	if tell != nil && !passes(err) {
		tell(fmt.Sprintf("what was said last is missing here, and waits in a file: %v", err))
	}
}

const readLimit = time.Second

// fold folds in a file; last says that it is the last of its process.
func (s Sweep) fold(ctx context.Context, f file, last bool, did *Swept) error {
	alive, err := correlation.Alive(s.Store.LiveDir(), f.process)
	if err != nil {
		s.Log.Warn().Err(err).Str("process", f.process).Msg("cannot ask for the lock of a process")
	}
	if alive && (!s.Living || s.isFoldedIn(ctx, f)) {
		return nil
	}
	r, err := f.reader(s.Store, s.Log, s.Now)
	switch {
	case errors.Is(err, fs.ErrNotExist): // another process was faster
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		if alive {
			return nil
		}
		return s.remove(ctx, f, last, did) // it died before it had recorded anything
	case err != nil:
		did.LeftAlone++
		s.leaveAlone(f, err)
		return nil
	}
	defer r.close()
	if err := s.foldSteps(ctx, r, did); err != nil || alive {
		return err
	}
	if last {
		if err := r.end(ctx); err != nil {
			return err
		}
	}
	if err := r.close(); err != nil { // Windows removes no open file
		return err
	}
	return s.remove(ctx, f, last, did)
}

// foldSteps folds in what a file has now, or until another process is faster.
func (s Sweep) foldSteps(ctx context.Context, r *reader, did *Swept) error {
	for {
		began := time.Now()
		step, err := r.step(ctx)
		if err != nil {
			return err
		}
		pace.Pause(ctx, began)
		did.Events += step.events
		tellRefused(step.refused, s.Tell)
		if step.superseded || step.atEnd {
			return nil
		}
	}
}

// isFoldedIn reports whether all of a file is in the database, without asking for its lock.
func (s Sweep) isFoldedIn(ctx context.Context, f file) bool {
	number, position, err := s.Store.EventPosition(ctx, f.process)
	info, statErr := os.Stat(f.path)
	return err == nil && statErr == nil && number == f.number && position == info.Size()
}

// leftAlone has the paths of files that were reported: a worker sweeps every second.
var leftAlone sync.Map

// leaveAlone reports once that a file is left alone, and why.
func (s Sweep) leaveAlone(f file, why error) {
	if _, told := leftAlone.LoadOrStore(f.path, true); told {
		return
	}
	s.Log.Warn().Err(why).Str("file", f.path).Msg("a file of events is left alone")
	if s.Tell != nil {
		s.Tell(fmt.Sprintf("what was said in another process is not stored: %s is %v", f.path, why))
	}
}

// LeftAlone looks through a folder for files that a sweep leaves alone, and says of each why.
func LeftAlone(dir string) (all []error, err error) {
	files, err := filesIn(dir)
	for _, f := range files {
		in, h, _, err := f.open(os.O_RDONLY)
		if err == nil {
			if err = in.Close(); h.Process.ID != f.process {
				err = errNoHeader
			}
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, fs.ErrNotExist) {
			all = append(all, fmt.Errorf("%s is %w", f.path, err))
		}
	}
	return all, err
}

func (s Sweep) remove(ctx context.Context, f file, last bool, did *Swept) error {
	err := removeFile(ctx, s.Store, f, last)
	if errors.Is(err, sqlite.ErrBusy) { // others read what was there before: the next sweep removes it
		return nil
	}
	if err != nil {
		return err
	}
	if last {
		if err := correlation.RemoveLock(s.Store.LiveDir(), f.process); err != nil {
			return err
		}
	}
	did.Files++
	return nil
}

// removeFile removes a file that is folded in and on the disk and, with the last of its process, the process's numbers
// and position in the database.
func removeFile(ctx context.Context, store *correlation.Store, f file, last bool) error {
	if err := store.Settle(ctx); err != nil {
		return err
	}
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !last {
		return nil
	}
	return store.FileRemoved(ctx, f.process)
}
