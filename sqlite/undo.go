package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An Undo is a database file that has the statements that undo what was done in a database.
type Undo struct {
	DB   *sql.DB
	Path string
	// Except are tables that are left out: those that the schema's own triggers, or their readers, keep up to date.
	Except []string
}

// Record runs work, and records in the new file what undoes what work changes in the database. Triggers write
// the statements row by row, in the same transaction, so that one that fails leaves none (sqlite.org/undoredo.html).
// what describes for people what was done. kept reports whether anything was changed, also if work has failed halfway.
// The database must have one connection, which nobody else uses meanwhile, and whose statements work must not interrupt
// by their context: the triggers live as long as the connection.
func (u Undo) Record(ctx context.Context, what string, work func() error) (kept bool, err error) {
	const doing = "preparing to undo"
	db := u.DB
	detach, err := u.attach(ctx)
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
	triggers, err := u.watch(ctx)
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

// Run runs the recorded statements, in one transaction, and returns what was undone, as described there. The caller
// removes the file. What was added since stays; if it conflicts with what comes back, nothing is changed.
func (u Undo) Run(ctx context.Context) (what string, err error) {
	detach, err := u.attach(ctx)
	if err != nil {
		return "", While("undoing", err)
	}
	defer func() { err = errors.Join(err, detach()) }()
	err = u.DB.QueryRowContext(ctx, `SELECT what FROM undo.done`).Scan(&what)
	if err != nil {
		return "", While("undoing", err)
	}
	return what, Write(ctx, u.DB, "undoing", func(tx *sql.Tx) error {
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

func (u Undo) attach(ctx context.Context) (detach func() error, err error) {
	if _, err := u.DB.ExecContext(ctx, `ATTACH ? AS undo`, u.Path); err != nil {
		return nil, err
	}
	// a crash leaves a file that nobody uses: its caller names it only once it is whole
	_, err = u.DB.ExecContext(ctx, `PRAGMA undo.journal_mode = MEMORY; PRAGMA undo.synchronous = OFF`)
	return func() error {
		_, err := u.DB.ExecContext(context.WithoutCancel(ctx), `DETACH undo`)
		return err
	}, err
}

// watch makes the triggers, which live as long as the connection, and returns their names.
func (u Undo) watch(ctx context.Context) (names []string, err error) {
	tables, err := Collect(ctx, u.DB, One[string], `SELECT name FROM pragma_table_list WHERE schema = 'main'
		AND type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		if slices.Contains(u.Except, table) {
			continue
		}
		columns, err := Collect(ctx, u.DB, One[string], `SELECT name FROM pragma_table_info(?)`, table)
		if err != nil {
			return names, err
		}
		key, err := Collect(ctx, u.DB, One[string], `SELECT name FROM pragma_table_info(?) WHERE pk > 0
			ORDER BY pk`, table)
		if err != nil {
			return names, err
		}
		for _, inverse := range inverses(table, columns, key) {
			name := fmt.Sprintf("undo_%d", len(names))
			if _, err := u.DB.ExecContext(ctx, fmt.Sprintf(`CREATE TEMP TRIGGER %s %s BEGIN
				INSERT INTO taken_back (statement) VALUES (%s);
				END`, name, inverse[0], inverse[1])); err != nil {
				return names, err
			}
			names = append(names, name)
		}
	}
	return names, nil
}

// inverses are the triggers of a table: when each fires, and an SQL expression for the statement that undoes a change.
func inverses(table string, columns, key []string) (all [][2]string) {
	table = quoted(table)
	if len(key) == 0 {
		key = []string{"rowid"}
	}
	var row []string // the condition that finds a changed row again
	for _, c := range key {
		row = append(row, "'"+quoted(c)+" = '||quote(new."+quoted(c)+")")
	}
	which := strings.Join(row, "||' AND '||")
	var names, values []string
	for _, c := range columns {
		name := quoted(c)
		value := "quote(old." + name + ")"
		names, values = append(names, name), append(values, value)
		all = append(all, [2]string{
			fmt.Sprintf("AFTER UPDATE OF %s ON main.%s WHEN old.%[1]s IS NOT new.%[1]s", name, table),
			"'UPDATE main." + table + " SET " + name + " = '||" + value + "||' WHERE '||" + which})
	}
	return append(all,
		[2]string{"AFTER INSERT ON main." + table, "'DELETE FROM main." + table + " WHERE '||" + which},
		[2]string{"BEFORE DELETE ON main." + table, "'INSERT INTO main." + table + " (" + strings.Join(names, ", ") +
			") VALUES ('||" + strings.Join(values, "||','||") + "||')'"})
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
