package embedded

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Forget takes a memory out of everything that is searched or learned from: the index, the turns that say it, the
// memories of the same project that say the same (of a rule, however it was said), and stored contexts that wait for a
// session. The same turn never teaches it again, and nothing of it is kept for an undo. What was inserted into a prompt
// stays in the ledger. Errors: ErrNotFound, ErrAmbiguous, package sqlite's.
func (s *Store) Forget(ctx context.Context, id string) error {
	if err := s.Remove(ctx, id); err != nil {
		return err
	}
	return s.Erase(ctx)
}

// Remove is Forget in the database alone; Erase is the rest.
func (s *Store) Remove(ctx context.Context, id string) error {
	return sqlite.Write(ctx, s.db, "forgetting a memory", func(tx *sql.Tx) error {
		uid, err := resolve(ctx, tx, id)
		if err != nil {
			return err
		}
		m, err := memoryOf(ctx, tx, uid)
		if err != nil {
			return err
		}
		others, err := s.sameLine(ctx, tx, m)
		if err != nil {
			return err
		}
		for _, m := range append(others, m) {
			if err := s.removeOne(ctx, tx, m); err != nil {
				return err
			}
		}
		return refresh(ctx, tx, maxRelearned)
	})
}

// RemoveAll is Remove for many memories, and for passages of conversations: these go out of the turns that they were
// said in, and stay where somebody else said the same.
func (s *Store) RemoveAll(ctx context.Context, list []Memory) error {
	passages := map[string]bool{}
	for _, m := range list {
		if m.Type == typeSaid {
			passages[m.ID] = true
		} else if err := s.Remove(ctx, m.ID); err != nil && !errors.Is(err, ErrNotFound) {
			return err // what says the same as one before is gone with it
		}
	}
	turns, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT DISTINCT turn FROM passages
		WHERE uid IN (SELECT value FROM json_each(?))`, sqlite.List(slices.Sorted(maps.Keys(passages))))
	for _, turn := range turns {
		if err == nil {
			err = sqlite.Write(ctx, s.db, "forgetting what was said", func(tx *sql.Tx) error {
				return removeFromTurn(ctx, tx, turn, passages)
			})
		}
	}
	return sqlite.While("forgetting what was said", err)
}

// removeFromTurn takes passages, by their ids, out of a turn.
func removeFromTurn(ctx context.Context, tx *sql.Tx, turn int64, passages map[string]bool) error {
	t, err := correlation.SaidIn(ctx, tx, turn)
	if err != nil {
		return err
	}
	said, err := sqlite.Collect(ctx, tx, func(row sqlite.Row) (m Memory, err error) {
		return m, row.Scan(&m.ID, &m.Content, &m.Who)
	}, `SELECT uid, content, who FROM passages WHERE turn = ?`, turn)
	if err != nil {
		return err
	}
	for _, m := range said {
		if !passages[m.ID] {
			continue
		}
		side := &t.Assistant
		if m.Who.ByPerson() {
			side = &t.User
		}
		*side = cutPassages(*side, patternsOf(m.Content))
		if err := correlation.Unteach(ctx, tx, turn, digest(m.Content)); err != nil {
			return err
		}
	}
	if err := correlation.Reword(ctx, tx, t); err != nil {
		return err
	}
	return learnAgain(ctx, tx, turn)
}

func (s *Store) removeOne(ctx context.Context, tx *sql.Tx, m Memory) error {
	if err := forgetInTurn(ctx, tx, m.ID); err != nil {
		return err
	}
	if err := s.forgetSame(ctx, tx, m); err != nil {
		return err
	}
	changed, err := forgetTurns(ctx, tx, m)
	if err != nil {
		return err
	}
	for _, id := range changed {
		if err := learnAgain(ctx, tx, id); err != nil {
			return err
		}
	}
	return correlation.DropContexts(ctx, tx, m.ID)
}

// Erase takes what was removed from the database out of event files, and out of SQLite's write-ahead log.
func (s *Store) Erase(ctx context.Context) error {
	if err := s.EraseWords(ctx); err != nil {
		return err
	}
	if s.opts.Erase != nil {
		if err := s.opts.Erase(ctx); err != nil {
			return err
		}
	}
	// The log still holds what was deleted. Where another process reads it just now, a later checkpoint empties it.
	var busy, logged, folded int
	return sqlite.While("emptying the log", s.db.QueryRowContext(ctx,
		`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &logged, &folded))
}

