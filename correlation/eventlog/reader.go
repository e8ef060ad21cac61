package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// maxHold is how long one transaction may take, because claims wait for it.
const maxHold = 10 * time.Millisecond

// A reader folds one file into a database.
type reader struct {
	store  *correlation.Store
	log    zerolog.Logger
	now    func() time.Time
	file   file
	in     *os.File
	opened fs.FileInfo // of in
	header header
	start  int64  // behind the header
	at     int64  // where it believes to be; the database has the last word
	known  bool   // it has said where that is
	buf    []byte // for readLines; one read's lines are folded before the next

	refused map[int64]error // why the database will never take lines, by their ends
}

func (f file) reader(store *correlation.Store, log zerolog.Logger, now func() time.Time) (*reader, error) {
	in, h, start, err := f.open(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	opened, err := in.Stat()
	if err == nil && h.Process.ID != f.process { // renamed by somebody
		err = errNoHeader
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return &reader{store: store, log: log, now: now, file: f, in: in, opened: opened, header: h, start: start,
		at: start, buf: make([]byte, maxRead), refused: map[int64]error{}}, nil
}

func (r *reader) close() error { return r.in.Close() }

// Why lines are read again at once.
var (
	errMoved   = errors.New("somebody else has folded some of it in")
	errRefused = errors.New("a line is refused")
)

// A stepResult says what one transaction has folded in.
type stepResult struct {
	correlation.Changes
	events     int
	refused    error // why the last line was refused that was kept aside, if one was
	to         int64 // offset up to which the file is folded in
	superseded bool  // this file is folded in, and a later one of the process is being
	atEnd      bool  // there was no whole line to fold in
}

// step folds in what the file has at its position, in one transaction: about maxRead bytes, or what takes maxHold.
func (r *reader) step(ctx context.Context) (stepResult, error) {
	for {
		lines, end, err := readLines(r.in, r.at, &r.buf)
		if err != nil {
			return stepResult{}, err
		}
		if r.known && end == r.at {
			return stepResult{atEnd: true, to: r.at}, nil
		}
		did, err := r.fold(ctx, lines, end)
		if errors.Is(err, errMoved) || errors.Is(err, errRefused) {
			continue
		}
		return did, err
	}
}

// fold folds lines in that end at a position. A line that the database does not take, though its schema is whole and it
// takes others, is kept aside with the reason (Batch.Refuse).
func (r *reader) fold(ctx context.Context, lines []line, end int64) (did stepResult, err error) {
	at := r.at
	var failed int64 // the end of the line that failed
	err = r.store.Batch(ctx, r.file.process, func(b *correlation.Batch) error {
		begun, position, err := r.position(b)
		if did.superseded = errors.Is(err, errSuperseded); did.superseded {
			return nil
		}
		if err != nil {
			return err
		}
		r.known = true
		if position != at {
			r.at = position
			return errMoved
		}
		began := time.Now()
		for _, l := range lines {
			if did.events > 0 && time.Since(began) > maxHold {
				end = position
				break
			}
			switch why := cmp.Or(l.strange, r.refused[l.end]); {
			case why != nil:
				if err := r.refuse(b, l, why); err != nil {
					return err
				}
				did.refused = why
			default:
				b.At(l.at)
				if err := guard.Try("folding", func() error { return r.apply(b, l.event) }); err != nil {
					failed = l.end
					return err
				}
			}
			did.events++
			position = l.end
		}
		if end == at && begun {
			did.atEnd = true
			return nil
		}
		did.Changes = b.Changes
		b.At(r.now())
		return b.SetPosition(r.file.number, end)
	})
	switch {
	case err == nil:
		if !did.superseded {
			r.at, did.to = end, end
		}
		return did, nil
	case errors.Is(err, errMoved) || isTransient(ctx, err):
		return stepResult{}, err
	}
	if broken := r.store.Schema(ctx); broken != nil { // it may take the same line once that is mended
		return stepResult{}, broken
	}
	if failed == 0 {
		return stepResult{}, err
	}
	r.refused[failed] = err
	return stepResult{}, errRefused
}

// refuse keeps a line aside.
func (r *reader) refuse(b *correlation.Batch, l line, why error) error {
	r.log.Error().Err(why).Str("file", r.file.path).Int64("position", l.end).Msg("a line is kept aside")
	var session, turn int
	if l.event != nil {
		session, turn = numbersOf(l.event)
	}
	b.At(r.now())
	return b.Refuse(l.text, session, turn, why.Error())
}

// refusalTold: a person knows that this process has kept a line aside.
var refusalTold atomic.Bool

// tellRefused tells a person, once in a process, that a line was kept aside, and why; nil is none.
func tellRefused(why error, tell func(string)) {
	if why != nil && tell != nil && !refusalTold.Swap(true) {
		tell(fmt.Sprintf("some of what was said cannot be stored, and is kept aside: %v; see signet-acp-proxy doctor",
			why))
	}
}

// apply folds an event in. Events of what was forgotten, and those that come too late to change a state, are passed
// over.
func (r *reader) apply(b *correlation.Batch, e correlation.Event) error {
	guard.Point("folding " + correlation.KindOf(e))
	err := b.Apply(e)
	switch {
	case errors.Is(err, correlation.ErrNotFound):
		return nil
	case errors.Is(err, correlation.ErrStateChanged), errors.Is(err, correlation.ErrIllegalStep):
		r.log.Info().Err(err).Str("event", correlation.KindOf(e)).Msg("an event that came too late")
		return nil
	}
	return err
}

// errSuperseded: the file is folded in, and a later one of the process is being.
var errSuperseded = errors.New("a later file is being folded in")

// position returns how far the file is folded in, and whether that was begun; if not, it registers the process.
func (r *reader) position(b *correlation.Batch) (begun bool, position int64, err error) {
	number, position, err := b.Position()
	switch {
	case err != nil:
		return false, 0, err
	// or folded in, removed and forgotten by somebody else, whose transaction came first
	case number > r.file.number, number < r.file.number && !r.file.there():
		return false, 0, errSuperseded
	case number < r.file.number:
		b.At(time.UnixMilli(r.header.At))
		return false, r.start, b.Register(r.header.Process)
	}
	return true, max(position, r.start), nil
}

// isTransient reports whether an error is the database's and not the event's, so that the same may succeed later.
func isTransient(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	err = sqlite.Explain(err)
	for _, known := range []error{sqlite.ErrBusy, sqlite.ErrReadOnly, sqlite.ErrFull, sqlite.ErrCorrupt,
		sqlite.ErrDisk} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// end marks the end of a dead process, and the file as folded in to its end: what follows the last line end was being
// written when the process died.
func (r *reader) end(ctx context.Context) error {
	return r.store.Batch(ctx, r.file.process, func(b *correlation.Batch) error {
		b.At(r.now())
		if err := b.End("died"); err != nil {
			return err
		}
		size, err := r.in.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		return b.SetPosition(r.file.number, size)
	})
}
