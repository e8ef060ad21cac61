package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// A program that writes opens; one that only wants to see something looks, and leaves no trace.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "acp", "sessions.db")
	if _, err := migrations.Look(path); errors.Is(err, fs.ErrNotExist) {
		fmt.Println("nothing was ever recorded")
	}
	db, err := migrations.Open(context.Background(), path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	var sessions int
	err = db.QueryRow(`SELECT count(*) FROM sessions`).Scan(&sessions)
	fmt.Println(sessions, err)
	// Output:
	// nothing was ever recorded
	// 0 <nil>
}
