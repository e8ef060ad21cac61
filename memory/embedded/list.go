package embedded

import (
	"context"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Filter says which memories to list.
type Filter struct {
	Type    string     // empty: any
	Project string     // of this project, and the person's own; empty: all
	Within  bool       // an empty Project means that there is none, not all
	Said    bool       // passages of conversations as well
	Notes   bool       // what agents noted of their sessions, alone
	From    memory.Who // that came so; empty: any
	Limit   int        // 0: 100
	Offset  int
}

// List returns memories, the newest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Memory, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	const which = ` WHERE (?1 = '' OR type = ?1) AND (?6 = '' OR who = ?6)
		AND (NOT ?7 OR source = '` + sourceNotes + `') AND (NOT ?5 AND ?2 = '' OR project IN (?2, '') OR personal)`
	query := `SELECT ` + memoryColumns + `, m.created AS at, m.id AS n FROM memories m` + strings.NewReplacer("type",
		"m.type", "who", "m.who", "source", "m.source", "project", "m.project", "personal", "m.personal").Replace(which)
	if f.Said {
		query += ` UNION ALL SELECT ` + passageColumns + `, p.created, p.id FROM passages p ` + passageJoins +
			strings.NewReplacer("type", "'said'", "who", "p.who", "source", "''", "project", "p.project",
				"personal", "p.personal").Replace(which) + ` AND p.memory IS NULL`
	}
	all, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (Memory, error) {
		var at, n int64
		return scanMemoryAnd(row, &at, &n)
	}, s.across(query)+` ORDER BY at DESC, n DESC LIMIT ?3 OFFSET ?4`,
		f.Type, f.Project, f.Limit, max(f.Offset, 0), f.Within, f.From, f.Notes)
	from := map[string]string{}
	for i, m := range all {
		if _, known := from[m.Project]; !known {
			from[m.Project] = memory.Repository(m.Project)
		}
		all[i].Repository = from[m.Project]
	}
	return all, sqlite.While("listing memories", err)
}

// Beginnings returns the beginnings of memories, and of passages that sessions were told, by id, as far as they are
// still known.
func (s *Store) Beginnings(ctx context.Context, ids []string, characters int) (map[string]string, error) {
	texts, err := sqlite.Pairs[string, string](ctx, s.db,
		`WITH items AS MATERIALIZED (SELECT DISTINCT value FROM json_each(?1))
		SELECT uid, substr(content, 1, ?2) FROM items JOIN memories ON uid = value UNION ALL
		SELECT uid, substr(content, 1, ?2) FROM items CROSS JOIN passages
			ON uid = value AND uid IS NOT NULL WHERE memory IS NULL`,
		sqlite.List(ids), characters)
	return texts, sqlite.While("reading memories", err)
}

// ToldPassages returns those passages of conversations that have one of some ids, the newest first, at most most.
func (s *Store) ToldPassages(ctx context.Context, ids []string, most int) ([]Memory, error) {
	all, err := sqlite.Collect(ctx, s.db, scanMemory, `SELECT `+passageColumns+` FROM passages p `+passageJoins+`
		WHERE p.uid IN (SELECT value FROM json_each(?)) AND p.memory IS NULL ORDER BY p.created DESC, `+
		`p.id DESC LIMIT ?`,
		sqlite.List(ids), most)
	return all, sqlite.While("listing what was told", err)
}

// Kinds returns which types of memories there are, and how they came; only Type and Who are set.
func (s *Store) Kinds(ctx context.Context) ([]Memory, error) {
	kinds, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (m Memory, err error) {
		return m, row.Scan(&m.Type, &m.Who)
	}, `SELECT type, who FROM memories GROUP BY type, who ORDER BY count(*) DESC`)
	return kinds, sqlite.While("listing kinds of memories", err)
}

// Count returns how many memories there are.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM memories`).Scan(&n)
	return n, sqlite.While("counting memories", err)
}

// Pulse returns a text that differs once memories have changed.
func (s *Store) Pulse(ctx context.Context) (pulse string, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) || ' ' || coalesce(max(id), 0) || ' ' || coalesce(max(updated), 0)
		FROM memories`).Scan(&pulse)
	return pulse, sqlite.While("looking for what is new", err)
}
