package eventlog

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/pace"
)

// maxImport is how many bytes of text one transaction of an import writes, give or take a turn.
const maxImport = 64 << 10

// An Importer folds in what other programs have written down. It writes no file: they have one, and it can be read
// again. It is for one goroutine.
type Importer struct {
	Store   *correlation.Store
	Process string // that is registered
	Now     func() time.Time
	Log     zerolog.Logger

	last *correlation.Import // whose session has the number n
	n    int
}

// Add folds in turns of a conversation that its session does not have (Import.NewTurns), after the event that opens it.
// It returns how many were folded in, also after an error. In a context of pace.Gently it pauses between transactions.
func (i *Importer) Add(
	ctx context.Context, of *correlation.Import, turns []correlation.TurnTold,
) (added int, err error) {
	for added < len(turns) {
		n, size := added, 0
		for n < len(turns) && size < maxImport {
			size += len(turns[n].Whole.User) + len(turns[n].Whole.Assistant)
			n++
		}
		began := time.Now()
		if err := i.fold(ctx, of, turns[added:n]); err != nil {
			return added, err
		}
		pace.Pause(ctx, began)
		added = n
	}
	return added, nil
}

// fold folds turns in, in one transaction.
func (i *Importer) fold(ctx context.Context, of *correlation.Import, turns []correlation.TurnTold) error {
	number := i.n
	if of != i.last {
		number++
	}
	err := i.Store.Batch(ctx, i.Process, func(b *correlation.Batch) error {
		if of != i.last {
			b.At(i.Now())
			if of.Session.ID != 0 { // it does not become more recent by being looked at
				b.At(of.Session.LastActive)
			}
			if err := b.Apply(correlation.Opened{Session: number, Open: of.Open}); err != nil {
				return err
			}
		}
		for _, t := range turns {
			t.Session = number
			if err := b.Apply(t); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		i.last, i.n = of, number
	}
	return err
}
