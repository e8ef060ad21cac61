package embedded

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Whether memories help: what a session was told is looked for in its answers. Where words of it come back that the
// person did not say, it was used. What is told often and never used sinks in the ranking.

const (
	wordsNeeded = 2 // different words that must come back, or all where an item has fewer
)

// noteUse notes which items a turn's session was told, and which of them the turn's answer uses.
func (s *Store) noteUse(ctx context.Context, tx *sql.Tx, t correlation.Said) error {
	told, err := correlation.ItemsInserted(ctx, tx, t.Session)
	if err != nil || len(told) == 0 {
		return err
	}
	used, err := sqlite.Collect(ctx, tx, sqlite.One[string],
		`SELECT item FROM passages_told WHERE session = ? AND used`, t.Session)
	if err != nil {
		return err
	}
	answer, asked := language.SetOf(language.Terms(t.Assistant)), language.SetOf(language.Terms(t.User))
	for _, item := range told {
		if slices.Contains(used, item) {
			continue
		}
		m, err := memoryOf(ctx, tx, item)
		if errors.Is(err, ErrNotFound) { // an item of the daemon's, or forgotten since
			continue
		}
		if err != nil {
			return err
		}
		if err := addOne(ctx, tx, "given", item, `INSERT OR IGNORE INTO passages_told (session, item) VALUES (?, ?)`,
			t.Session); err != nil {
			return err
		}
		if isUsed(m.Content, asked, answer) {
			if err := addOne(ctx, tx, "used", item, `UPDATE passages_told SET used = 1 WHERE session = ? AND item = ?
				AND used = 0`, t.Session); err != nil {
				return err
			}
		}
	}
	return nil
}

// addOne runs a statement about an item and a session, and where that changed a row adds one to the column of the
// item's passage.
func addOne(ctx context.Context, tx *sql.Tx, column, item, statement string, session int64) error {
	r, err := tx.ExecContext(ctx, statement, session, item)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE passages SET `+column+` = `+column+` + 1 WHERE uid = ?1 OR memory = (SELECT id
		FROM memories WHERE uid = ?1)`, item)
	return err
}

// isUsed reports whether an answer has enough words of what was told that the person did not say.
func isUsed(told string, asked, answer language.Set) bool {
	telling, back := 0, 0
	for t := range language.SetOf(language.Terms(told)) {
		if asked[t] || language.Common(t) {
			continue
		}
		telling++
		if answer[t] {
			back++
		}
	}
	return back > 0 && back >= min(wordsNeeded, telling)
}

// A Use is an item that a session was told.
type Use struct {
	ID   string
	Used bool // an answer used it
}

// Uses gives the items of this store that a session (its row's id) was told.
func (s *Store) Uses(ctx context.Context, session int64) ([]Use, error) {
	all, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (u Use, err error) {
		return u, row.Scan(&u.ID, &u.Used)
	}, `SELECT item, used FROM passages_told WHERE session = ? ORDER BY item`, session)
	return all, sqlite.While("reading what was used", err)
}

// ToldPassages gives passages of conversations that sessions were told, the newest first, at most limit.
func (s *Store) ToldPassages(ctx context.Context, limit int) ([]Memory, error) {
	all, err := sqlite.Collect(ctx, s.db, scanMemory, `SELECT `+passageColumns+` FROM passages p `+passageJoins+`
		WHERE p.given > 0 AND p.memory IS NULL ORDER BY p.created DESC, p.id DESC LIMIT ?`, limit)
	return all, sqlite.While("listing what was told", err)
}
