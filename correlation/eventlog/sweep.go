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
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// foldWait is how long a transaction waits for another process's lock on the database: the end of a process must not
// take longer.
const foldWait = 100 * time.Millisecond

// A Sweep folds in the event files of other processes, which are in the store's LiveDir.
type Sweep struct {
	Store *correlation.Store
	Log   zerolog.Logger
	// Tell tells a person, in one line and once in a process, of a file that is left alone. It may be nil.
	Tell func(string)
	// Living: fold in the files of living processes too, as far as they are written, to know what was said just now.
	// It is erased there: what is forgotten next is nowhere else. The processes notice.
	Living bool
	// Except is the id of a process that folds its own file in: this one. May be empty.
	Except string
}

// Run folds in the files of dead processes, marks their end (what they had in flight is in doubt, what they owe is due)
// and removes the files; then it does what Store.SweepDead does for processes without files. It goes on after an error
// with a file. It ends with ctx, or when another process holds the database for 100 ms (sqlite.WithLockWait sets
// another time); what is left is for the next sweep. In a context of pace.Gently it pauses between transactions.
// Several processes may sweep at once.
func (s Sweep) Run(ctx context.Context) error {
	ctx = sqlite.WithLockWait(ctx, sqlite.LockWait(ctx, foldWait))
	if s.Store.LiveDir() == "" {
		return nil
	}
	all, err := filesIn(s.Store.LiveDir())
	if err != nil {
		return err
	}
	for i, file := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if file.process == s.Except {
			continue
		}
		last := i+1 == len(all) || all[i+1].process != file.process
		one := guard.Try("sweep", func() error { return s.fold(ctx, file, last) })
		if errors.Is(one, sqlite.ErrBusy) || errors.Is(one, sqlite.ErrSchema) {
			return errors.Join(err, one) // it is so for all files
		}
		err = errors.Join(err, one)
	}
	// a process that died after its file was folded in is left to the next sweep
	return errors.Join(err, s.Store.SweepDead(ctx, s.unread))
}

// unread reports whether files of a process are still to be folded in.
func (s Sweep) unread(process string) bool {
	all, err := filesIn(s.Store.LiveDir())
	if err != nil {
		s.Log.Warn().Err(err).Msg("looking for files of events")
		return true
	}
	return slices.ContainsFunc(all, func(f file) bool {
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
	err := Sweep{Store: store, Log: log, Tell: tell, Living: true}.Run(ctx)
	if err == nil {
		return
	}
	log.Warn().Err(err).Msg("the last turns may be missing")
	if tell != nil && !passes(err) {
		tell(fmt.Sprintf("the last turns are missing here, and wait in a file: %v", err))
	}
}

const readLimit = time.Second

// TakeIn folds in the files of all processes, living ones too, which erases them: what a command removes from the
// database then is nowhere else. That a file is left alone is an error.
func TakeIn(ctx context.Context, store *correlation.Store, log zerolog.Logger) error {
	failed := Sweep{Store: store, Log: log, Living: true}.Run(ctx)
	alone, err := LeftAlone(store.LiveDir())
	if err = errors.Join(append(alone, err, failed)...); err != nil {
		return fmt.Errorf("taking in what is not in the database yet: %w", err)
	}
	return nil
}

// fold folds in a file; last says that it is the last of its process.
func (s Sweep) fold(ctx context.Context, f file, last bool) error {
	alive := correlation.Alive(s.Store.LiveDir(), f.process)
	if alive && !s.Living {
		return nil
	}
	of := folding{store: s.Store, log: s.Log, tell: s.Tell}
	err := of.file(ctx, f)
	switch {
	case errors.Is(err, fs.ErrNotExist): // another process was faster
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) && !alive: // it died before it had recorded anything
		return s.remove(f, last)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil
	case errors.Is(err, errNewer), errors.Is(err, errForeign), errors.Is(err, errNoHeader):
		s.leaveAlone(f, err)
		return nil
	case err != nil || alive:
		return err
	}
	if last {
		err := s.Store.Batch(ctx, f.process, func(b *correlation.Batch) error {
			return b.End("died")
		})
		if err != nil {
			return err
		}
	}
	return s.remove(f, last)
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
		s.Tell(fmt.Sprintf("turns of another process are not saved: %s is %v", f.path, why))
	}
}

// LeftAlone looks through a folder for files that a sweep leaves alone, and says of each why.
func LeftAlone(dir string) (all []error, err error) {
	found, err := filesIn(dir)
	for _, f := range found {
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

// remove removes a file that is folded in and, with the last of its process, the process's lock.
func (s Sweep) remove(f file, last bool) error {
	err := files.Remove("a file of events", f.path)
	if err == nil && last {
		err = correlation.RemoveLock(s.Store.LiveDir(), f.process)
	}
	return err
}
