package embedded

import (
	"context"
	"database/sql"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// forgotten stands where something was that a person had forgotten.
const forgotten = "[forgotten]"

// Forget takes a memory out of everything that is searched or learned from: the index, the turns that say it, the memories of the same project that
// say the same, contexts that wait for a session. The same turn never teaches it again. What was injected already stays in the ledger. Errors: ErrNotFound, ErrAmbiguous, correlation's.
func (s *Store) Forget(ctx context.Context, id string) error {
	err := s.write(ctx, "forgetting a memory", func(tx *sql.Tx) error {
		uid, err := resolve(ctx, tx, id)
		if err != nil {
			return err
		}
		m, err := memoryOf(ctx, tx, uid)
		if err != nil {
			return err
		}
		if err := s.forgetSame(ctx, tx, m); err != nil {
			return err
		}
		if err := forgetTurns(ctx, tx, m); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM stored_contexts WHERE instr(CAST(payload AS TEXT), ?) > 0`, uid); err != nil {
			return err
		}
		return s.refresh(ctx, tx)
	})
	if err != nil {
		return err
	}
	// The log still holds what was deleted. Where another process reads it just now, it is folded in later.
	var busy, logged, folded int
	return explain("emptying the log", s.db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &logged, &folded))
}

// forgetSame deletes m and what says the same in its project, and takes it out of what others were said about.
func (s *Store) forgetSame(ctx context.Context, tx *sql.Tx, m Memory) error {
	what := telling(m.Content)
	type twin struct {
		id, turn                    int64
		content, about, uid, digest string
	}
	all, err := collect(ctx, tx, func(row scanner) (t twin, err error) {
		return t, row.Scan(&t.id, &t.turn, &t.content, &t.about, &t.uid, &t.digest)
	}, `SELECT id, coalesce(turn, 0), content, context, uid, digest FROM memories WHERE project = ?`, m.Project)
	if err != nil {
		return err
	}
	passages := passagesOf(m.Content)
	for _, t := range all {
		if t.uid != m.ID && !same(telling(t.content), what) {
			about := cutSame(t.about, what, passages)
			if about == t.about {
				continue
			}
			if _, err := tx.ExecContext(ctx, `UPDATE memories SET context = ? WHERE id = ?`, about, t.id); err != nil {
				return err
			}
			continue
		}
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO memories_forgotten (turn, digest) SELECT ?1, ?2 WHERE ?1 <> 0`, t.turn, t.digest); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM memories WHERE id = ?`, t.id); err != nil {
			return err
		}
	}
	return nil
}

// forgetTurns takes what m says out of the turns that say it in its words, and out of the turns of its project that say it in others.
func forgetTurns(ctx context.Context, tx *sql.Tx, m Memory) error {
	passages := passagesOf(m.Content)
	what := telling(m.Content)
	probe := probeOf(m.Content)
	if probe == "" {
		return nil
	}
	type said struct {
		id                    int64
		project, user, answer string
	}
	turns, err := collect(ctx, tx, func(row scanner) (t said, err error) {
		return t, row.Scan(&t.id, &t.project, &t.user, &t.answer)
	}, `SELECT t.id, s.project, t.user, t.assistant FROM turns t JOIN sessions s ON s.id = t.session
		WHERE instr(lower(t.user), ?1) OR instr(lower(t.assistant), ?1)`, probe)
	if err != nil {
		return err
	}
	for _, t := range turns {
		cut := func(text string) string { return cutPassages(text, passages) }
		if t.project == m.Project {
			cut = func(text string) string { return cutSame(text, what, passages) }
		}
		user, answer := cut(t.user), cut(t.answer)
		if user == t.user && answer == t.answer {
			continue
		}
		if _, err := tx.ExecContext(ctx, `UPDATE turns SET user = ?, assistant = ? WHERE id = ?`, user, answer, t.id); err != nil {
			return err
		}
	}
	return nil
}

// telling are the terms of a text that say something.
func telling(text string) termSet {
	set := setOf(terms(text))
	for t := range set {
		if stopped()[t] {
			delete(set, t)
		}
	}
	return set
}

// same reports whether one text says little but what the other says, too.
func same(a, b termSet) bool {
	common := 0
	for t := range a {
		if b[t] {
			common++
		}
	}
	return common >= 2 && 4*common >= 3*max(len(a), 1) && 2*common >= len(b)
}

// probeOf is the longest word of a text that SQLite's lower, which knows ASCII only, finds again.
func probeOf(text string) string {
	longest := ""
	for _, w := range words(text) {
		lower := strings.ToLower(string(w))
		if ascii(lower) && len(lower) > len(longest) {
			longest = lower
		}
	}
	if longest == "" {
		for _, w := range words(text) {
			if len(w) > len(longest) {
				longest = string(w)
			}
		}
	}
	return longest
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// passagesOf are patterns that find the sentences of text where they stand with Markdown between their words.
func passagesOf(text string) []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, sentence := range splitSentences(strings.TrimSuffix(text, " …")) {
		var pattern strings.Builder
		n := 0
		for _, w := range words(sentence) {
			if n > 0 {
				pattern.WriteString(`[^\pL\pN]+`)
			}
			pattern.WriteString(regexp.QuoteMeta(string(w)))
			n++
		}
		if n < 2 && len(sentence) < 8 {
			continue
		}
		list = append(list, regexp.MustCompile(`(?i)`+pattern.String()))
	}
	return list
}

func cutPassages(text string, passages []*regexp.Regexp) string {
	for _, p := range passages {
		text = p.ReplaceAllLiteralString(text, forgotten)
	}
	return text
}

// cutSame takes out of a text the passages, and the sentences that say the same in other words.
func cutSame(text string, what termSet, passages []*regexp.Regexp) string {
	cut := slices.Clone(passages)
	for _, sentence := range sentences(text) {
		if same(telling(sentence.text), what) {
			cut = append(cut, passagesOf(sentence.text)...)
		}
	}
	return cutPassages(text, cut)
}

// Unlearn takes what was learned from turns out again, in the transaction that deletes them. It is a correlation.Unlearn.
func (s *Store) Unlearn(ctx context.Context, tx *sql.Tx, turns []int64) error {
	list, err := json.Marshal(turns)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM memories WHERE turn IN (SELECT value FROM json_each(?))`, string(list)); err != nil {
		return err
	}
	return s.refresh(ctx, tx)
}
