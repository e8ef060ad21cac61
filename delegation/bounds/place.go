package bounds

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// Prepare makes the place's folders, and returns the rules and the environment of a harness whose program is at path.
// closed is what it is never to reach, whatever else is on a list.
//
// Logins are copied. With the file itself a child could put another's account into it, with which the user would talk
// later; and a harness that cannot write it may fail when it renews it. What a child renews is not taken back.
//
// chosen are variables that a person lets it keep; files that their values name may be read.
func (p Place) Prepare(h upstream.Profile, path string, command, env, chosen, closed []string) (
	Rules, []string, error) {
	own, err := filepath.EvalSymlinks(p.State)
	if err != nil {
		return Rules{}, nil, err
	}
	if err := makeHomes(own, h.Homes, env); err != nil {
		return Rules{}, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return Rules{}, nil, err
	}
	closed = real(slices.Concat(closed, homes(env), keys(), []string{p.Caller}))
	files := slices.DeleteFunc(named(env, chosen), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.Mode().IsRegular()
	})
	shared := slices.Concat(system, named(env, certificates))
	words := append([]string{path}, command...)
	others := slices.Concat(files, []string{self}, p.Reads)
	r := Rules{Memory: p.Memory, State: own, Write: []string{own}}
	r.Read, r.Links = without(real(shared), closed)
	r.Read = append(r.Read, real(slices.Concat(toolchains(env, closed), filesOf(words, closed), others))...)
	r.Links = append(r.Links, links(slices.Concat(shared, binaries(env), absolute(words), others,
		[]string{p.Tree, p.State}))...)
	if tree := real([]string{p.Tree}); p.Edit {
		r.Write = append(r.Write, tree...)
	} else {
		r.Read = append(r.Read, tree...)
	}
	for _, list := range []*[]string{&r.Read, &r.Links} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r, environment(own, h, env, chosen), nil
}

// environment returns the variables of a harness whose state is in own.
func environment(own string, h upstream.Profile, env, chosen []string) []string {
	with := append(keep(env, slices.Concat(h.Variables, chosen)), "HOME="+own, "TMPDIR="+filepath.Join(own, tmpName),
		"XDG_CONFIG_HOME="+filepath.Join(own, ".config"), "XDG_CACHE_HOME="+filepath.Join(own, ".cache"),
		"XDG_DATA_HOME="+filepath.Join(own, ".local/share"), "XDG_STATE_HOME="+filepath.Join(own, ".local/state"))
	for name, folder := range toolVariables {
		at := cmp.Or(value(env, name), filepath.Join(value(env, "HOME"), folder))
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			with = append(with, name+"="+at)
		}
	}
	with = append(with, h.Bounded...)
	for _, home := range h.Homes {
		if home.Variable != "" {
			with = append(with, home.Variable+"="+filepath.Join(own, filepath.FromSlash(home.Folder)))
		}
	}
	return with
}

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
