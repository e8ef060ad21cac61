// Package migrationstest makes databases for examples, which have no *testing.T.
package migrationstest

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"

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
