package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
	. "github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Who waits for the lock to begin a transaction gives up with their context, to the moment. The clock is the test's.
func TestWaitingEndsWithTheContext(t *testing.T) {
	for _, tt := range []struct {
		name       string
		limit      func(context.Context) (context.Context, context.CancelFunc)
		want       time.Duration
		isCanceled bool
	}{
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 30*time.Millisecond)
		}, 30 * time.Millisecond, false},
		{"cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(17*time.Millisecond, cancel)
			return ctx, cancel
		}, 17 * time.Millisecond, true},
		{"lock wait", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithCancel(WithLockWait(ctx, 300*time.Millisecond))
		}, 300 * time.Millisecond, false},
		{"no limit", context.WithCancel, 5 * time.Second, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one, two := twoConnections(t)
				tx := must(one.BeginTx(t.Context(), nil))
				ctx, cancel := tt.limit(t.Context())
				defer cancel()
				began := time.Now()
				other, err := two.BeginTx(ctx, nil)
				took := time.Since(began)
				if err == nil {
					_ = other.Rollback()
				}
				if took != tt.want || !errors.Is(Explain(err), ErrBusy) ||
					errors.Is(err, context.Canceled) != tt.isCanceled {
					t.Errorf("%v after %v, want that it is busy after %v", err, took, tt.want)
				}
				if err := tx.Rollback(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// A statement outside of a transaction is patient where its context sets no limit.
func TestStatementsWait(t *testing.T) {
	one, two := twoConnections(t)
	tx := must(one.BeginTx(t.Context(), nil))
	waited := make(chan error, 1)
	go func() {
		_, err := two.ExecContext(context.Background(), "INSERT INTO a VALUES (1)")
		waited <- err
	}()
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

// twoConnections opens a database of its own twice.
func twoConnections(t *testing.T) (one, two *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	return opened(t, path, "CREATE TABLE a (x)"), opened(t, path, "")
}

// A long transaction, as an upgrade is, ends with its context in the middle of a statement; a short one behind it, and
// keeps nothing.
func TestTransactionsEndWithTheContext(t *testing.T) {
	db := opened(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE a (x)")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tx := must(db.BeginTx(ctx, nil))
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err := tx.ExecContext(ctx, `INSERT INTO a WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
		SELECT count(*) FROM c`)
	if err == nil || ctx.Err() == nil {
		t.Errorf("an endless statement ended with %v", err)
	}
	_ = tx.Rollback() // it is by now

	ctx, cancel = context.WithCancel(t.Context())
	err = Write(ctx, db, "writing", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO a VALUES (1)"); err != nil {
			return err
		}
		cancel()
		_, err := tx.ExecContext(ctx, "INSERT INTO a VALUES (2)")
		return err
	})
	left := -1
	if err := db.QueryRow("SELECT count(*) FROM a").Scan(&left); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, context.Canceled) || left != 0 {
		t.Errorf("%v; %d rows are left", err, left)
	}
}

// What the code relies on and the two drivers could do differently.
func TestDriversAreAlike(t *testing.T) {
	db := opened(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE a (x)")
	long := strings.Repeat("é\x00", 1<<16)
	for _, tt := range []struct {
		name string
		in   any
		want any
	}{
		{"NULL", nil, nil},
		{"no bytes", []byte(nil), nil},
		{"an empty BLOB", []byte{}, []byte{}},
		{"a BLOB", []byte("a\x00b"), []byte("a\x00b")},
		{"an empty text", "", ""},
		{"a text with NUL", long, long},
		{"a text that is not UTF-8", "\xff\xfe", "\xff\xfe"},
		{"true", true, int64(1)},
		{"a large number", int64(1) << 62, int64(1) << 62},
		{"a fraction", 0.1, 0.1},
	} {
		var got any
		if err := db.QueryRowContext(t.Context(), "SELECT ?", tt.in).Scan(&got); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	var text []byte
	if err := db.QueryRowContext(t.Context(), "INSERT INTO a VALUES (?) RETURNING x", "é").Scan(&text); err != nil ||
		string(text) != "é" {
		t.Errorf("RETURNING gives %q, %v", text, err)
	}
	r, err := db.ExecContext(t.Context(), "UPDATE a SET x = 1")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.RowsAffected(); n != 1 || err != nil {
		t.Errorf("%d rows affected, %v", n, err)
	}
	var version string
	if err := db.QueryRowContext(t.Context(), "SELECT sqlite_version()").Scan(&version); err != nil ||
		!strings.HasPrefix(version, "3.") {
		t.Errorf("version %q, %v", version, err)
	}
	t.Logf("%s: SQLite %s", migrations.DriverName, version)
}

// A transaction that ended, however it did, leaves the connection as it was: the next one begins, and waits no longer
// than it may.
func TestConnectionAfterTransactions(t *testing.T) {
	db := opened(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE a (x UNIQUE); INSERT INTO a VALUES (0)")
	for _, end := range []func(*sql.Tx, context.CancelFunc) error{
		func(tx *sql.Tx, _ context.CancelFunc) error { return tx.Commit() },
		func(tx *sql.Tx, _ context.CancelFunc) error { return tx.Rollback() },
		func(tx *sql.Tx, _ context.CancelFunc) error {
			if _, err := tx.Exec("INSERT INTO a VALUES (0)"); err == nil {
				return errors.New("took it twice")
			}
			return tx.Rollback()
		},
		func(tx *sql.Tx, cancel context.CancelFunc) error {
			cancel()
			if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) && !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		tx := must(db.BeginTx(ctx, nil))
		if err := end(tx, cancel); err != nil {
			t.Fatal(err)
		}
		cancel()
		limited, stop := context.WithTimeout(t.Context(), time.Second)
		if _, err := db.ExecContext(limited, "UPDATE a SET x = x"); err != nil {
			t.Error(err)
		}
		var ms int
		if err := db.QueryRow("PRAGMA busy_timeout").Scan(&ms); err != nil || ms != 5000 {
			t.Errorf("without a limit the busy timeout is %d ms, %v", ms, err)
		}
		stop()
	}
}

// A deadline comes nearer with each statement: how long SQLite waits for a lock is set anew only where it would be too
// long. The clock is the test's.
func TestADeadlineIsSetSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, _ := twoConnections(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, want := range []int{875, 875, 682} {
			var ms int
			if err := db.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&ms); err != nil || ms != want {
				t.Errorf("the busy timeout is %d ms, %v; want %d", ms, err, want)
			}
			time.Sleep(110 * time.Millisecond)
		}
	})
}

// The short transactions of our processes come one after the other, however long a lock may be waited for. A lock that
// is held out of turn is somebody else's: it is waited for no longer, and nobody waits for the one who waits.
func TestTurns(t *testing.T) {
	one, two := twoConnections(t)
	insert := func(ctx context.Context, db *sql.DB) error {
		return Write(ctx, db, "writing", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO a VALUES (1)")
			return err
		})
	}
	impatient := WithLockWait(t.Context(), 0)
	second := make(chan error, 1)
	err := Write(t.Context(), one, "holding the turn", func(*sql.Tx) error {
		var err error
		for limit := 20 * time.Millisecond; !errors.Is(err, ErrBusy) && limit < time.Minute; limit *= 2 {
			given, stop := context.WithTimeout(impatient, limit) // may be over before it waits
			err = insert(given, two)
			stop()
		}
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrBusy) {
			t.Errorf("beside one of ours: %v", err)
		}
		go func() { second <- insert(impatient, two) }()
		return nil
	})
	if err := errors.Join(err, <-second); err != nil {
		t.Errorf("in turns: %v", err)
	}
	tx := must(one.BeginTx(t.Context(), nil))
	if err := insert(impatient, two); !errors.Is(err, ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("beside somebody else: %v", err)
	}
	turns := pathOf(t, two) + "-writer"
	patient, enough := context.WithCancel(t.Context())
	go func() { second <- insert(patient, two) }()
	for range 3 { // the turn is free while the other one rests
		end, err := TakeTurn(t.Context(), turns)
		if err != nil {
			t.Fatal(err)
		}
		end()
	}
	enough()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
}

func pathOf(t *testing.T, db *sql.DB) (path string) {
	t.Helper()
	if err := db.QueryRow("SELECT file FROM pragma_database_list").Scan(&path); err != nil {
		t.Fatal(err)
	}
	return path
}

// opened opens a database, and runs a script in it.
func opened(t *testing.T, path, script string) *sql.DB {
	t.Helper()
	db := must(migrations.Open(t.Context(), path))
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
	return db
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
