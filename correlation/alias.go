package correlation

import (
	"context"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// BlockOwner returns the session of a harness that was first given a block, by the block's id, or ErrNotFound.
func (s *Store) BlockOwner(ctx context.Context, harness, blockID string) (Session, error) {
	return s.session(ctx, "looking a block up", `JOIN injections i ON i.session = s.id
		WHERE i.block_id = ? AND s.harness = ? ORDER BY i.id LIMIT 1`, blockID, harness)
}

// IsAlias reports whether an id is another name of a session that no process holds: one that its harness translates.
// listed are the ids, this one among them, under which the harness lists its sessions of that folder. An id that ends
// in the session's own is one. Any other may be that of a fork: a harness that lists a session by the id that it gave
// it translates none, and with more ids listed than there are sessions without a second name, somebody has made more.
func (s *Store) IsAlias(ctx context.Context, id string, of Session, listed []string) (bool, error) {
	const doing = "looking for a session's other name"
	type name struct {
		session         int64
		acpID           string
		alias, gave, in bool
	}
	names, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (n name, err error) {
		return n, row.Scan(&n.session, &n.acpID, &n.alias, &n.gave, &n.in)
	}, `SELECT s.id, s.acp_id, false, s.made > 0,
				s.cwd = ?2 AND EXISTS (SELECT 1 FROM turns WHERE session = s.id)
			FROM sessions s WHERE s.harness = ?1 AND s.replaced = 0
		UNION ALL SELECT session, acp_id, true, false, false FROM session_aliases
			WHERE harness = ?1`, of.Harness, of.Cwd)
	if err != nil {
		return false, sqlite.While(doing, err)
	}
	live, err := s.liveSessions(ctx)
	if err != nil || live[of.ID] {
		return false, sqlite.While(doing, err)
	}
	named, unknown := map[int64]bool{}, map[string]bool{}
	for _, one := range listed {
		unknown[storedID(one)] = true
	}
	for _, n := range names {
		if n.alias {
			named[n.session] = true
		}
		if n.gave && unknown[n.acpID] || named[of.ID] {
			return false, nil
		}
		if !n.gave {
			delete(unknown, n.acpID)
		}
	}
	nameless := slices.DeleteFunc(names, func(n name) bool { return !n.gave || !n.in || named[n.session] })
	return unknown[storedID(id)] && (strings.HasSuffix(id, of.ACPID) || len(unknown) <= len(nameless)), nil
}
