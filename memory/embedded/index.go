package embedded

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// The full-text index follows the rows of memories and passages: triggers note in tables which rows have changed
// ("stale"). A few are indexed in the transaction that changed them; many are indexed beside the conversations, in
// transactions so short that no prompt waits for them.

// Derived is the table by which the index is kept up to date. Whoever restores rows leaves it out; the next Learn
// indexes what was restored.
var Derived = []string{"passages_index"}

const (
	maxInline    = 16                   // rows indexed by a transaction that changed some: the newest, so its own
	maxRelearned = 512                  // the same where turns are learned from anew
	maxStale     = 64                   // rows indexed by a transaction that does nothing else,
	writeTime    = 5 * time.Millisecond // after which it begins no further row
)

// foldAll indexes what is stale, the newest first, until the time until; the zero time is never.
func (s *Store) foldAll(ctx context.Context, until time.Time) error {
	const doing = "bringing the index up to date"
	for until.IsZero() || time.Now().Before(until) {
		stale, err := sqlite.One[bool](s.db.QueryRowContext(ctx,
			`SELECT EXISTS (SELECT 1 FROM passages_index WHERE kind IN ('memory', 'passage'))`))
		if err != nil || !stale {
			return sqlite.While(doing, err)
		}
		began := time.Now()
		if err := sqlite.Write(ctx, s.db, doing, func(tx *sql.Tx) error {
			return indexStale(ctx, tx, maxStale, time.Now().Add(writeTime))
		}); err != nil {
			return err
		}
		pace.Pause(ctx, began)
	}
	return nil
}

// refresh brings the index up to date in the transaction that changed rows: entries of rows that are gone are deleted,
// and the newest of the others are indexed, at most most memories and most passages.
func refresh(ctx context.Context, tx *sql.Tx, most int) error {
	for _, statement := range []string{
		`DELETE FROM passages WHERE memory IN (SELECT id FROM passages_index i WHERE kind = 'memory'
			AND NOT EXISTS (SELECT 1 FROM memories WHERE id = i.id))`,
		`DELETE FROM passages_fts WHERE rowid IN (` + gonePassages + `)`,
		`DELETE FROM passages_index WHERE kind = 'passage' AND id IN (` + gonePassages + `)`,
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return indexStale(ctx, tx, most, time.Time{})
}

const gonePassages = `SELECT id FROM passages_index i WHERE kind = 'passage'
	AND NOT EXISTS (SELECT 1 FROM passages WHERE id = i.id)`

// indexStale indexes the newest stale rows, at most most of memories and most of passages, until the time until; the
// zero time is never.
func indexStale(ctx context.Context, tx *sql.Tx, most int, until time.Time) error {
	memories, err := sqlite.Collect(ctx, tx, func(row sqlite.Row) (m storedMemory, err error) {
		return m, row.Scan(&m.id, &m.gone, &m.source, &m.content, &m.key, &m.position, &m.who, &m.context, &m.project,
			&m.personal, &m.created)
	}, `SELECT i.id, m.id IS NULL, coalesce(source, ''),
		coalesce(content, ''), coalesce(key, ''), position, coalesce(who, ''), coalesce(context || ' ' || tags, ''),
		coalesce(project, ''), coalesce(personal, 0), coalesce(created, 0)
		FROM passages_index i LEFT JOIN memories m ON m.id = i.id WHERE i.kind = 'memory'
		ORDER BY i.id DESC LIMIT ?`, most)
	for _, m := range memories {
		if err == nil {
			err = m.index(ctx, tx)
		}
		if !until.IsZero() && time.Now().After(until) {
			return err
		}
	}
	if err != nil {
		return err
	}
	passages, err := sqlite.Collect(ctx, tx, func(row sqlite.Row) (p storedPassage, err error) {
		return p, row.Scan(&p.id, &p.content, &p.context, &p.project, &p.personal, &p.gone, &p.note)
	}, `SELECT i.id, coalesce(m.content, p.content, ''),
		coalesce(m.context || ' ' || m.tags, ''), coalesce(p.project, ''), coalesce(p.personal, 0), p.id IS NULL,
		p.memory IS NOT NULL AND p.thread = 0 AND coalesce(m.source, '') <> '`+sourceTurn+`'
		FROM passages_index i LEFT JOIN passages p ON p.id = i.id LEFT JOIN memories m ON m.id = p.memory
		WHERE i.kind = 'passage' ORDER BY i.id DESC LIMIT ?`, most)
	for _, p := range passages {
		if err == nil {
			err = p.index(ctx, tx, language.Terms(p.content))
		}
		if !until.IsZero() && time.Now().After(until) {
			return err
		}
	}
	return err
}

// A storedPassage is what the index needs of a passage's row.
type storedPassage struct {
	id                        int64
	content, context, project string
	personal, gone, note      bool
}

// index replaces the passage's entry, or deletes it where the row is gone.
func (p storedPassage) index(ctx context.Context, tx *sql.Tx, terms []string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM passages_fts WHERE rowid = ?`, p.id); err != nil {
		return err
	}
	if !p.gone {
		return p.insertEntry(ctx, tx, terms)
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM passages_index WHERE kind = 'passage' AND id = ?`, p.id)
	return err
}

