// Package migrationstest has a database for examples.
package migrationstest

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// Open makes a database in a folder of its own, acp/sessions.db. Both go with remove.
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
