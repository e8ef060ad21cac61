package correlation_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// What the real driver says when something is wrong with the file, and what is made of it.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(b *bench)
		want  error
	}{
		{"read-only", func(b *bench) {
			db := must(sql.Open("sqlite3", "file:"+filepath.Join(b.dir, "acp", "sessions.db")+"?mode=ro"))(b.tb)
			b.tb.Cleanup(func() { check(b.tb, db.Close()) })
			b.Store = New(db, Options{Now: b.clock.Now})
		}, ErrReadOnly},
		{"full", func(b *bench) {
			_, err := b.db.ExecContext(b.ctx(), fmt.Sprintf("PRAGMA max_page_count = %d", b.count("PRAGMA page_count")))
			check(b.tb, err)
		}, ErrFull},
		{"damaged", func(b *bench) {
			_, err := b.db.ExecContext(b.ctx(), "PRAGMA wal_checkpoint(TRUNCATE)")
			check(b.tb, err)
			check(b.tb, b.db.Close())
			path := filepath.Join(b.dir, "acp", "sessions.db")
			bytes := must(os.ReadFile(path))(b.tb)
			for i := 4096; i < len(bytes); i++ { // all but the first page
				bytes[i] = 0xa5
			}
			check(b.tb, os.WriteFile(path, bytes, 0o600))
			b.db = must(sql.Open("sqlite3", "file:"+path))(b.tb)
			b.tb.Cleanup(func() { check(b.tb, b.db.Close()) })
			b.Store = New(b.db, Options{Now: b.clock.Now})
		}, ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			v := b.open(OpenSession{ACPID: "s"})
			tt.fault(b)
			err := b.SaveTurns(t.Context(), []Turn{{Session: v.ID, User: strings.Repeat("x", 1<<16)}})
			if !errors.Is(err, tt.want) {
				t.Errorf("err = %v, want %v", err, tt.want)
			}
			if strings.Contains(fmt.Sprint(err), "\n") {
				t.Errorf("%q is more than one line", err)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	wrapped := fmt.Errorf("opening: %w", ErrFull)
	for _, tt := range []struct {
		in, want error
	}{
		{nil, nil},
		{io.EOF, io.EOF},
		{sql.ErrNoRows, sql.ErrNoRows},
		{context.DeadlineExceeded, context.DeadlineExceeded},
		{wrapped, ErrFull},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, ErrReadOnly},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EROFS}, ErrReadOnly},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, ErrFull},
		{errors.New("database is locked"), ErrBusy},
		{errors.New("database disk image is malformed"), ErrCorrupt},
		{errors.New("file is not a database"), ErrCorrupt},
		{errors.New("disk I/O error: no such device"), ErrDisk},
	} {
		got := Explain(tt.in)
		if !errors.Is(got, tt.want) || !errors.Is(got, tt.in) {
			t.Errorf("Explain(%v) = %v, want both that and %v", tt.in, got, tt.want)
		}
		if again := Explain(got); again != got { //nolint:errorlint // the very same
			t.Errorf("explained twice: %v", again)
		}
	}
}