// insertEntry adds the entry of a passage that has none yet.
func (p storedPassage) insertEntry(ctx context.Context, tx *sql.Tx, terms []string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM passages_index WHERE kind = 'passage' AND id = ?`, p.id); err != nil {
		return err
	}
	scope := projectTerm(p.project)
	if p.personal || p.project == "" {
		scope += " " + anyProject
	}
	if p.note {
		scope += " " + aNote
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO passages_fts (rowid, content, context, scope) VALUES (?, ?, ?, ?)`,
		p.id, strings.Join(terms, " "), strings.Join(language.Terms(p.context), " "), scope)
	return err
}

// A storedMemory is what is needed of a memory's row to make its passage: every memory that is searched has one.
type storedMemory struct {
	id                            int64
	gone, personal                bool
	source, content, key, project string
	who, context                  string
	position                      sql.NullFloat64
	created                       int64
}

// index makes the passage of a memory, and that passage's entry. A memory that was learned from a turn has one only
// where it is true of the person in all projects: within its project the turn's own passages say it.
func (m storedMemory) index(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM passages_index WHERE kind = 'memory' AND id = ?`, m.id); err != nil {
		return err
	}
	if m.gone || m.source == sourceTurn && !m.personal {
		_, err := tx.ExecContext(ctx, `DELETE FROM passages WHERE memory = ?`, m.id)
		return err
	}
	thread := int64(0)
	if m.position.Valid && m.key != "" { // negative, which no session's row is
		sum := sha256.Sum256([]byte(m.project + "\x00" + m.key))
		thread = -int64(binary.BigEndian.Uint64(sum[:8])>>2) - 1
	}
	// the upsert below fires the trigger that notes the passage as stale, which fails in it where the passage is noted
	// already
	if _, err := tx.ExecContext(ctx, `DELETE FROM passages_index WHERE kind = 'passage'
		AND id IN (SELECT id FROM passages WHERE memory = ?)`, m.id); err != nil {
		return err
	}
	terms := language.Terms(m.content)
	p := storedPassage{content: m.content, context: m.context, project: m.project, personal: m.personal,
		note: thread == 0 && m.source != sourceTurn}
	err := tx.QueryRowContext(ctx, `INSERT INTO passages (memory, thread, position, who, project, personal, created,
		traits, length) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (memory) WHERE memory IS NOT NULL DO UPDATE SET thread = excluded.thread,
		position = excluded.position, who = excluded.who, project = excluded.project,
		personal = excluded.personal, created = excluded.created, traits = excluded.traits, length = excluded.length
		RETURNING id`,
		m.id, thread, m.position.Float64, m.who, m.project, m.personal, m.created, passage.TraitsOf(m.content, false),
		len(terms)).Scan(&p.id)
	if err != nil {
		return err
	}
	return p.index(ctx, tx, terms)
}

// anyProject is the term of the index's column scope for what every project may see. Such terms begin with private use
// characters, which stand in no term of a text.
const anyProject = "\ue000"

// aNote is the same for what was stored on purpose and has no neighbours.
const aNote = "\ue003"

// projectTerm returns the term of a project.
func projectTerm(project string) string { return "\ue002" + digest(project)[:12] }
