package delivery

import (
	"context"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// endLimit is how long removing old turns may take at the end of a worker's work.
const endLimit = 3 * time.Second

// A Retention says how long turns are kept once they are not owed to anybody any more. What was learned from them is
// removed with them. Its zero value removes turns at once.
type Retention struct {
	Keep    time.Duration
	Unlearn correlation.Unlearn
}

// expire removes turns that are older than that.
func (w *Worker) expire(ctx context.Context) {
	gone, err := w.Store.Expire(ctx, time.Now().Add(-w.Retention.Keep), w.Retention.Unlearn)
	if err != nil && ctx.Err() == nil {
		w.Log.Warn().Err(err).Msg("removing old turns")
	}
	if gone > 0 {
		w.Log.Info().Int("turns", gone).Msg("old turns removed")
	}
}
