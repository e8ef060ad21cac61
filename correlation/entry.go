package correlation

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// An entry is a transaction in which something is noted of a debt.
type entry struct {
	ctx context.Context
	tx  *sql.Tx
	d   Debt // as it is now
	now time.Time
}

// note runs f in a transaction, in its ownTime. A debt that is closed, or went with its session, is ErrNotFound.
func (s Debts) note(ctx context.Context, doing string, taken Debt, f func(entry) error) error {
	ctx, cancel := ownTime(ctx)
	defer cancel()
	return s.write(ctx, doing, func(tx *sql.Tx) error {
		d, err := scanDebt(tx.QueryRowContext(ctx, `SELECT `+debtColumns+` FROM debts d
			WHERE id = ? AND done = 0`, taken.ID))
		if err != nil {
			return orNotFound(err)
		}
		return f(entry{ctx, tx, d, s.now()})
	})
}

func (e entry) exec(query string, args ...any) error {
	_, err := e.tx.ExecContext(e.ctx, query, args...)
	return err
}

// maxNote is how many bytes are stored of replies and errors, which come from outside.
const maxNote = 4 << 10

func cutNote(s string) string {
	return strings.ToValidUTF8(chars.Cut(s, maxNote), "\uFFFD")
}

// ownTime is a context for storing an outcome: when the time for posting is over, what was posted must still be noted.
func ownTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
}

// noteLimit is how long storing an outcome may take.
const noteLimit = 5 * time.Second
