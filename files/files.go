// Package files reads and replaces a file as a whole, removes files, and says whose a file is.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// open opens a regular file for reading, links followed: a pipe would never end, or never begin.
func open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("not a regular file")}
	}
	return os.Open(name)
}

// Read returns what a regular file holds.
func Read(name string) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Replace writes a file atomically, with this mode: nobody sees half of it, and on an error the old file stays.
func Replace(name string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".signet-acp-proxy-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	b := bufio.NewWriterSize(f, 1<<16)
	if err = errors.Join(write(b), b.Flush(), f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// ReplaceText is Replace with a text.
func ReplaceText(name string, mode fs.FileMode, text []byte) error {
	return Replace(name, mode, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// Mode returns the permissions of a file, and those of a new one where there is none: nobody else reads it.
func Mode(name string) fs.FileMode {
	if info, err := os.Stat(name); err == nil {
		return info.Mode().Perm()
	}
	return 0o600
}

// Remove removes files, as far as they are there. what says in an error what they are.
func Remove(what string, names ...string) error {
	var failed error
	for _, name := range names {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, fmt.Errorf("%s could not be removed: %w", what, err))
		}
	}
	return failed
}
