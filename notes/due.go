package notes

import (
	"context"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// lookedAt is how many sessions are looked at whose notes may be due.
const lookedAt = 100

// Due returns the sessions whose notes are due: in 24 hours no more are noted than the limit says.
func (w Writer) Due(ctx context.Context) (due []int64, err error) {
	asked, err := w.Store.Book().Notings(ctx, correlation.Scope{Since: time.Now().Add(-24 * time.Hour)})
	if err != nil || len(asked) >= w.Limit {
		return nil, err
	}
	sessions, err := w.Store.ToNote(ctx, lookedAt)
	for _, id := range sessions {
		session, err := w.Store.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if _, _, err := w.Agent(session); err == nil && len(asked)+len(due) < w.Limit {
			due = append(due, id)
		}
	}
	return due, err
}
