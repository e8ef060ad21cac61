package runtime

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes a file with mode 0600, atomically: nobody sees half of it, and on an error the old file stays.
func WriteFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".signet-acp-proxy-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	b := bufio.NewWriterSize(f, 1<<16)
	if err = errors.Join(write(b), b.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// RemoveFiles removes files, as far as they are there. what says in an error what they are.
func RemoveFiles(what string, names ...string) error {
	var failed error
	for _, name := range names {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, fmt.Errorf("%s could not be removed: %w", what, err))
		}
	}
	return failed
}