// forgetSame deletes m and what says the same in its project, and takes it out of what others were said about (their
// context). What a person or a tool stored is deleted only where it is the same text: other words for the same are no
// proof that the person wants it gone.
func (s *Store) forgetSame(ctx context.Context, tx *sql.Tx, m Memory) error {
	what := gistOf(m.Content)
	all, err := sqlite.Collect(ctx, tx, func(row sqlite.Row) (same Memory, err error) {
		return same, row.Scan(&same.ID, &same.Turn, &same.Content, &same.Context, &same.Source)
	}, `SELECT uid, coalesce(turn, 0), content, context, source FROM memories WHERE project = ?`, m.Project)
	if err != nil {
		return err
	}
	for _, same := range all {
		d := digest(same.Content)
		if same.ID != m.ID && d != what.digest && !(same.Source == sourceTurn && what.isAll(same.Content)) {
			about := what.cut(same.Context)
			if about == same.Context {
				continue
			}
			if _, err := tx.ExecContext(ctx, `UPDATE memories SET context = ? WHERE uid = ?`, about,
				same.ID); err != nil {
				return err
			}
			continue
		}
		if same.Turn != 0 {
			if err := correlation.Unteach(ctx, tx, same.Turn, d); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM memories WHERE uid = ?`, same.ID); err != nil {
			return err
		}
	}
	return nil
}

// forgetTurns takes what m says out of the turns of all projects that say it in the same words, and out of the turns of
// its own project that say it in other words. changed are the turns' ids.
func forgetTurns(ctx context.Context, tx *sql.Tx, m Memory) (changed []int64, err error) {
	what := gistOf(m.Content)
	probe := probeOf(m.Content)
	if probe == "" {
		return nil, nil
	}
	turns, err := correlation.SaidContaining(ctx, tx, probe)
	if err != nil {
		return nil, err
	}
	for _, t := range turns {
		cut := func(text string) string { return cutPassages(text, what.passages) }
		if t.Project == m.Project {
			cut = what.cut
		}
		user, answer := cut(t.User), cut(t.Assistant)
		if user == t.User && answer == t.Assistant {
			continue
		}
		t.User, t.Assistant = user, answer
		if err := correlation.Reword(ctx, tx, t); err != nil {
			return nil, err
		}
		changed = append(changed, t.Turn)
	}
	return changed, nil
}

// Unlearn removes what was learned from turns, in the transaction that deletes them. It is a correlation.Unlearn.
func (s *Store) Unlearn(ctx context.Context, tx *sql.Tx, turns []int64) error {
	list := sqlite.List(turns)
	for _, table := range []string{"memories", "passages"} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE turn IN (SELECT value FROM json_each(?))`,
			list); err != nil {
			return err
		}
	}
	return refresh(ctx, tx, 0)
}

// Learned is how much was taken in from conversations.
type Learned struct{ Passages, Memories int }

// LearnedFrom counts what was learned from sessions (ids of their rows), and so goes when they go.
func (s *Store) LearnedFrom(ctx context.Context, sessions []int64) (l Learned, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM passages
		WHERE thread <> 0 AND thread IN (SELECT value FROM json_each(?1))),
		(SELECT count(*) FROM memories WHERE turn IS NOT NULL AND session IN (SELECT value
		FROM json_each(?1)))`, sqlite.List(sessions)).Scan(&l.Passages, &l.Memories)
	return l, sqlite.While("counting what was learned", err)
}

// forgetInTurn notes that a turn does not teach a memory or passage any more, and deletes its passages that say it: the
// memory says something else from now on, or goes.
func forgetInTurn(ctx context.Context, tx *sql.Tx, uid string) error {
	turns, err := sqlite.Pairs[int64, string](ctx, tx, `SELECT turn, digest FROM memories
		WHERE uid = ? AND turn IS NOT NULL`, uid)
	for turn, d := range turns {
		if err == nil {
			err = correlation.Unteach(ctx, tx, turn, d)
		}
	}
	if err != nil {
		return err
	}
	said, err := sqlite.Collect(ctx, tx, func(row sqlite.Row) (m Memory, err error) {
		return m, row.Scan(&m.Turn, &m.ID, &m.Content)
	}, `SELECT turn, uid, content FROM passages WHERE uid = ?1 OR turn IN (SELECT turn FROM memories
			WHERE uid = ?1)`, uid)
	if err != nil {
		return err
	}
	for _, p := range said {
		d := digest(p.Content)
		gone, err := correlation.Untaught(ctx, tx, p.Turn)
		if err != nil {
			return err
		}
		if p.ID != uid && !slices.Contains(gone, d) {
			continue
		}
		if err := correlation.Unteach(ctx, tx, p.Turn, d); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM passages WHERE uid = ?`, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// dropSayings deletes the other rows of a memory's rule. Their turns do not teach them again.
func (s *Store) dropSayings(ctx context.Context, tx *sql.Tx, m Memory) error {
	others, err := s.sameLine(ctx, tx, m)
	if err != nil {
		return err
	}
	for _, other := range others {
		if err := forgetInTurn(ctx, tx, other.ID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM memories WHERE uid = ?`, other.ID); err != nil {
			return err
		}
	}
	return nil
}
