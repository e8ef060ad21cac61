package embedded

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// sourceTurn is the source of what was learned; whatever else was stored by a call.
const sourceTurn = "turn"

// batch is how many turns are read at a time.
const batch = 16

// backlogTime is how long one call takes in what an older version left: the newest first, the rest with the next calls.
const backlogTime = 2 * time.Second

// Learn takes in the turns that have ended and were not taken in yet, whichever process left them. What it finds in a
// turn depends on that turn alone, so it may be called at any time, by several processes at once, and again after it
// was killed. In a context of pace.Gently it takes its time. Errors are correlation's.
func (s *Store) Learn(ctx context.Context) error {
	const doing = "learning from turns"
	begun := time.Now()
	for old, next := range []func(context.Context, sqlite.Querier) ([]turn, error){newTurns, backlog} {
		for old == 0 || time.Since(begun) < backlogTime {
			turns, err := next(ctx, s.db)
			if err != nil {
				return sqlite.While(doing, err)
			}
			for _, t := range turns {
				began := time.Now()
				found := readTurn(t) // the costly part: nobody waits for the lock meanwhile
				err := sqlite.Write(ctx, s.db, doing, func(tx *sql.Tx) error {
					if err := s.learn(ctx, tx, t, found); err != nil {
						return err
					}
					return s.refreshSome(ctx, tx, mostNow)
				})
				if err != nil {
					return err
				}
				pace.Pause(ctx, began)
			}
			if len(turns) < batch {
				break
			}
		}
	}
	return s.catchUp(ctx, begun.Add(backlogTime))
}

// A heard passage is one as it goes into the database.
type heard struct {
	origin, content string
	traits          traits
	terms           []string
}

// learned is what a turn teaches.
type learned struct {
	passages []heard
	notes    []note
}

func readTurn(t turn) learned {
	user, assistant := privacy.Redact(t.user), privacy.Redact(t.assistant)
	l := learned{notes: standingIn(user)}
	for _, side := range []struct{ origin, text string }{{fromUser, user}, {fromAssistant, assistant}} {
		for _, p := range passagesOf(side.text) {
			if side.origin == fromAssistant && harnessSpeaks(p) {
				continue
			}
			read := language.Read(p)
			l.passages = append(l.passages, heard{side.origin, p, traitsOf(p, read), read.Terms})
		}
	}
	return l
}

// harnessSpeaks reports whether a passage of an answer is the harness's own: codex says such things before the first
// answer.
func harnessSpeaks(passage string) bool {
	for _, start := range []string{"Warning: Model metadata for", "Warning: ", "⚠", "Heads up, "} {
		if strings.HasPrefix(passage, start) && (start != "Warning: " || strings.Contains(passage, "MCP")) {
			return true
		}
	}
	return false
}

// learn makes a turn's passages and memories what they should be: a turn may have gone on after it was learned. One
// that has changed since it was read, or was learned by another process, is left.
func (s *Store) learn(ctx context.Context, tx *sql.Tx, t turn, found learned) error {
	if mine, err := markLearned(ctx, tx, t); err != nil || !mine {
		return err
	}
	if err := s.noteUse(ctx, tx, t); err != nil {
		return err
	}
	return s.teach(ctx, tx, t, found)
}

// teach makes the rows of a turn.
func (s *Store) teach(ctx context.Context, tx *sql.Tx, t turn, found learned) error {
	gone, err := sqlite.Collect(ctx, tx, scanText, `SELECT digest FROM memories_forgotten WHERE turn = ?`, t.id)
	if err != nil {
		return err
	}
	skip := setOf(gone)
	if err := learnNotes(ctx, tx, t, found.notes, skip); err != nil {
		return err
	}
	return learnPassages(ctx, tx, t, found.passages, skip)
}

// learnPassages keeps the rows of passages that stand as they did, by their digests in order.
func learnPassages(ctx context.Context, tx *sql.Tx, t turn, passages []heard, skip termSet) error {
	type row struct {
		id              int64
		origin, content string
	}
	have, err := sqlite.Collect(ctx, tx, func(from sqlite.Row) (r row, err error) {
		return r,
			from.Scan(&r.id, &r.origin, &r.content)
	},
		`SELECT id, origin, content FROM passages WHERE turn = ?`, t.id)
	if err != nil {
		return err
	}
	for n, p := range passages {
		if len(skip) > 0 && skip[digest(p.content)] {
			continue
		}
		position := float64(t.id*positionsOfTurn + int64(min(n, positionsOfTurn-1)))
		at := -1
		for i, h := range have {
			if h.origin == p.origin && h.content == p.content {
				at = i
				break
			}
		}
		if at >= 0 {
			if _, err := tx.ExecContext(ctx, `UPDATE passages SET position = ? WHERE id = ?`, position,
				have[at].id); err != nil {
				return err
			}
			have[at] = have[len(have)-1]
			have = have[:len(have)-1]
			continue
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO passages (uid, turn, thread, position, origin, project, created, traits,
			length, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			newID(), t.id, t.session, position, p.origin, t.project, t.started, p.traits, len(p.terms), p.content)
		if err != nil {
			return err
		}
	}
	for _, h := range have {
		if _, err := tx.ExecContext(ctx, `DELETE FROM passages WHERE id = ?`, h.id); err != nil {
			return err
		}
	}
	return nil
}

// positionsOfTurn is how many positions in its thread a turn has.
const positionsOfTurn = 1 << 12

func learnNotes(ctx context.Context, tx *sql.Tx, t turn, notes []note, skip termSet) error {
	known, err := sqlite.Collect(ctx, tx, scanText, `SELECT digest FROM memories WHERE turn = ?1`, t.id)
	if err != nil {
		return err
	}
	has := setOf(known)
	now := []string{}
	for _, n := range notes {
		d := digest(n.content)
		now = append(now, d)
		if has[d] || skip[d] {
			continue
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO memories (uid, type, project, personal, origin, source, harness, key,
			session, turn, created, updated, digest, content)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			newID(), n.kind, t.project, n.personal, fromUser, sourceTurn, t.harness, t.key, t.session, t.id, t.started,
			t.started, d, n.content)
		if err != nil {
			return err
		}
	}
	list, err := json.Marshal(now)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM memories WHERE turn = ? AND source = '`+sourceTurn+`' AND digest NOT IN (SELECT value FROM json_each(?))`, t.id, string(list))
	return err
}

func scanText(row sqlite.Row) (text string, err error) { return text, row.Scan(&text) }

// newID begins with what is random, so that a few characters name a memory among all.
func newID() string { return strings.ToLower(rand.Text()) }

// digest names what a text says: case, white space and the stop at its end do not count.
func digest(text string) string {
	folded := strings.ToLower(strings.Join(strings.Fields(text), " "))
	sum := sha256.Sum256([]byte(strings.TrimRight(folded, ".!")))
	return hex.EncodeToString(sum[:16])
}
