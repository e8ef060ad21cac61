package backfill

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A database is a store in SQLite: a conversation is a row, and so is each of its messages.
type database struct {
	sessions string // selects id, folder, and the parent of a subagent's; these come last
	messages string // selects role ("compaction": a summary's), content and time of the messages of an id
}

// read is a reader.
func (d database) read(ctx context.Context, _ Place, path string, yield func(Conversation) error) error {
	return inDatabase(path, func(db *sql.DB) error {
		sessions, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (c Conversation, err error) {
			err = row.Scan(&c.ID, &c.Cwd, &c.Parent)
			return c, err
		}, withColumns(ctx, db, d.sessions))
		messages := withColumns(ctx, db, d.messages)
		for _, c := range sessions {
			if err == nil {
				err = eachMessage(ctx, db, c, yield, messages)
			}
		}
		return err
	})
}

// inDatabase opens one for reading.
func inDatabase(path string, f func(*sql.DB) error) error {
	db, err := migrations.Look(path)
	if err != nil {
		return err
	}
	return errors.Join(f(db), db.Close())
}

// eachMessage makes turns of the rows of a query.
func eachMessage(ctx context.Context, db *sql.DB, c Conversation, yield func(Conversation) error, query string) error {
	rows, err := db.QueryContext(ctx, query, c.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	b := builder{Conversation: c, yield: yield}
	for rows.Next() && b.err == nil {
		var role, at string
		var data []byte
		if err := rows.Scan(&role, &data, &at); err != nil {
			return err
		}
		var said content
		decode(data, &said) // of a broken one nothing is taken
		b.say(role, said, timeOf(at))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return b.end()
}

// withColumns puts into a query what stands in it as {table.column}: nothing of columns that older versions of the
// program do not have.
func withColumns(ctx context.Context, db *sql.DB, query string) string {
	return optionalColumn().ReplaceAllStringFunc(query, func(name string) string {
		table, column, _ := strings.Cut(strings.Trim(name, "{}"), ".")
		var n int
		row := db.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_info(?) WHERE name = ?`, table, column)
		if err := row.Scan(&n); err != nil || n == 0 {
			return "''"
		}
		return "coalesce(" + table + "." + column + ", '')"
	})
}

var optionalColumn = pattern.New(`\{\w+\.\w+\}`)
