package embedded

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/stated"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// batch is how many bytes of turns are read from the database at a time: one long turn, or many short ones.
const batch = 64 << 10

// backlogTime is how long one call of Learn works on turns that an older version learned from: the newest first, the
// rest with the next calls.
const backlogTime = 2 * time.Second

// maxNewPassages is how many new passages are written in one transaction, so that no prompt waits for a long one.
// Small turns share a transaction up to it: each writes a page of every index.
const maxNewPassages = 256

// Learn makes passages and memories of the turns that have ended and were not learned from yet, whichever process left
// them. The result depends on each turn and the blocks before it alone, so Learn may be called at any time, by several
// processes at once, and again after it was killed. Under pace.Gently it pauses between transactions. Errors are those
// of package sqlite.
func (s *Store) Learn(ctx context.Context) error {
	begun := time.Now()
	for more := true; more; {
		turns, err := correlation.Unlearned(ctx, s.db, batch)
		if err == nil && len(turns) == 0 && time.Since(begun) < backlogTime {
			var last int64 // of those that an older version learned from, the newest
			if last, err = sqlite.One[int64](s.db.QueryRowContext(ctx,
				`SELECT n FROM passages_index WHERE kind = 'backlog'`)); err == nil {
				turns, err = correlation.LearnedUpTo(ctx, s.db, last, batch)
			}
		}
		if err != nil {
			return sqlite.While("learning from turns", err)
		}
		if err := s.learn(ctx, turns); err != nil {
			return err
		}
		if err := s.foldAll(ctx, begun.Add(backlogTime)); err != nil {
			return err
		}
		more = len(turns) > 0
	}
	return s.followRenames(ctx)
}

