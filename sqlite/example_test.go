package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Writing is a short transaction that says what it was doing when it fails; reading collects rows.
func Example() {
	ctx := context.Background()
	db, _, remove := correlationtest.Open()
	defer remove()
	err := sqlite.Write(ctx, db, "noting what a person was told", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO noted (kind, name, at) VALUES ('told', 'a', 1), ('told', 'b', 2)`)
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	names, err := sqlite.Collect(ctx, db, sqlite.One[string], `SELECT name FROM noted ORDER BY at`)
	fmt.Println(names, err)
	// Output: [a b] <nil>
}

// What is removed while it is recorded can be put back.
func ExampleUndo() {
	ctx := context.Background()
	db, dir, remove := correlationtest.Open()
	defer remove()
	do := func(statement string) error {
		_, err := db.ExecContext(ctx, statement)
		return err
	}
	count := func() {
		var n int
		err := db.QueryRowContext(ctx, `SELECT count(*) FROM noted`).Scan(&n)
		fmt.Println(n, err)
	}
	fmt.Println(do(`INSERT INTO noted (kind, name, at) VALUES ('told', 'a', 1), ('told', 'b', 2)`))
	undo := sqlite.Undo{DB: db, Path: filepath.Join(dir, "sessions.db-undo")}
	kept, err := undo.Record(ctx, "two notices", func() error { return do(`DELETE FROM noted`) })
	fmt.Println(kept, err)
	count()
	fmt.Println(undo.Run(ctx))
	count()
	// Output:
	// <nil>
	// true <nil>
	// 0 <nil>
	// two notices <nil>
	// 2 <nil>
}
