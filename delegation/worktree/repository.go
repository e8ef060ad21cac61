package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A repository is one of the caller's. We only read it, but for one ref that holds its HEAD.
type repository struct {
	Top     string // of its work tree
	Path    string // of Top below the folder that is handed on, "" for that folder itself
	Dir     string // its git folder
	Common  string // what that shares with other work trees of the repository
	Objects string // its object store
	Format  string // of its objects' names: sha1 or sha256
	Head    string // the commit that is checked out, "" before the first one
	Branch  string // the ref that is checked out, "HEAD" for none
}

// repositoryOf returns the repository of a folder; false where it is in none, or there is no git.
func repositoryOf(ctx context.Context, dir string) (repository, bool) {
	out, err := git{Tree: dir}.found(ctx, "", "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir",
		"--git-common-dir", "--git-path", "objects", "--show-object-format")
	line := strings.Split(out, "\n")
	if err != nil || len(line) != 5 {
		return repository{}, false
	}
	r := repository{Top: filepath.FromSlash(line[0]), Dir: line[1], Common: line[2], Objects: line[3], Format: line[4]}
	r.Head, _ = r.git().run(ctx, "", "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	r.Branch, err = r.git().run(ctx, "", "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		r.Branch = "HEAD"
	}
	return r, true
}

// found runs git where it has to find the repository by itself.
func (g git) found(ctx context.Context, in string, args ...string) (string, error) {
	dir := g.Tree
	g.Tree = ""
	return g.run(ctx, in, append([]string{"-C", dir}, args...)...)
}

func (r repository) git() git { return git{Dir: r.Dir, Tree: r.Top} }

// hold keeps what HEAD names from being collected as garbage, as long as the delegation with this id is there.
func (r repository) hold(ctx context.Context, id string) error {
	if r.Head == "" {
		return nil
	}
	_, err := r.git().run(ctx, "", "update-ref", "refs/signet/"+id, r.Head)
	return err
}

// release undoes hold, also one that was killed: nobody else locks this ref. A repository that is gone holds nothing.
func (r repository) release(ctx context.Context, id string) error {
	if _, err := os.Stat(r.Common); err != nil {
		return nil //nolint:nilerr // there is nothing to be undone
	}
	ref := "refs/signet/" + id
	if err := os.Remove(filepath.Join(r.Common, ref+".lock")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err := git{Dir: r.Common}.run(ctx, "", "update-ref", "-d", ref)
	return err
}

// userSettings returns settings of the person for whom git works here: the file with what is ignored everywhere, and
// the name for commits. Reading them runs nothing.
func (r repository) userSettings(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "-C", r.Top, "config", "-z", "--get-regexp",
		`^(core\.(excludesfile|hookspath)|user\.(name|email))$`)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "GIT_CONFIG") // set by a git that runs us
	})
	out, _ := cmd.Output() // there may be none
	found := map[string]string{}
	for one := range strings.SplitSeq(string(out), "\x00") {
		if name, value, ok := strings.Cut(one, "\n"); ok {
			found[name] = value
		}
	}
	home, _ := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(found["core.excludesfile"], "~/"); ok {
		found["core.excludesfile"] = filepath.Join(home, rest)
	}
	configured := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	found["core.excludesfile"] = cmp.Or(found["core.excludesfile"], filepath.Join(configured, "git", "ignore"))
	return found
}

// objectFolders returns an object store and those that it borrows from.
func objectFolders(store string) []string {
	all := []string{store}
	for i := 0; i < len(all) && len(all) < 32; i++ {
		text, _ := os.ReadFile(filepath.Join(all[i], "info", "alternates"))
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\r\n")
			if line == "" || line[0] == '#' {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(all[i], line)
			}
			if !slices.Contains(all, line) {
				all = append(all, line)
			}
		}
	}
	return all
}

// borrow makes a repository in the git folder of g read the objects of others.
func (g git) borrow(folders []string) error {
	text := filepath.ToSlash(strings.Join(folders, "\n") + "\n")
	return os.WriteFile(filepath.Join(g.Dir, "objects", "info", "alternates"), []byte(text), 0o600)
}

// cloneInto makes the child's own repository at top: the same commits, branches and files, but its own refs,
// configuration, index and hooks. Nothing that is done there reaches the caller's.
func (r repository) cloneInto(ctx context.Context, top string, user map[string]string) error {
	if _, err := (git{}).run(ctx, "", "init", "--quiet", "--template=", "--object-format="+r.Format, top); err != nil {
		return err
	}
	own := git{Dir: filepath.Join(top, ".git"), Tree: top}
	if err := os.MkdirAll(filepath.Join(own.Dir, "info"), 0o700); err != nil {
		return err
	}
	if err := own.borrow(objectFolders(r.Objects)); err != nil {
		return err
	}
	for _, name := range []string{"shallow", "info/exclude"} {
		if text, err := os.ReadFile(filepath.Join(r.Common, name)); err == nil {
			if err := os.WriteFile(filepath.Join(own.Dir, name), text, 0o600); err != nil {
				return err
			}
		}
	}
	config, err := os.OpenFile(filepath.Join(own.Dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(config, "[user]\n\tname = %q\n\temail = %q\n", user["user.name"], user["user.email"])
	if err = errors.Join(err, config.Close()); err != nil || r.Head == "" {
		return err
	}
	refs, err := r.git().run(ctx, "", "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/remotes",
		"refs/tags")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(own.Dir, "packed-refs"), []byte(refs+"\n"), 0o600); err != nil {
		return err
	}
	head := r.Head
	if r.Branch != "HEAD" {
		head = "ref: " + r.Branch
	}
	if err := os.WriteFile(filepath.Join(own.Dir, "HEAD"), []byte(head+"\n"), 0o600); err != nil {
		return err
	}
	_, err = own.run(ctx, "", "read-tree", "HEAD")
	return err
}
