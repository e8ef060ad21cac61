package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// maxHold is how long one transaction may take, because claims wait for it.
const maxHold = 10 * time.Millisecond

// A folding brings events of a process into a database: those that are not there yet, by their numbers.
type folding struct {
	store  *correlation.Store
	header header // of the process
	least  int64  // number up to which the database has all, unless it is another one than before
	own    bool   // the process is this one, whose syncer brings the database's log to the disk
	log    zerolog.Logger
	tell   func(string)              // nil: nobody
	did    func(correlation.Changes) // hears of each transaction; nil: nobody

	had     int64           // number up to which the database had all before the file at hand; -1: not asked yet
	refused map[int64]error // why the database will never take events, by their numbers
	aside   error           // why the last event was kept aside
}

// step brings events into the database, in one transaction of maxHold, and returns the rest. One that the database does
// not take, though its schema is whole and it takes others, is kept aside with the reason (Batch.Refuse).
func (f *folding) step(ctx context.Context, lines []line) (rest []line, err error) {
	for {
		var did correlation.Changes
		var failed []line // begins with the event that failed
		err = f.store.Batch(ctx, f.header.Process.ID, func(b *correlation.Batch) (err error) {
			b.At(time.UnixMilli(f.header.At))
			if err = b.Begin(f.header.Process); err != nil {
				return err
			}
			if b.From < f.least {
				return errLacks
			}
			if f.had < 0 {
				f.had = b.From
			}
			if rest, err = f.apply(b, lines); err != nil {
				failed = rest
			}
			did = b.Changes
			return err
		})
		if err == nil {
			f.least = max(f.least, did.To) // the next step may meet another database
			f.tells(did)
			return rest, nil
		}
		if errors.Is(err, errLacks) || isTransient(ctx, err) {
			return nil, err
		}
		if broken := f.store.Schema(ctx); broken != nil {
			return nil, broken
		}
		if len(failed) == 0 {
			return nil, err
		}
		if f.refused == nil {
			f.refused = map[int64]error{}
		}
		f.refused[failed[0].n] = err
	}
}

// errLacks: somebody has removed or replaced the database.
var errLacks = errors.New("the database lacks what it had")

// apply applies the events that are not in the database, as many as maxHold allows, and returns the rest. With an error
// that is an event's, the rest begins with it.
func (f *folding) apply(b *correlation.Batch, lines []line) (rest []line, err error) {
	began, events := time.Now(), 0
	for i, l := range lines {
		known := l.n <= b.To
		if l.strange != nil { // it has its forerunner's number, and may be a line that is just being erased
			known = l.n <= f.had && f.had > 0
		}
		if known {
			continue
		}
		if events > 0 && l.strange == nil && time.Since(began) > maxHold {
			return lines[i:], nil
		}
		why := l.strange
		if why == nil {
			why = f.refused[l.n]
		}
		if why != nil {
			if err := f.refuse(b, l, why); err != nil {
				return nil, err
			}
		} else {
			b.At(l.at)
			if err := guard.Try("folding", func() error { return f.applyOne(b, l.event) }); err != nil {
				return lines[i:], err
			}
		}
		events++
		b.To = max(b.To, l.n)
	}
	return nil, nil
}

// applyOne applies an event. Events of what was forgotten, and those that come too late to change a state, are passed
// over.
func (f *folding) applyOne(b *correlation.Batch, e correlation.Event) error {
	guard.Point("folding " + correlation.KindOf(e))
	err := b.Apply(e)
	switch {
	case errors.Is(err, correlation.ErrNotFound):
		return nil
	case errors.Is(err, correlation.ErrStateChanged), errors.Is(err, correlation.ErrIllegalStep):
		f.log.Info().Err(err).Str("event", correlation.KindOf(e)).Msg("an event that came too late")
		return nil
	}
	return err
}

// refuse keeps an event aside.
func (f *folding) refuse(b *correlation.Batch, l line, why error) error {
	f.log.Error().Err(why).Int64("event", l.n).Msg("an event is kept aside")
	var session, turn int
	if l.event != nil {
		session, turn = numbersOf(l.event)
	}
	f.aside = why
	b.At(time.Now())
	return b.Refuse(bytes.TrimSpace(l.text), session, turn, why.Error())
}

// file brings what a file has into the database, and then erases it there: nothing that was said is in two places for
// long. The process may go on writing.
func (f *folding) file(ctx context.Context, from file) error {
	in, h, start, err := from.open(os.O_RDWR)
	if err != nil {
		return err
	}
	defer in.Close()
	if h.Process.ID != from.process { // renamed by somebody
		return errNoHeader
	}
	f.header, f.had = h, -1
	at, last, first := start, int64(0), int64(-1)
	for buf := make([]byte, maxRead); ; {
		lines, end, err := from.readLines(in, at, &last, &buf)
		if err != nil {
			return err
		}
		if first < 0 && len(lines) > 0 {
			first = at
		}
		for len(lines) > 0 {
			began := time.Now()
			if lines, err = f.step(ctx, lines); err != nil {
				return err
			}
			if len(lines) > 0 {
				pace.Pause(ctx, began)
			}
		}
		if end == at {
			break
		}
		at = end
	}
	if first < 0 {
		return nil
	}
	if !f.own {
		if _, err := f.store.SyncLog(); err != nil {
			return err
		}
	}
	return blank(in, first, at)
}

// blank writes blank lines over a part of a file of events, which ends with a line.
func blank(w io.WriterAt, from, to int64) error {
	spaces := bytes.Repeat([]byte{' '}, int(min(maxRead, to-from)))
	spaces[len(spaces)-1] = '\n' // or it would be one line, of any length
	for ; from < to-1; from += int64(len(spaces)) {
		if _, err := w.WriteAt(spaces[:min(int64(len(spaces)), to-1-from)], from); err != nil {
			return err
		}
	}
	return nil
}

// refusalTold: a person knows that this process has kept an event aside.
var refusalTold atomic.Bool

// tells says what a transaction has changed and, once in a process, that it has kept an event aside.
func (f *folding) tells(did correlation.Changes) {
	if f.aside != nil && f.tell != nil && !refusalTold.Swap(true) {
		f.tell(fmt.Sprintf("some text cannot be saved, and is kept aside: %v; see signet-acp-proxy doctor", f.aside))
	}
	if f.did != nil {
		f.did(did)
	}
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
