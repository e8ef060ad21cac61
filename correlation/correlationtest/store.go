// Package correlationtest makes databases and fills them, for tests and examples.
package correlationtest

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// Open makes a database, acp/sessions.db in a temporary folder. The caller calls remove, which removes both. It panics
// if that fails.
func Open() (db *sql.DB, dir string, remove func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	if db, err = migrations.Open(context.Background(), filepath.Join(dir, "acp", "sessions.db")); err != nil {
		panic(err)
	}
	return db, dir, func() {
		db.Close()
		os.RemoveAll(dir)
	}
}

// Session opens a session, which its process holds if one is named.
func Session(
	ctx context.Context, s *correlation.Store, o correlation.OpenSession,
) (v correlation.Session, err error) {
	err = s.Batch(ctx, o.Process, func(b *correlation.Batch) error {
		v, err = b.Open(1, o, 0, 0)
		return err
	})
	return v, err
}

// Save adds turns that have no id, and to others what has been said in them since.
func Save(ctx context.Context, s *correlation.Store, turns []correlation.Turn) error {
	if len(turns) == 0 {
		return nil
	}
	return s.Batch(ctx, turns[0].Process, func(b *correlation.Batch) (err error) {
		for i := range turns {
			t := &turns[i]
			if t.ID == 0 {
				t.ID, err = b.AddTurn(t.Session, *t)
			} else {
				_, err = b.GrowTurn(*t)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
