package correlation

import (
	"context"
	"encoding/json"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Usage is what a harness reported as used by a turn, or by its session so far. nil: not reported.
type Usage struct {
	Reporter    string          `json:"reporter"` // update, result, quota
	Input       *int64          `json:"input,omitempty"`
	Output      *int64          `json:"output,omitempty"`
	CachedRead  *int64          `json:"cachedRead,omitempty"`
	CachedWrite *int64          `json:"cachedWrite,omitempty"`
	Thought     *int64          `json:"thought,omitempty"`
	Total       *int64          `json:"total,omitempty"`
	ContextUsed *int64          `json:"contextUsed,omitempty"`
	ContextSize *int64          `json:"contextSize,omitempty"`
	Cost        *float64        `json:"cost,omitempty"`
	Currency    string          `json:"currency,omitempty"`
	Raw         json.RawMessage `json:"raw,omitempty"` // as it was reported
}

// Windows returns what was reported last of how much of a model's window each session takes.
func (s Book) Windows(ctx context.Context, in Scope) (map[int64]Usage, error) {
	found := map[int64]Usage{}
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var session int64
		var u Usage
		err := row.Scan(&session, &u.ContextUsed, &u.ContextSize)
		found[session] = u
		return err
	}, `SELECT session, context_used, context_size FROM usage WHERE id IN (
		SELECT max(id) FROM usage WHERE context_used IS NOT NULL AND `+in.where("session")+`
		GROUP BY session)`, in.sessions())
	return found, sqlite.While("reading usage", err)
}
