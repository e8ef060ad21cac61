package view

import (
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A pageScope says which sessions a page shows.
type pageScope struct {
	only  int64     // this session; 0: all that have a turn from since on
	since time.Time // when the first turn of the page began
}

// inScope is the SQL condition that a column session is one of the page's; its parameters come first.
const inScope = `CASE ?1 WHEN 0 THEN session IN (SELECT session FROM turns WHERE started >= ?2)
	ELSE session = ?1 END`

// args gives the parameters of inScope, and others behind them.
func (s pageScope) args(more ...any) []any {
	return append([]any{s.only, sqlite.Stamp(s.since)}, more...)
}
