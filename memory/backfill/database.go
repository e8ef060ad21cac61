package backfill

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// eachMessage makes turns of the rows of a query: role, data and time of each message of a conversation, in order.
func eachMessage(ctx context.Context, db *sql.DB, c Conversation, yield func(Conversation) error,
	take func(b *builder, role string, data []byte, at time.Time), query string) error {
	rows, err := db.QueryContext(ctx, query, c.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	b := builder{Conversation: c}
	for rows.Next() {
		var role, at string
		var data []byte
		if err := rows.Scan(&role, &data, &at); err != nil {
			return err
		}
		take(&b, role, data, timeOf(at))
		if part, full := b.takePart(); full {
			if err := yield(part); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return yield(b.Conversation)
}

// columns returns a function that makes of a column's name what a query takes of it: nothing of one that older versions
// of the program do not have.
func columns(ctx context.Context, db *sql.DB, table string) (func(name string) string, error) {
	names, err := sqlite.Collect(ctx, db, sqlite.One[string], `SELECT name FROM pragma_table_info(?)`, table)
	return func(name string) string {
		if slices.Contains(names, name) {
			return "coalesce(" + name + ", '')"
		}
		return "''"
	}, err
}
