package delivery

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// endLimit is how long removing old turns may take at the end.
const endLimit = 3 * time.Second

// A Retention says how long turns are kept once they are not owed to anybody any more. What was learned from them is
// removed with them. Its zero value removes turns at once.
type Retention struct {
	Keep    time.Duration
	Unlearn correlation.Unlearn
}

// expire removes turns that are older than that.
func (r Retention) expire(ctx context.Context, store *correlation.Store, log zerolog.Logger) {
	gone, err := store.Expire(ctx, time.Now().Add(-r.Keep), r.Unlearn)
	if err != nil && ctx.Err() == nil {
		log.Warn().Err(err).Msg("removing old turns")
	}
	if gone > 0 {
		log.Info().Int("turns", gone).Msg("old turns removed")
	}
}

// expire removes turns that were kept for deliveries only.
func (w *worker) expire(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	w.o.Retention.expire(ctx, w.o.Store, w.o.Log)
}
