package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Recorded runs work, and records in a new database file at path the statements that undo what work changes in db.
// Triggers write them row by row, in the same transaction, so that one that fails leaves none
// (sqlite.org/undoredo.html). what describes for people what was done. Tables in except are left out: those that the
// schema's own triggers, or their readers, keep up to date. kept reports whether anything was changed, also if work has
// failed halfway. db must have one connection, which nobody else uses meanwhile, and whose statements work must not
// interrupt by their context: the triggers live as long as the connection.
func Recorded(
	ctx context.Context, db *sql.DB, path, what string, except []string, work func() error,
) (kept bool, err error) {
	const doing = "preparing to undo"
	detach, err := attach(ctx, db, path)
	if err != nil {
		return false, While(doing, err)
	}
	defer func() { err = errors.Join(err, detach()) }()
	_, err = db.ExecContext(ctx, `CREATE TABLE undo.taken_back (n INTEGER PRIMARY KEY, statement TEXT NOT NULL);
		CREATE TABLE undo.done (what TEXT NOT NULL)`)
	if err == nil {
		_, err = db.ExecContext(ctx, `INSERT INTO undo.done VALUES (?)`, what)
	}
	if err != nil {
		return false, While(doing, err)
	}
	triggers, err := watch(ctx, db, except)
	defer func() {
		for _, name := range triggers {
			_, e := db.ExecContext(context.WithoutCancel(ctx), "DROP TRIGGER IF EXISTS temp."+name)
			err = errors.Join(err, e)
		}
	}()
	if err != nil {
		return false, While(doing, err)
	}
	err = work()
	e := db.QueryRowContext(context.WithoutCancel(ctx), `SELECT EXISTS (SELECT 1 FROM undo.taken_back)`).Scan(&kept)
	return kept, errors.Join(err, While(doing, e))
}

// Undo runs the statements that Recorded has recorded in the file at path, in one transaction, and returns what was
// undone, as described there. The caller removes the file. What was added since stays; if it conflicts with what comes
// back, nothing is changed.
func Undo(ctx context.Context, db *sql.DB, path string) (what string, err error) {
	detach, err := attach(ctx, db, path)
	if err != nil {
		return "", While("undoing", err)
	}
	defer func() { err = errors.Join(err, detach()) }()
	err = db.QueryRowContext(ctx, `SELECT what FROM undo.done`).Scan(&what)
	if err != nil {
		return "", While("undoing", err)
	}
	return what, Write(ctx, db, "undoing", func(tx *sql.Tx) error {
		// rows that refer to a row were removed after it, and come back before it
		if _, err := tx.ExecContext(ctx, `PRAGMA defer_foreign_keys = ON`); err != nil {
			return err
		}
		var n int64
		err := tx.QueryRowContext(ctx, `SELECT coalesce(max(n), 0) + 1 FROM undo.taken_back`).Scan(&n)
		for err == nil {
			var statement string
			err = tx.QueryRowContext(ctx, `SELECT n, statement FROM undo.taken_back WHERE n < ?
				ORDER BY n DESC LIMIT 1`, n).Scan(&n, &statement)
			if err == nil {
				_, err = tx.ExecContext(ctx, statement)
			}
		}
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
}

func attach(ctx context.Context, db *sql.DB, path string) (detach func() error, err error) {
	if _, err := db.ExecContext(ctx, `ATTACH ? AS undo`, path); err != nil {
		return nil, err
	}
	// a crash leaves a file that nobody uses: its caller names it only once it is whole
	if _, err := db.ExecContext(ctx, `PRAGMA undo.journal_mode = MEMORY; PRAGMA undo.synchronous = OFF`); err != nil {
		return nil, err
	}
	return func() error {
		_, err := db.ExecContext(context.WithoutCancel(ctx), `DETACH undo`)
		return err
	}, nil
}

// watch makes the triggers, which live as long as the connection, and returns their names.
func watch(ctx context.Context, db *sql.DB, except []string) (names []string, err error) {
	tables, err := Collect(ctx, db, One[string], `SELECT name FROM pragma_table_list WHERE schema = 'main'
		AND type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		if slices.Contains(except, table) {
			continue
		}
		t, err := tableOf(ctx, db, table)
		if err != nil {
			return names, err
		}
		for _, trigger := range t.triggers() {
			name := fmt.Sprintf("undo_%d", len(names))
			if _, err := db.ExecContext(ctx, fmt.Sprintf(`CREATE TEMP TRIGGER %s %s BEGIN
				INSERT INTO taken_back (statement) VALUES (%s);
				END`, name, trigger.when, trigger.statement)); err != nil {
				return names, err
			}
			names = append(names, name)
		}
	}
	return names, nil
}

// A table is what its triggers need to know of it.
type table struct {
	name    string
	columns []string
	key     []string
}

func tableOf(ctx context.Context, db *sql.DB, name string) (t table, err error) {
	t.name = name
	if t.columns, err = Collect(ctx, db, One[string], `SELECT name FROM pragma_table_info(?)`, name); err != nil {
		return t, err
	}
	t.key, err = Collect(ctx, db, One[string], `SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk`, name)
	if len(t.key) == 0 {
		t.key = []string{"rowid"}
	}
	return t, err
}

// A trigger says when it fires, and has an SQL expression for the statement that undoes the change.
type trigger struct{ when, statement string }

func (t table) triggers() []trigger {
	name := quoted(t.name)
	var columns, values []string
	for _, c := range t.columns {
		columns, values = append(columns, quoted(c)), append(values, "quote(old."+quoted(c)+")")
	}
	all := []trigger{
		{"AFTER INSERT ON main." + name, "'DELETE FROM main." + name + " WHERE '||" + t.which("new")},
		{"BEFORE DELETE ON main." + name, "'INSERT INTO main." + name + " (" + strings.Join(columns, ", ") +
			") VALUES ('||" + strings.Join(values, "||','||") + "||')'"},
	}
	for i, c := range columns {
		all = append(all, trigger{
			fmt.Sprintf("AFTER UPDATE OF %s ON main.%s WHEN old.%[1]s IS NOT new.%[1]s", c, name),
			"'UPDATE main." + name + " SET " + c + " = '||" + values[i] + "||' WHERE '||" + t.which("new"),
		})
	}
	return all
}

// which returns an SQL expression for the condition that finds a row again. row is new or old.
func (t table) which(row string) string {
	var parts []string
	for _, c := range t.key {
		parts = append(parts, "'"+quoted(c)+" = '||quote("+row+"."+quoted(c)+")")
	}
	return strings.Join(parts, "||' AND '||")
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
