package delegation

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Linked delegation is one with the sessions on its two sides, as rows of the table sessions.
type Linked struct {
	Delegation
	AskedBy  int64 // 0: a person, or a session that is forgotten
	WorkedBy int64 // 0: none yet, or one that is forgotten
}

// Linked gives delegations with their sessions, oldest first: those that a session asked for and the one that it works
// for, or with 0 all.
func (l *Ledger) Linked(ctx context.Context, session int64) ([]Linked, error) {
	all, err := sqlite.Collect(ctx, l.db, func(row sqlite.Row) (one Linked, err error) {
		one.Delegation, err = scanOne(row, &one.AskedBy, &one.WorkedBy)
		l.settle(&one.Delegation)
		return one, err
	}, `SELECT * FROM (SELECT `+columns+`,
			coalesce((SELECT session FROM session_keys WHERE key = caller), 0) AS asked_by,
			coalesce((SELECT id FROM sessions WHERE acp_id = d.acp_id AND acp_id <> ''
				ORDER BY parent_key = d.caller DESC, id DESC LIMIT 1), 0) AS worked_by
			FROM delegations d)
		WHERE ?1 = 0 OR asked_by = ?1 OR worked_by = ?1 ORDER BY id`, session)
	return all, sqlite.While("reading delegations", err)
}
