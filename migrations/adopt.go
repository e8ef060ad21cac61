package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// ErrForeign is an error of Adopt.
var ErrForeign = errors.New("no database of ours")

// Adopt makes a copy of a database that may come from anybody, at path, one of ours: with our tables and their rows,
// and without triggers, views, indexes or tables that our schema does not have. The error is ErrForeign if a table of
// ours has another definition.
func Adopt(ctx context.Context, path string) error {
	db := sqlite.File{Engine: engine, Path: path}.Open()
	err := disarm(ctx, db)
	if err == nil {
		err = update(ctx, db, "", files)
	}
	if err == nil {
		err = conform(ctx, db)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("database %s: %w", path, sqlite.Explain(err))
	}
	return nil
}

// disarm drops what SQLite would run by itself, before anything is written: triggers, and views.
func disarm(ctx context.Context, db *sql.DB) error {
	objects, err := objectsOf(ctx, db)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.kind == "trigger" || o.kind == "view" {
			if err := o.drop(ctx, db); err != nil {
				return err
			}
		}
	}
	return nil
}

// conform compares a database's schema with that of a new one, and makes it the same.
func conform(ctx context.Context, db *sql.DB) error {
	wanted, err := newest()
	if err != nil {
		return err
	}
	there, err := objectsOf(ctx, db)
	if err != nil {
		return err
	}
	ours, have := byName(wanted), byName(there)
	for _, o := range there {
		switch known, ok := ours[o.name]; {
		case ok && known.is(o):
		case ok:
			return fmt.Errorf("%w: its %s %s is another", ErrForeign, o.kind, o.name)
		default:
			if err := o.drop(ctx, db); err != nil {
				return err
			}
		}
	}
	for _, o := range wanted {
		if _, ok := have[o.name]; !ok {
			if _, err := db.ExecContext(ctx, o.sql); err != nil {
				return fmt.Errorf("making %s: %w", o.name, err)
			}
		}
	}
	return nil
}