// learn makes the passages and memories of turns what they should be: a turn may have gone on after it was learned
// from.
func (s *Store) learn(ctx context.Context, turns []correlation.Said) error {
	for len(turns) > 0 {
		began := time.Now()
		var found []learned // the costly part: nobody waits for the lock meanwhile
		for size := 0; len(found) < len(turns) && size < maxNewPassages; size += len(found[len(found)-1].passages) {
			one := learned{turn: turns[len(found)]} // nothing of a turn that cannot be read
			guard.Run("reading a turn", func() {
				one = readTurn(one.turn)
				one.project, one.files = s.filesOf(one.turn)
			})
			var err error
			if one.uses, err = s.usesOf(ctx, one.turn, one.files, one.notes); err != nil {
				return sqlite.While("learning from turns", err)
			}
			found = append(found, one)
		}
		for more := true; more; began = time.Now() {
			err := sqlite.Write(ctx, s.db, "learning from turns", func(tx *sql.Tx) (err error) {
				for _, one := range found {
					if more, err = s.learnOne(ctx, tx, one); err != nil || more {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			pace.Pause(ctx, began)
		}
		turns = turns[len(found):]
	}
	return nil
}

// learnOne does that for one turn, up to maxNewPassages new passages; more says that it has more. A turn that has
// changed since it was read, or that another process has learned from, is left alone.
func (s *Store) learnOne(ctx context.Context, tx *sql.Tx, l learned) (more bool, err error) {
	t := l.turn
	same, err := correlation.Unchanged(ctx, tx, t)
	if err != nil {
		return false, err
	}
	guard.Point("learning")
	if same {
		if more, err := saveLearned(ctx, tx, l, maxNewPassages); err != nil || more {
			return more, err
		}
		if err := errors.Join(l.saveFiles(ctx, tx), correlation.SaveUses(ctx, tx, l.uses)); err != nil {
			return false, err
		}
		if err := correlation.MarkLearned(ctx, tx, t.Turn); err != nil {
			return false, err
		}
	}
	if t.Learned {
		_, err = tx.ExecContext(ctx, `UPDATE passages_index SET n = ?1 - 1 WHERE kind = 'backlog' AND n >= ?1`, t.Turn)
	}
	return false, err
}

// A passageRow is a passage of a turn as it stands in the database, or goes into it.
type passageRow struct {
	id       int64
	position float64
	who      memory.Who
	content  string
	traits   passage.Traits
	terms    []string // of one that goes into it
}

// learned is what a turn teaches.
type learned struct {
	turn     correlation.Said
	passages []passageRow
	notes    []stated.Statement
	project  string // of the files
	files    []rank.Touch
	uses     []correlation.Use
}

func readTurn(t correlation.Said) learned {
	guard.Point("reading a turn")
	user, assistant := privacy.Redact(t.User), privacy.Redact(ownWords(t))
	if t.ByAgent {
		user = ""
	}
	l := learned{turn: t, notes: stated.In(user)}
	for _, part := range passage.Parts(user, assistant, len(t.Tools) > 0) {
		for _, p := range passage.Cut(part.Text) {
			if !part.Who.ByPerson() && harnessSpeaks(p) {
				continue
			}
			traits := part.Traits | passage.TraitsOf(p, part.Who == memory.Typed)
			l.passages = append(l.passages, passageRow{who: part.Who, content: p, traits: traits,
				terms: language.Terms(p)})
		}
	}
	return l
}

// ownWords returns what the agent has said in a turn but what it repeats of our blocks and of the prompt, which would
// be remembered as if it were new.
func ownWords(t correlation.Said) string {
	known := append(slices.Clone(t.Blocks), t.User)
	pieces := strings.Split(t.Assistant, chars.ToolMark)
	for i, piece := range pieces {
		pieces[i] = privacy.WithoutEcho(piece, known)
	}
	return strings.Join(pieces, chars.ToolMark)
}

// harnessSpeaks reports whether a passage of an answer was written by the harness itself: codex shows such warnings
// before the first answer.
func harnessSpeaks(passage string) bool {
	return strings.HasPrefix(passage, "⚠") || strings.HasPrefix(passage, "Heads up, ") ||
		strings.HasPrefix(passage, "Warning: Model metadata for") ||
		strings.HasPrefix(passage, "Warning: ") && strings.Contains(passage, "MCP")
}

// saveLearned makes the rows of a turn, at most most new passages; more says that there are more. Of what was forgotten
// the turn teaches nothing again.
func saveLearned(ctx context.Context, tx *sql.Tx, l learned, most int) (more bool, err error) {
	have, err := sqlite.Collect(ctx, tx, func(from sqlite.Row) (r passageRow, err error) {
		return r, from.Scan(&r.id, &r.position, &r.traits, &r.who, &r.content)
	}, `SELECT id, position, traits, who, content FROM passages WHERE turn = ? ORDER BY position`, l.turn.Turn)
	if err != nil {
		return false, err
	}
	gone, err := correlation.Untaught(ctx, tx, l.turn.Turn)
	if err != nil {
		return false, err
	}
	forgotten := language.SetOf(gone)
	if more, err := l.savePassages(ctx, tx, have, forgotten, most); err != nil || more {
		return more, err
	}
	return false, l.saveNotes(ctx, tx, forgotten)
}

// savePassages keeps the rows of passages that stand in the turn as before. Rows of what the turn does not say any more
// are deleted once all new ones are written.
func (l learned) savePassages(ctx context.Context, tx *sql.Tx, have []passageRow, forgotten language.Set,
	most int) (more bool, err error) {
	t := l.turn
	for n, p := range l.passages {
		if len(forgotten) > 0 && forgotten[digest(p.content)] {
			continue
		}
		position := float64(t.Turn*positionsOfTurn + int64(min(n, positionsOfTurn-1)))
		at := slices.IndexFunc(have, func(r passageRow) bool { return r.who == p.who && r.content == p.content })
		switch {
		case at < 0 && most == 0:
			return true, nil
		case at < 0:
			most--
			err = p.insert(ctx, tx, t, position)
		default:
			if h := have[at]; h.position != position || h.traits != p.traits {
				_, err = tx.ExecContext(ctx, `UPDATE passages SET position = ?, traits = ? WHERE id = ?`, position,
					p.traits, h.id)
			}
			have = slices.Delete(have, at, at+1)
		}
		if err != nil {
			return false, err
		}
	}
	for _, h := range have {
		if _, err := tx.ExecContext(ctx, `DELETE FROM passages WHERE id = ?`, h.id); err != nil {
			return false, err
		}
	}
	return false, nil
}

// insert makes the row of a passage of a turn, and its index entry at once, because its terms are at hand.
func (h passageRow) insert(ctx context.Context, tx *sql.Tx, t correlation.Said, position float64) error {
	row, err := tx.ExecContext(ctx, `INSERT INTO passages (uid, turn, thread, position, who, project, created,
		traits, length, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		passageID(t.Turn), t.Turn, t.Session, position, h.who, t.Project, t.Started, h.traits, len(h.terms), h.content)
	if err != nil {
		return err
	}
	id, err := row.LastInsertId()
	if err != nil {
		return err
	}
	return storedPassage{id: id, project: t.Project}.insertEntry(ctx, tx, h.terms)
}

// learnAgain makes the passages and notes of a turn those of what it says now.
func learnAgain(ctx context.Context, tx *sql.Tx, turn int64) error {
	t, err := correlation.SaidIn(ctx, tx, turn)
	if err != nil {
		return err
	}
	_, err = saveLearned(ctx, tx, readTurn(t), math.MaxInt)
	return err
}

// positionsOfTurn is how many positions in its thread a turn has: its row's id times this is the first.
const positionsOfTurn = 1 << 12

// saveNotes makes the memories of a turn its notes.
func (l learned) saveNotes(ctx context.Context, tx *sql.Tx, forgotten language.Set) error {
	t := l.turn
	have, err := sqlite.Collect(ctx, tx, sqlite.One[string], `SELECT digest FROM memories WHERE turn = ?`, t.Turn)
	if err != nil || len(have) == 0 && len(l.notes) == 0 { // as of most turns
		return err
	}
	now := []string{}
	for _, n := range l.notes {
		d := digest(n.Text)
		now = append(now, d)
		if slices.Contains(have, d) || forgotten[d] {
			continue
		}
		have = append(have, d)
		_, err := tx.ExecContext(ctx, `INSERT INTO memories (uid, type, project, personal, who, source, harness, key,
			session, turn, created, updated, digest, content, announced)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			newID(), n.Kind, t.Project, n.Personal, memory.Typed, sourceTurn, t.Harness, t.Key, t.Session, t.Turn,
			t.Started, t.Started, d, n.Text, t.Learned) // nobody is told what an older version might have found
		if err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM memories WHERE turn = ? AND source = '`+sourceTurn+`'
		AND digest NOT IN (SELECT value FROM json_each(?))`, t.Turn, sqlite.List(now))
	return err
}

// saveFiles makes the rows of a turn's files.
func (l learned) saveFiles(ctx context.Context, tx *sql.Tx) error {
	t := l.turn
	if _, err := tx.ExecContext(ctx, `DELETE FROM files WHERE turn = ?`, t.Turn); err != nil {
		return err
	}
	for _, f := range l.files {
		if _, err := tx.ExecContext(ctx, `INSERT INTO files (turn, session, project, path, kind, at)
			VALUES (?, ?, ?, ?, ?, ?)`, t.Turn, t.Session, l.project, f.Path, f.Kind, t.Started); err != nil {
			return err
		}
	}
	return nil
}
