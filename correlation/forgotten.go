package correlation

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What a person had forgotten may still be in transcripts that an import reads: in that of its session, and in those of
// forks, which begin with a copy. It is recognised there by digests, which tell nothing of what was said.

// A digest identifies a text, whatever its white space.
type digest = [sha256.Size]byte

// digestOf returns the digest of a prompt's text.
func digestOf(text string) digest {
	return sha256.Sum256([]byte(strings.Join(strings.Fields(text), " ")))
}

// promptDigest identifies a prompt of one session.
func promptDigest(acpID, user string) digest {
	return digestOf("prompt \x00" + storedID(acpID) + "\x00 " + user)
}

// copyHead is how many bytes of an answer, without white space, identify a copy of a turn. A copy may end in the middle
// of the answer.
const copyHead = 64

// copyDigest identifies a turn in any session. Harnesses and clients join the parts of an answer in different ways, so
// that its white space does not count.
func copyDigest(user, assistant string) digest {
	answer := strings.Join(strings.Fields(assistant), "")
	return digestOf("turn \x00 " + user + " \x00" + answer[:min(len(answer), copyHead)])
}

// noteForgotten notes the digests of turns, a JSON list of their ids, which must not be imported again.
func noteForgotten(ctx context.Context, tx *sql.Tx, turns string) error {
	gone, err := sqlite.Collect(ctx, tx, func(row sqlite.Row) (both [2]digest, err error) {
		var acpID, user, assistant string
		if err := row.Scan(&acpID, &user, &assistant); err != nil {
			return both, err
		}
		return [2]digest{promptDigest(acpID, user), copyDigest(user, assistant)}, nil
	}, `SELECT s.acp_id, t.user, t.assistant FROM turns t JOIN sessions s ON s.id = t.session
		WHERE t.id IN (SELECT value FROM json_each(?)) AND t.user <> ''`, turns)
	if err != nil {
		return err
	}
	for _, both := range gone {
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO forgotten (kind, what)
			VALUES ('turn', ?), ('turn', ?)`, both[0][:], both[1][:]); err != nil {
			return err
		}
	}
	return nil
}

// IsForgotten reports whether a person had a session forgotten or pruned.
func (s *Store) IsForgotten(ctx context.Context, acpID string) (gone bool, err error) {
	return value[bool](ctx, s.db, "looking for what was forgotten",
		`SELECT EXISTS (SELECT 1 FROM forgotten WHERE kind = 'session' AND what = ? AND turn IS NULL)`, storedID(acpID))
}

// forgottenTurns reports for each turn whether it was forgotten, or is a copy of one that was.
func (s *core) forgottenTurns(ctx context.Context, acpID string, turns []Turn) ([]bool, error) {
	digests := make([]string, 0, 2*len(turns))
	for _, t := range turns {
		for _, sum := range []digest{promptDigest(acpID, t.User), copyDigest(t.User, t.Assistant)} {
			digests = append(digests, fmt.Sprintf("%X", sum))
		}
	}
	gone, err := sqlite.Collect(ctx, s.db, sqlite.One[int], `SELECT j.key FROM json_each(?) j
		JOIN forgotten f ON f.kind = 'turn' AND f.what = unhex(j.value) AND f.turn IS NULL`, sqlite.List(digests))
	if err != nil {
		return nil, sqlite.While("looking for what was forgotten", err)
	}
	are := make([]bool, len(turns))
	for _, n := range gone {
		are[n/2] = true
	}
	return are, nil
}

// Unteach notes that a turn does not teach the embedded store any more what has a digest (of the store's own making).
func Unteach(ctx context.Context, tx *sql.Tx, turn int64, digest string) error {
	_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO forgotten (kind, what, turn) VALUES ('memory', ?, ?)`, digest,
		turn)
	return err
}

// Untaught returns the digests of what a turn does not teach any more.
func Untaught(ctx context.Context, q sqlite.Querier, turn int64) ([]string, error) {
	return sqlite.Collect(ctx, q, sqlite.One[string], `SELECT what FROM forgotten WHERE turn = ?`, turn)
}
