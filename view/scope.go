package view

import (
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A scope says which sessions a page shows.
type scope struct {
	only  int64     // one session; 0: all that have a turn since
	since time.Time // when the first turn of the page began
}

// inScope is the condition on a column session that it is one of the page's; its parameters come first.
const inScope = `CASE ?1 WHEN 0 THEN session IN (SELECT session FROM turns WHERE started >= ?2)
	ELSE session = ?1 END`

// args gives the parameters of inScope, and others behind them.
func (s scope) args(more ...any) []any {
	return append([]any{s.only, sqlite.Stamp(s.since)}, more...)
}
