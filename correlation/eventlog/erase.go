package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// An Eraser erases what was said in sessions from the files of events of living processes, which keep it for a while
// after it is folded in.
//
//	eraser, err := eventlog.Sweep{Store: store, Living: true}.Eraser(ctx) // before the sessions go
//	gone, err := store.Forget(ctx, session, unlearn)
//	err = eraser.Erase(ctx, gone.Sessions)
type Eraser struct {
	sweep   Sweep
	numbers []correlation.EventNumbers
}

// Eraser folds in all files, so that everything can be forgotten, and remembers the sessions of the numbers in them.
// Call it before the sessions are removed from the database.
func (s Sweep) Eraser(ctx context.Context) (*Eraser, error) {
	s.Living = true
	if _, err := s.Run(ctx); err != nil {
		return nil, fmt.Errorf("taking in what is not in the database yet: %w", err)
	}
	numbers, err := s.Store.EventNumbers(ctx)
	return &Eraser{s, numbers}, err
}

// Erase overwrites the lines of sessions that are gone from the database. What their processes record from now on is
// not kept either: they find that the sessions are gone.
func (e *Eraser) Erase(ctx context.Context, sessions []int64) error {
	gone := map[int64]bool{}
	for _, id := range sessions {
		gone[id] = true
	}
	type of struct{ sessions, turns map[int]bool }
	processes := map[string]of{}
	for _, n := range e.numbers {
		if !gone[n.Session] {
			continue
		}
		p, known := processes[n.Process]
		if !known {
			p = of{map[int]bool{}, map[int]bool{}}
			processes[n.Process] = p
		}
		if n.Turn {
			p.turns[n.N] = true
		} else {
			p.sessions[n.N] = true
		}
	}
	if len(processes) == 0 {
		return nil
	}
	files, err := filesIn(e.sweep.Store.LiveDir())
	for _, f := range files {
		if p, named := processes[f.process]; named {
			err = errors.Join(err, f.erase(ctx, p.sessions, p.turns))
		}
	}
	return err
}

// EraseFolded overwrites, in the files of living processes, all text that was folded in: some of it was forgotten in
// the database.
func (s Sweep) EraseFolded(ctx context.Context) error {
	s.Living = true
	if _, err := s.Run(ctx); err != nil {
		return fmt.Errorf("taking in what is not in the database yet: %w", err)
	}
	files, err := filesIn(s.Store.LiveDir())
	for _, f := range files {
		number, position, dbErr := s.Store.EventPosition(ctx, f.process)
		switch err = errors.Join(err, dbErr); {
		case dbErr != nil || number < f.number:
		case number > f.number:
			err = errors.Join(err, f.overwrite(ctx, math.MaxInt64, correlation.HoldsText))
		default:
			err = errors.Join(err, f.overwrite(ctx, position, correlation.HoldsText))
		}
	}
	return err
}

// erase overwrites the lines of sessions and turns, by their numbers.
func (f file) erase(ctx context.Context, sessions, turns map[int]bool) error {
	return f.overwrite(ctx, math.MaxInt64, func(e correlation.Event) bool { return concerns(e, sessions, turns) })
}

// overwrite makes events before a position say nothing. Others may append to the file, and fold it in, meanwhile.
func (f file) overwrite(ctx context.Context, before int64, which func(correlation.Event) bool) error {
	w, _, at, err := f.open(os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("erasing in %s: %w", f.path, err)
	}
	buf := make([]byte, maxRead)
	for err == nil && at < before {
		var lines []line
		var end int64
		if lines, end, err = readLines(w, at, &buf); err != nil || end == at {
			break
		}
		for _, l := range lines {
			if l.end <= before && which(l.event) {
				err = errors.Join(err, eraseLine(w, at, l.end))
			}
			at = l.end
		}
		at = end
		err = errors.Join(err, ctx.Err())
	}
	return errors.Join(err, w.Close())
}

// concerns reports whether an event is of one of the sessions or turns. It adds the turns of these sessions to turns.
func concerns(e correlation.Event, sessions, turns map[int]bool) bool {
	session, turn := numbersOf(e)
	if turn != 0 && sessions[session] {
		turns[turn] = true
	}
	return sessions[session] || turns[turn]
}

// eraseLine replaces the last line before end, which begins at from or later, by an Erased event of the same length.
func eraseLine(w *os.File, from, end int64) error {
	old := make([]byte, end-from)
	if _, err := w.ReadAt(old, from); err != nil {
		return err
	}
	if i := bytes.LastIndexByte(old[:len(old)-1], '\n'); i >= 0 { // what stands before it was no event
		old, from = old[i+1:], from+int64(i)+1
	}
	erased := fmt.Appendf(nil, `{"at":0,"kind":%q}`, correlation.KindOf(correlation.Erased{}))
	if len(erased) >= len(old) { // no event of ours is that short
		erased = []byte("{}")
	}
	erased = append(erased, bytes.Repeat([]byte{' '}, len(old)-len(erased)-1)...)
	_, err := w.WriteAt(append(erased, '\n'), from)
	return err
}
