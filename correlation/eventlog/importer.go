package eventlog

import (
	"context"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/pace"
)

// maxImport is how many bytes of text one transaction of an import writes, give or take a turn. Conversations share it:
// each transaction writes a page of every index.
const maxImport = 128 << 10

// An Importer folds in what other programs have written down. It writes no file: they have one, and it can be read
// again. It is for one goroutine.
type Importer struct {
	Store   *correlation.Store
	Process string // that is registered
	Now     func() time.Time

	waiting []waiting           // for Flush
	size    int                 // bytes of these
	last    *correlation.Import // whose session has the number n
	n       int
}

// A waiting turn is still to be folded in.
type waiting struct {
	of   *correlation.Import
	turn correlation.TurnTold
}

// Add folds in turns of a conversation that its session does not have (Import.NewTurns), after the event that opens
// it. Some wait for more of the same and other conversations, or for Flush. In a context of pace.Gently it pauses
// between transactions.
func (i *Importer) Add(ctx context.Context, of *correlation.Import, turns []correlation.TurnTold) error {
	for _, t := range turns {
		i.waiting = append(i.waiting, waiting{of, t})
		if i.size += len(t.Whole.User) + len(t.Whole.Assistant); i.size < maxImport {
			continue
		}
		if err := i.Flush(ctx); err != nil {
			return err
		}
	}
	if of.Session.ID != 0 { // other conversations may be found by this session's names, too
		return i.Flush(ctx)
	}
	return nil
}

// Waits reports whether turns of a new session wait, by its ACP id. They are flushed before it is looked for.
func (i *Importer) Waits(acpID string) bool {
	return slices.ContainsFunc(i.waiting, func(w waiting) bool { return w.of.Open.ACPID == acpID })
}

// Flush folds in what waits, in one transaction.
func (i *Importer) Flush(ctx context.Context) error {
	if len(i.waiting) == 0 {
		return nil
	}
	began := time.Now()
	last, n := i.last, i.n
	err := i.Store.Batch(ctx, i.Process, func(b *correlation.Batch) error {
		for _, w := range i.waiting {
			if w.of != last {
				last, n = w.of, n+1
				if err := i.open(b, w.of, n); err != nil {
					return err
				}
			}
			w.turn.Session = n
			if err := b.Apply(w.turn); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	i.waiting, i.size, i.last, i.n = i.waiting[:0], 0, last, n
	pace.Pause(ctx, began)
	return nil
}

func (i *Importer) open(b *correlation.Batch, of *correlation.Import, n int) error {
	b.At(i.Now())
	if of.Session.ID != 0 { // it does not become more recent by being looked at
		b.At(of.Session.LastActive)
	}
	return b.Apply(correlation.Opened{Session: n, Open: of.Open})
}
