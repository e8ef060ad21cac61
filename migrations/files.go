package migrations

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNetworkFS is an error of Open.
var ErrNetworkFS = errors.New("on a network file system, where SQLite's locks cannot be trusted: " +
	"choose a local file with --db")

// ours is the name of the folder that belongs to us alone; any other folder is the person's, and its mode is theirs
// to choose.
const ours = "acp"

// secure makes sure that the database file and its folder are there and nobody else's to read. SQLite gives its -wal
// and -shm files the mode of the database file.
func secure(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if remote, kind := onNetwork(dir); remote {
		return fmt.Errorf("%w (%s)", ErrNetworkFS, kind)
	}
	if filepath.Base(dir) == ours {
		if err := tighten(dir); err != nil {
			return err
		}
		tightenBelow(dir)
	}
	// A file that is there is not opened: closing it would drop the locks (POSIX) of a connection that this process
	// has on it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	switch {
	case err == nil:
		if err := f.Close(); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	if err := writable(path); err != nil {
		return err
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := tighten(name); err != nil {
			return err
		}
	}
	return nil
}

// tightenBelow does what it can for what else is in our folder: locks, logs, transcripts. The folder itself keeps
// others out already.
func tightenBelow(dir string) {
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && (e.IsDir() || e.Type().IsRegular()) { // a link leads to what may be somebody else's
			_ = tighten(name)
		}
		return nil
	})
}

// tighten takes what group and others may do from a file, if it is there.
func tighten(name string) error {
	info, err := os.Stat(name)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(name, info.Mode().Perm()&^0o077)
	}
	if errors.Is(err, fs.ErrNotExist) { // another process may just have closed the database
		return nil
	}
	return err
}
