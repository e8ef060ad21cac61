package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Writing is a short transaction that says what it was doing when it fails; reading collects rows.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := migrations.Open(ctx, filepath.Join(dir, "sessions.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	err = sqlite.Write(ctx, db, "noting what a person was told", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO notices (name, at) VALUES ('recording', 1), ('daemon', 2)`)
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	names, err := sqlite.Collect(ctx, db, sqlite.One[string], `SELECT name FROM notices ORDER BY at`)
	fmt.Println(names, err)
	// Output: [recording daemon] <nil>
}
