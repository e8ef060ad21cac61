package embedded

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// toKill names what a copy of this test binary does to a database until it is killed.
const toKill = "EMBEDDED_TO_KILL"

func TestMain(m *testing.M) {
	if job := os.Getenv(toKill); job != "" {
		if err := work(job, os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const imported = 400 // memories of an import

func importLines() string {
	var b strings.Builder
	for i := range imported {
		fmt.Fprintf(&b, `{"id":"import-%04d","content":"Shelf %d holds box number %d of the archive."}`+"\n", i, i, i*7)
	}
	return b.String()
}

// work does one job on a database over and over. It says on stdout that it begins.
func work(job, path string) error {
	ctx := context.Background()
	db, err := migrations.Open(ctx, path)
	if err != nil {
		return err
	}
	s := New(db, Options{})
	fmt.Println("begun")
	for {
		switch job {
		case "import":
			if _, err = s.Import(ctx, strings.NewReader(importLines()), trusted); err == nil {
				_, err = db.Exec(`DELETE FROM memories`)
			}
		case "export":
			_, err = s.Export(ctx, io.Discard, false)
		case "forget":
			var all []Memory
			if all, err = s.List(ctx, Filter{Limit: 1}); err == nil && len(all) == 0 {
				return nil
			}
			if err == nil {
				err = s.Forget(ctx, all[0].ID)
			}
		case "learn":
			if err = s.Learn(ctx); err == nil {
				_, err = db.Exec(`UPDATE turns SET learned = 0`)
			}
		}
		if err != nil {
			return err
		}
	}
}

// A process that is killed at any point leaves a whole database, and what it did done or not done.
func TestKilled(t *testing.T) {
	for _, job := range []string{"import", "export", "forget", "learn"} {
		t.Run(job, func(t *testing.T) {
			w := newWorld(t)
			var path string
			if err := w.db.QueryRow(`SELECT file FROM pragma_database_list
				WHERE name = 'main'`).Scan(&path); err != nil {
				t.Fatal(err)
			}
			for i := range 30 {
				w.said("/p", fmt.Sprint("s", i),
					fmt.Sprintf("Remember that locker %d belongs to team number %d.", i, 100+i), "ok")
			}
			for round := range 6 {
				kill(t, job, path, time.Duration(5+17*round)*time.Millisecond)
				whole(t, job, path)
			}
		})
	}
}

// kill starts a job and kills it some time after it has begun.
func kill(t *testing.T, job, path string, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], path)
	cmd.Env = append(os.Environ(), toKill+"="+job)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		t.Error("the job did not begin")
	}
	time.Sleep(after)
	cmd.Process.Kill()
	cmd.Wait()
}

// whole checks the database after a job was killed, on a connection of its own: PRAGMA integrity_check does not
// notice that another one changed the index since this one read it.
func whole(t *testing.T, job, path string) {
	t.Helper()
	db, err := migrations.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	one := func(query string) (got string) {
		if err := db.QueryRow(query).Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := one(`PRAGMA integrity_check`); got != "ok" {
		t.Fatalf("%s: %s", job, got)
	}
	if n := one(`SELECT count(*) FROM memories WHERE source = 'import'`); n != "0" && n != fmt.Sprint(imported) {
		t.Errorf("%s: %s of %d imported", job, n, imported)
	}
	// A memory is there and its turn says it, or neither.
	if n := one(`SELECT count(*) FROM memories m JOIN turns t ON t.id = m.turn
		WHERE instr(t.user, 'locker') = 0`); n != "0" {
		t.Errorf("%s: %s memories are left of turns that were cleared", job, n)
	}
	if n := one(`SELECT count(*) FROM turns t WHERE learned = 1 AND instr(user, 'locker') AND NOT EXISTS (SELECT 1
		FROM memories m WHERE m.turn = t.id)`); n != "0" && job != "import" {
		t.Errorf("%s: %s turns still say what was forgotten", job, n)
	}
	{
		if _, err := db.Exec(`INSERT INTO passages_fts (passages_fts) VALUES ('integrity-check')`); err != nil {
			t.Errorf("%s: the index: %v", job, err)
		}
		if job != "import" { // which deletes without the store
			if n := one(`SELECT count(*) FROM passages_index WHERE kind = 'memory'`); n != "0" {
				t.Errorf("%s: %s rows are not indexed", job, n)
			}
		}
	}
}
