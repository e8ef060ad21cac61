package delegation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
)

// Two requests of one caller with the same key are one: the later gets the delegation of the earlier, as long as that
// is its answer.

// idempotencyKey is the one that the request names, or else made of what it asks for.
func idempotencyKey(who Caller, r Request) string {
	h := sha256.New()
	parts := []string{who.Project, who.Cwd, r.Agent, string(r.Mode), r.Scope, r.Task, r.Model, r.SessionMode}
	if r.Continues != "" {
		parts = append(parts, r.Continues)
	}
	for _, part := range parts {
		fmt.Fprintf(h, "%d %s\n", len(part), part)
	}
	return cmp.Or(r.IdempotencyKey, "sha256:"+hex.EncodeToString(h.Sum(nil)[:16]))
}

// earlier returns the delegation that is the answer to a request with a key. Another one with the key loses it. What
// failed may have been mended since; what was lost may be done, and nothing is done twice because somebody was killed.
func earlier(ctx context.Context, tx *sql.Tx, caller, key string) (d Delegation, found bool, err error) {
	d, err = scanOne(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM delegations WHERE caller = ? AND key = ?`, caller,
		key))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return d, false, nil
	case err != nil, d.State == Done, d.State == Lost, !d.State.Ended():
		return d, err == nil, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE delegations SET key = key || ' ' || id WHERE id = ?`, d.ID)
	return d, false, err
}
