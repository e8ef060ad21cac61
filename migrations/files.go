package migrations

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// ErrNetworkFS is an error of Open.
var ErrNetworkFS = errors.New("on a network file system, where SQLite's locks cannot be trusted: " +
	"choose a local file with --db")

// ours is the name of the folder that belongs to this program alone. The mode of any other folder is the person's to
// choose.
const ours = "acp"

// secure makes the database file and its folder, if they are missing, and makes sure that nobody else can read them.
// SQLite makes its -wal and -shm files with the mode of the database file.
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
	// An existing file is not opened: closing it would drop the POSIX locks that a connection of this process holds on
	// it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	switch {
	case err == nil:
		return f.Close()
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

// tightenBelow tightens what else is in our folder: locks, logs, transcripts. Errors are ignored, because the folder
// itself keeps others out already.
func tightenBelow(dir string) {
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && (e.IsDir() || e.Type().IsRegular()) { // a link may lead to another user's file
			_ = tighten(name)
		}
		return nil
	})
}

// tighten removes the permissions of group and others from a file, if it is there. Windows has none of these.
func tighten(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	info, err := os.Stat(name)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(name, info.Mode().Perm()&^0o077)
	}
	if errors.Is(err, fs.ErrNotExist) { // another process may just have closed the database
		return nil
	}
	return err
}
