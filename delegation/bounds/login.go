package bounds

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// makeHomes makes the folders for a harness's state and temp files in own, with copies of its logins.
func makeHomes(own string, homes []upstream.Home, env []string) error {
	inside, err := os.OpenRoot(own) // a child that was here before may have left links that lead out
	if err != nil {
		return err
	}
	defer inside.Close()
	for _, name := range []string{tmpName, shmName} {
		if err := inside.MkdirAll(name, 0o700); err != nil {
			return err
		}
	}
	for _, home := range homes {
		folder := filepath.FromSlash(home.Folder)
		if err := inside.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		for _, name := range home.Login {
			from := filepath.Join(folderOf(home, env), name)
			if err := copyLogin(inside, from, filepath.Join(folder, name)); err != nil {
				return fmt.Errorf("its login: %w", err)
			}
		}
	}
	return nil
}

// folderOf returns the user's own folder.
func folderOf(h upstream.Home, env []string) string {
	if h.Variable != "" {
		if dir := value(env, h.Variable); dir != "" {
			return dir
		}
	}
	return filepath.Join(value(env, "HOME"), filepath.FromSlash(h.Folder))
}

// maxLogin is how large a login file may be.
const maxLogin = 1 << 20

func copyLogin(inside *os.Root, from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it may have a key in the environment
	}
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxLogin))
	if err != nil {
		return err
	}
	if err := inside.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return inside.WriteFile(to, text, 0o600)
}

// Forget removes the copies of logins, and what is left of temp files.
func (p Place) Forget(h upstream.Profile) error {
	inside, err := os.OpenRoot(p.State) // the child may have made links that lead out
	if err != nil {
		return err
	}
	defer inside.Close()
	err = errors.Join(inside.RemoveAll(tmpName), inside.RemoveAll(shmName))
	for _, home := range h.Homes {
		for _, name := range home.Login {
			removed := inside.Remove(filepath.Join(filepath.FromSlash(home.Folder), name))
			if !errors.Is(removed, fs.ErrNotExist) {
				err = errors.Join(err, removed)
			}
		}
	}
	return err
}
