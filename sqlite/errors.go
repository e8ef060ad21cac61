package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Errors that a person can do something about. Explain finds them.
var (
	ErrBusy     = errors.New("another process holds the lock: try again, or end the process that keeps it")
	ErrReadOnly = errors.New("it cannot be written: give this user write permission to the file and its folder, " +
		"or choose another with --db")
	ErrFull    = errors.New("the disk is full: free some space")
	ErrCorrupt = errors.New("the file is damaged or no database: move it away, and a new one is created")
	ErrDisk    = errors.New("the disk fails to read or write: check it")
	ErrSchema  = errors.New("its tables are not as they should be: signet-acp-proxy doctor says what to do")
)

// SQLite's messages are part of its interface (sqlite3_errstr). Errors are told apart by them, so that no driver has to
// be linked.
var messages = []struct {
	text string
	err  error
}{
	{"database is locked", ErrBusy},
	{"database table is locked", ErrBusy},
	{"locking protocol", ErrBusy},
	{"attempt to write a readonly database", ErrReadOnly},
	{"unable to open database file", ErrReadOnly},
	{"access permission denied", ErrReadOnly},
	{"database or disk is full", ErrFull},
	{"database disk image is malformed", ErrCorrupt},
	{"file is not a database", ErrCorrupt},
	{"malformed database schema", ErrCorrupt},
	{"disk I/O error", ErrDisk},
	{"no such table", ErrSchema},
	{"no such column", ErrSchema},
	{"has no column named", ErrSchema},
	{"already exists", ErrSchema},
}

// Explain wraps an error of the database or the file system in that of ErrBusy, ErrReadOnly, ErrFull, ErrCorrupt,
// ErrDisk and ErrSchema which it means. Any other error, and nil, is returned as it is.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{ErrBusy, ErrReadOnly, ErrFull, ErrCorrupt, ErrDisk, ErrSchema} {
		if errors.Is(err, known) {
			return err
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w (%w)", ErrReadOnly, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w (%w)", ErrFull, err)
	}
	text := err.Error()
	for _, m := range messages {
		if !strings.Contains(text, m.text) {
			continue
		}
		if m.err == ErrFull { // SQLite does not say which one
			return fmt.Errorf("%w (that of the database, or of %s: %w)", m.err, os.TempDir(), err)
		}
		return fmt.Errorf("%w (%w)", m.err, err)
	}
	return err
}

// While wraps an error with what was being done, a gerund, and explains it (Explain). nil stays nil.
func While(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, Explain(err))
}
