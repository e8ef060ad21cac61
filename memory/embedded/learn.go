package embedded

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// sourceTurn is the source of what was learned; whatever else was stored by a call.
const sourceTurn = "turn"

// batch is how many turns are read at a time.
const batch = 16

// Learn takes in the turns that have ended and were not taken in yet, whichever process left them. What it finds in a turn depends on that
// turn alone, so it may be called at any time, by several processes at once, and again after it was killed. Errors are correlation's.
func (s *Store) Learn(ctx context.Context) error {
	const doing = "learning from turns"
	for {
		turns, err := collect(ctx, s.db, scanTurn, `SELECT t.id, t.session, t.key, t.started, s.harness, s.project, t.user, t.assistant,
				coalesce((SELECT user FROM turns p WHERE p.session = t.session AND p.id < t.id ORDER BY p.id DESC LIMIT 1), '')
			FROM turns t JOIN sessions s ON s.id = t.session WHERE t.learned = 0 AND t.ended > 0 ORDER BY t.id LIMIT ?`, batch)
		if err != nil {
			return explain(doing, err)
		}
		for _, t := range turns {
			notes := distil(memory.Redact(t.user), memory.Redact(t.assistant), memory.Redact(t.before)) // the costly part: nobody waits for the lock meanwhile
			err := s.write(ctx, doing, func(tx *sql.Tx) error {
				if err := s.learn(ctx, tx, t, notes); err != nil {
					return err
				}
				return s.refresh(ctx, tx)
			})
			if err != nil {
				return err
			}
		}
		if len(turns) < batch {
			return s.catchUp(ctx)
		}
	}
}

// catchUp indexes what a build without FTS5 left.
func (s *Store) catchUp(ctx context.Context) error {
	const doing = "bringing the index up to date"
	var stale bool
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM memories_stale)`).Scan(&stale)
	if err != nil || !stale {
		return explain(doing, err)
	}
	return s.write(ctx, doing, func(tx *sql.Tx) error { return s.refresh(ctx, tx) })
}

// A turn is what there is to learn from.
type turn struct {
	id, session     int64
	key             string
	started         int64 // unix milliseconds
	harness         string
	project         string
	user, assistant string
	before          string // what the person said before that, in the same session
}

func scanTurn(row scanner) (t turn, err error) {
	return t, row.Scan(&t.id, &t.session, &t.key, &t.started, &t.harness, &t.project, &t.user, &t.assistant, &t.before)
}

// learn makes a turn's memories what they should be: a turn may have gone on after it was learned. One that has changed since it was read, or was learned by
// another process, is left.
func (s *Store) learn(ctx context.Context, tx *sql.Tx, t turn, notes []note) error {
	r, err := tx.ExecContext(ctx, `UPDATE turns SET learned = 1 WHERE id = ? AND learned = 0 AND user = ? AND assistant = ?`, t.id, t.user, t.assistant)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return err
	}
	known, err := collect(ctx, tx, scanText, `SELECT digest FROM memories WHERE turn = ?1 UNION SELECT digest FROM memories_forgotten WHERE turn = ?1`, t.id)
	if err != nil {
		return err
	}
	has := make(map[string]bool, len(known))
	for _, d := range known {
		has[d] = true
	}
	now := []string{}
	for _, n := range notes {
		d := digest(n.content)
		now = append(now, d)
		if has[d] {
			continue
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO memories (uid, type, project, personal, origin, source, harness, key, session, turn, created, updated, digest, context, content)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			newID(), n.kind, t.project, n.personal, n.origin, sourceTurn, t.harness, t.key, t.session, t.id, t.started, t.started, d, n.context, n.content)
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

func scanText(row scanner) (text string, err error) { return text, row.Scan(&text) }

func newID() string { return strings.ToLower(ulid.Make().String()) }

// digest names what a text says: case, white space and the stop at its end do not count.
func digest(text string) string {
	folded := strings.ToLower(strings.Join(strings.Fields(text), " "))
	sum := sha256.Sum256([]byte(strings.TrimRight(folded, ".!")))
	return hex.EncodeToString(sum[:16])
}
