package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"testing"
	"time"

	. "github.com/Signet-AI/signet-acp-proxy/sqlite"
)

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

// The zero time is stored as 0, and comes back.
func TestStamp(t *testing.T) {
	for ms, at := range map[int64]time.Time{0: {}, 1: time.UnixMilli(1), -1: time.UnixMilli(-1)} {
		if Stamp(at) != ms || !Unstamp(ms).Equal(at) {
			t.Errorf("%v is stored as %d, and %d read as %v", at, Stamp(at), ms, Unstamp(ms))
		}
	}
}
