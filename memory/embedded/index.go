package embedded

import (
	"context"
	"database/sql"
	"encoding/binary"
	"strings"
	"time"

	"crypto/sha256"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Derived are the tables that the index is kept up with: whoever puts rows back leaves them alone, and the index follows
// with the next Learn.
var Derived = []string{"memories_stale", "passages_stale", "passages_total"}

// catchUp indexes what an older version left, until a time.
func (s *Store) catchUp(ctx context.Context, until time.Time) error {
	const doing = "bringing the index up to date"
	for {
		var stale bool
		err := s.db.QueryRowContext(ctx,
			`SELECT EXISTS (SELECT 1 FROM memories_stale) OR EXISTS (SELECT 1 FROM passages_stale)`).Scan(&stale)
		if err != nil || !stale {
			return sqlite.While(doing, err)
		}
		if err := sqlite.Write(ctx, s.db, doing,
			func(tx *sql.Tx) error { return s.refreshSome(ctx, tx, atOnce) }); err != nil {
			return err
		}
		if time.Now().After(until) {
			return nil
		}
	}
}

// atOnce is how many rows are indexed in one transaction that nothing else needs, so that no prompt waits for it.
const atOnce = 64

// mostNow is how many rows are indexed in a transaction that changed some: its own are the newest, older ones are
// what an older version left.
const mostNow = 512

// refresh brings the index up to date with the rows that changed, in the transaction that changed them.
func (s *Store) refresh(ctx context.Context, tx *sql.Tx) error { return s.refreshSome(ctx, tx, -1) }

func (s *Store) refreshSome(ctx context.Context, tx *sql.Tx, most int) error {
	if err := passagesOfMemories(ctx, tx, most); err != nil {
		return err
	}
	type entry struct {
		id                        int64
		content, context, project string
		personal, gone            bool
		traits                    traits
	}
	stale, err := sqlite.Collect(ctx, tx, func(row sqlite.Row) (e entry, err error) {
		return e, row.Scan(&e.id, &e.content, &e.context, &e.project, &e.personal, &e.gone, &e.traits)
	}, `SELECT passage, coalesce(m.content, p.content, ''), coalesce(m.context || ' ' || m.tags, ''), coalesce(p.project,
		''), coalesce(p.personal, 0), p.id IS NULL, coalesce(p.traits, 0)
		FROM passages_stale LEFT JOIN passages p ON p.id = passage LEFT JOIN memories m ON m.id = p.memory
		ORDER BY p.id IS NULL DESC, passage DESC LIMIT ?`, most)
	if err != nil || len(stale) == 0 {
		return err
	}
	for _, e := range stale {
		if _, err := tx.ExecContext(ctx, `DELETE FROM passages_fts WHERE rowid = ?`, e.id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM passages_stale WHERE passage = ?`, e.id); err != nil {
			return err
		}
		if e.gone {
			continue
		}
		scope := projectTerm(e.project)
		if e.personal || e.project == "" {
			scope += " " + anyProject
		}
		if e.traits.has(newer) {
			scope += " " + changeTerm
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO passages_fts (rowid, content, context, scope) VALUES (?, ?, ?, ?)`,
			e.id, strings.Join(language.Terms(e.content), " "), strings.Join(language.Terms(e.context), " "), scope)
		if err != nil {
			return err
		}
	}
	return nil
}

// passagesOfMemories makes the passages of memories that changed. What was learned from a turn has one only where it is
// true of the person: the turn's own passages say it, in their project.
func passagesOfMemories(ctx context.Context, tx *sql.Tx, most int) error {
	stale, err := sqlite.Collect(ctx, tx, func(row sqlite.Row) (m storedText, err error) {
		return m, row.Scan(&m.id, &m.gone, &m.source, &m.content, &m.key, &m.position, &m.origin, &m.project,
			&m.personal, &m.created)
	}, `SELECT memory, id IS NULL, coalesce(source, ''), coalesce(content, ''), coalesce(key, ''), position,
		coalesce(origin, ''), coalesce(project, ''), coalesce(personal, 0), coalesce(created, 0)
		FROM memories_stale LEFT JOIN memories ON id = memory ORDER BY id IS NULL DESC, memory DESC LIMIT ?`, most)
	if err != nil || len(stale) == 0 {
		return err
	}
	for _, m := range stale {
		if _, err := tx.ExecContext(ctx, `DELETE FROM memories_stale WHERE memory = ?`, m.id); err != nil {
			return err
		}
		if m.gone || m.source == sourceTurn && !m.personal {
			if _, err := tx.ExecContext(ctx, `DELETE FROM passages WHERE memory = ?`, m.id); err != nil {
				return err
			}
			continue
		}
		read := language.Read(m.content)
		thread := int64(0)
		if m.position.Valid && m.key != "" {
			thread = threadOf(m.project, m.key)
		}
		// the trigger notes it again: under an upsert's rules it could not where it is noted already
		_, err := tx.ExecContext(ctx, `DELETE FROM passages_stale WHERE passage IN (SELECT id FROM passages
			WHERE memory = ?)`, m.id)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO passages (memory, thread, position, origin, project, personal, created,
			traits, length) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (memory) WHERE memory IS NOT NULL DO UPDATE
			SET memory = excluded.memory, thread = excluded.thread, position = excluded.position, origin = excluded.origin,
			project = excluded.project,
				personal = excluded.personal, created = excluded.created, traits = excluded.traits, length = excluded.length`,
			m.id, thread, m.position.Float64, m.origin, m.project, m.personal, m.created, traitsOf(m.content, read),
			len(read.Terms))
		if err != nil {
			return err
		}
	}
	return nil
}

// storedText is a memory as its passage is made of it.
type storedText struct {
	id                            int64
	gone, personal                bool
	source, content, key, project string
	origin                        string
	position                      sql.NullFloat64
	created                       int64
}

// threadOf names the conversation that imported memories are of.
func threadOf(project, session string) int64 {
	sum := sha256.Sum256([]byte(project + "\x00" + session))
	return -int64(binary.BigEndian.Uint64(sum[:8])>>2) - 1
}

// Terms of the column scope. Private use characters stand in no term of a text.
const (
	anyProject = "\ue000" // of what every project may see
	changeTerm = "\ue001" // of what says that something changed
)

// projectTerm stands for a project, whose path is no term.
func projectTerm(project string) string { return "\ue002" + digest(project)[:12] }

// quote makes a term a string of FTS5's query language.
func quote(term string) string { return `"` + strings.ReplaceAll(term, `"`, `""`) + `"` }
