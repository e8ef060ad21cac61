package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// endLimit is how long storing the end of a process may take.
const endLimit = 3 * time.Second

// A Retention says how long turns are kept once they are not owed to anybody any more. What was learned from them is
// removed with them. Its zero value removes turns at once.
type Retention struct {
	Keep    time.Duration
	Unlearn correlation.Unlearn
}

// Expire removes turns that are older than that.
func (r Retention) expire(ctx context.Context, store *correlation.Store, log zerolog.Logger) {
	gone, err := store.Expire(ctx, time.Now().Add(-r.Keep), r.Unlearn)
	if err != nil && ctx.Err() == nil {
		log.Warn().Err(err).Msg("removing old turns")
	}
	if gone > 0 {
		log.Info().Int("turns", gone).Msg("old turns removed")
	}
}

// Run registers this process as a worker and works (worker.Run), then removes turns that were kept for deliveries only.
// Remaining is set with UntilSettled.
func Run(ctx context.Context, o Options, info correlation.ProcessInfo, r Retention, until Until) (Remaining, error) {
	info.Kind = correlation.Worker
	process, err := o.Store.Register(ctx, info)
	if err != nil {
		return Remaining{}, err
	}
	o.Process = process
	rest, err := newWorker(o).Run(ctx, until)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	err = errors.Join(err, process.End(end, "ended"))
	r.expire(end, o.Store, o.Log)
	return rest, err
}
