package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// gitLimit is how long one git command may take: a work tree of a large repository takes a while.
const gitLimit = 2 * time.Minute

// A repository is a git repository, by the top of its work tree.
type repository struct{ top string }

// repositoryOf gives the repository of a folder; false where it is in none, or there is no git.
func repositoryOf(ctx context.Context, dir string) (repository, bool) {
	top, err := repository{dir}.git(ctx, nil, "rev-parse", "--show-toplevel")
	return repository{top}, err == nil && top != ""
}

// git runs git in the repository, without hooks and without asking anybody, and gives what it prints.
func (r repository) git(ctx context.Context, env []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", r.top, "-c", "core.hooksPath=/dev/null", "-c",
		"core.fsmonitor=false", "-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "core.quotePath=false"},
		args...)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "GIT_CONFIG") // set by a git that runs us
	}), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "GIT_AUTHOR_NAME=signet-acp-proxy",
		"GIT_AUTHOR_EMAIL=signet-acp-proxy@localhost",
		"GIT_COMMITTER_NAME=signet-acp-proxy", "GIT_COMMITTER_EMAIL=signet-acp-proxy@localhost")
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		said := strings.Join(strings.Fields(stderr.String()), " ")
		if said == "" {
			said = err.Error()
		}
		return "", fmt.Errorf("git %s: %s", args[0], chars.Cut(said, 300))
	}
	return strings.TrimRight(string(out), "\n"), nil
}

// snapshot makes a commit of the folder as it stands, with what is not committed but without what is ignored. It leaves
// the repository's own index alone.
func (r repository) snapshot(ctx context.Context, at string) (string, error) {
	index := filepath.Join(at, "index")
	defer os.Remove(index)
	if own, err := r.git(ctx, nil, "rev-parse", "--absolute-git-dir"); err == nil {
		// a copy of the index saves git reading files that did not change
		if text, err := os.ReadFile(filepath.Join(own, "index")); err == nil {
			if err := os.WriteFile(index, text, 0o600); err != nil {
				return "", err
			}
		}
	}
	tree, err := r.tree(ctx, []string{"GIT_INDEX_FILE=" + index})
	if err != nil {
		return "", err
	}
	return r.commit(ctx, tree, "The folder as it stood when it was delegated")
}

// tree stores all files of the work tree as a git tree.
func (r repository) tree(ctx context.Context, env []string) (string, error) {
	if _, err := r.git(ctx, env, "add", "-A", "."); err != nil {
		return "", err
	}
	return r.git(ctx, env, "write-tree")
}

// commit makes a commit of a tree on top of HEAD, or gives HEAD where that has the same tree.
func (r repository) commit(ctx context.Context, tree, message string) (string, error) {
	args := []string{"commit-tree", tree, "-m", message}
	if head, err := r.git(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
		if own, err := r.git(ctx, nil, "rev-parse", "HEAD^{tree}"); err == nil && own == tree {
			return head, nil
		}
		args = append(args, "-p", head)
	}
	return r.git(ctx, nil, args...)
}

// A worktree is a git work tree of a delegation, beside the repository's own.
type worktree struct {
	main   repository
	own    repository
	base   string // the commit that it was made from
	branch string // "" for none
}

// addWorktree adds a work tree at path, on a new branch where one is named.
func (r repository) addWorktree(ctx context.Context, path, branch string) (*worktree, error) {
	base, err := r.snapshot(ctx, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	args := []string{"worktree", "add", "--quiet", "--detach", path, base}
	if branch != "" {
		args = []string{"worktree", "add", "--quiet", "-b", branch, path, base}
	}
	w := &worktree{main: r, own: repository{path}, base: base, branch: branch}
	if _, err := r.git(ctx, nil, args...); err != nil {
		return nil, errors.Join(err, r.removeWorktree(ctx, path))
	}
	return w, nil
}

// changes gives the paths that differ from the base, and commits them on the branch, if there is one.
func (w *worktree) changes(ctx context.Context, message string) (paths []string, err error) {
	tree, err := w.own.tree(ctx, nil)
	if err != nil {
		return nil, err
	}
	names, err := w.own.git(ctx, nil, "diff", "--name-only", "-z", "--no-renames", w.base, tree)
	if err != nil {
		return nil, err
	}
	paths = strings.FieldsFunc(names, func(r rune) bool { return r == 0 })
	if w.branch == "" || len(paths) == 0 {
		return paths, nil
	}
	commit, err := w.own.commit(ctx, tree, message)
	if err == nil {
		_, err = w.own.git(ctx, nil, "update-ref", "refs/heads/"+w.branch, commit)
	}
	return paths, err
}

// removeWorktree removes the work tree at path.
func (r repository) removeWorktree(ctx context.Context, path string) error {
	_, err := r.git(ctx, nil, "worktree", "remove", "--force", "--force", path)
	if err != nil {
		err = os.RemoveAll(path)
		// git locks a work tree while it makes it, and the runner may have been killed then
		_, _ = r.git(ctx, nil, "worktree", "unlock", path)
		_, pruned := r.git(ctx, nil, "worktree", "prune")
		err = errors.Join(err, pruned)
	}
	return err
}

// dropBranch removes the branch, which has nothing of the child's.
func (w *worktree) dropBranch(ctx context.Context) error {
	if w.branch == "" {
		return nil
	}
	_, err := w.main.git(ctx, nil, "update-ref", "-d", "refs/heads/"+w.branch)
	return err
}
