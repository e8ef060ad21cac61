package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNothing says that nothing is kept of a delegation: it wrote nothing, was not to write, or was discarded.
var ErrNothing = errors.New("it made no changes")

// A Result is what a delegation has handed back, until it is discarded.
type Result struct {
	place
	base, result string                 // commits
	seen         map[string]fs.FileInfo // files of the caller's that Apply has read
}

// Open opens the result at root, which must lie directly below folders: the database may name any folder. What a runner
// that was killed has left is taken as it stands. The error is ErrNothing where there is no result.
func Open(ctx context.Context, folders, root string) (*Result, error) {
	p, err := ours(folders, root)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !p.Edit:
		return nil, ErrNothing
	case err != nil:
		return nil, err
	}
	r := &Result{place: p}
	if r.base, err = r.git().run(ctx, "", "rev-parse", "--quiet", "--verify", baseRef); err != nil {
		return nil, ErrNothing // its runner was killed before the child began
	}
	r.result, err = r.git().run(ctx, "", "rev-parse", "--quiet", "--verify", resultRef)
	if err == nil {
		return r, nil
	}
	f, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	f.base = r.base
	w, err := f.take(ctx, "Delegated")
	if err != nil {
		return nil, fmt.Errorf("taking what its runner has left: %w", err)
	}
	if w.Branch == "" {
		return nil, ErrNothing
	}
	r.result, err = r.git().run(ctx, "", "rev-parse", "--verify", resultRef)
	return r, err
}

// Discard removes the folder of a delegation at root, which must lie directly below folders, with all that it has
// handed back, and the ref in the caller's repository. What is gone already is no error.
func Discard(ctx context.Context, folders, root string) error {
	p, err := ours(folders, root)
	switch {
	case p.root == "" && errors.Is(err, fs.ErrNotExist):
		return nil
	case p.root == "":
		return err
	}
	f, err := p.open(ctx)
	if err != nil {
		return err
	}
	return f.Drop(ctx)
}

// Diff writes the changes as a patch that git apply takes, with renames and binary files.
func (r *Result) Diff(ctx context.Context, out io.Writer) error {
	return r.git().write(ctx, out, "", "diff-tree", "-r", "-p", "-M", "--binary", "--full-index", "--no-ext-diff",
		"--no-textconv", "--no-color", r.base, r.result)
}

// Stat returns a line for each changed file, and their sum, as git diff --stat does. Nothing in it speaks to a
// terminal.
func (r *Result) Stat(ctx context.Context) (string, error) {
	return r.git().run(ctx, "", "diff-tree", "-r", "-M", "--stat=100", "--no-color", r.base, r.result)
}

// Applied reports whether Apply has put the result into the caller's folder.
func (r *Result) Applied(ctx context.Context) bool {
	_, err := r.git().run(ctx, "", "rev-parse", "--quiet", "--verify", appliedRef)
	return err == nil
}

// ApplyOptions of Apply.
type ApplyOptions struct {
	Steering bool     // what would run or steer programs is applied, too
	Only     []string // files and folders from the top; none: all
}

// Apply merges the changes into what stands in the caller's folder now, committed or not, and returns the files that it
// has written. Index, branch and HEAD there stay as they are. Where it does not fit the error has git's words, and
// nothing is changed; what was applied already changes nothing. Without Steering, what would run or steer programs
// there is held back. Where not all is applied, the result does not count as applied.
func (r *Result) Apply(ctx context.Context, o ApplyOptions) (written []string, held []Held, err error) {
	f, err := r.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if _, err := os.Stat(r.Top); err != nil {
		return nil, nil, fmt.Errorf("its original folder no longer exists: %w", err)
	}
	changed, err := r.git().changes(ctx, r.base, r.result)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, c := range changed {
		names = append(names, c.name)
	}
	left, err := notWanted(names, o.Only)
	if err != nil {
		return nil, nil, err
	}
	if !o.Steering {
		if held, err = r.held(ctx, changed); err != nil {
			return nil, nil, err
		}
		held = slices.DeleteFunc(held, func(h Held) bool { return slices.Contains(left, h.File) })
		for _, h := range held {
			left = append(left, h.File)
		}
	}
	target := r.git()
	target.Tree, target.Index = r.Top, target.Index+".apply"
	defer os.Remove(target.Index)
	theirs, err := r.without(ctx, target, left)
	if err != nil {
		return nil, nil, err
	}
	now, err := r.snapshotNow(ctx, target, names)
	if err != nil {
		return nil, nil, err
	}
	merged, err := merge(ctx, target, now, theirs)
	if err != nil {
		return nil, nil, err
	}
	written, err = r.put(ctx, target, now, merged)
	if err != nil {
		return nil, nil, fmt.Errorf("writing into %s: %w", r.Top, err)
	}
	if len(left) == 0 {
		_, err = r.git().run(ctx, "", "update-ref", appliedRef, r.result)
	}
	return written, held, err
}

// notWanted returns those of the changed files that are not to be applied, if only some are.
func notWanted(names, only []string) ([]string, error) {
	if len(only) == 0 {
		return nil, nil
	}
	left := names
	for _, wanted := range only {
		wanted = path.Clean(filepath.ToSlash(wanted))
		isWanted := func(name string) bool {
			return wanted == "." || name == wanted || strings.HasPrefix(name, wanted+"/")
		}
		if !slices.ContainsFunc(names, isWanted) {
			return nil, fmt.Errorf("it changed nothing at %s, but: %s", wanted, strings.Join(names, ", "))
		}
		left = slices.DeleteFunc(slices.Clone(left), isWanted)
	}
	return left, nil
}

// snapshotNow returns a commit with the files as they were handed on, but those named, which the child changed, as they
// stand in the caller's folder now.
func (r *Result) snapshotNow(ctx context.Context, target git, names []string) (string, error) {
	if _, err := target.run(ctx, "", "read-tree", r.base); err != nil {
		return "", fmt.Errorf("its base commit is gone from %s: %w", r.Top, err)
	}
	var here, gone []string
	look := newTree(r.Top)
	r.seen = map[string]fs.FileInfo{}
	for _, name := range names {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if info := look.at(dir); info != nil && !info.IsDir() {
				here = append(here, dir) // a file now, where there was a folder
			}
		}
		switch info := look.at(name); {
		case info != nil && info.IsDir():
			if other := otherFile(r.Top, name, names); other != "" {
				return "", fmt.Errorf("CONFLICT (file/directory): %s is a folder with %s", name, other)
			}
		case info != nil:
			here, r.seen[name] = append(here, name), info
		default:
			gone = append(gone, name)
		}
	}
	if err := target.replace(ctx, gone, here); err != nil {
		return "", err
	}
	return target.commit(ctx, r.base, "The caller's folder")
}

// otherFile returns a file in a folder below top that is not one of names, "" for none.
func otherFile(top, folder string, names []string) (other string) {
	_ = filepath.WalkDir(filepath.Join(top, folder), func(file string, e fs.DirEntry, _ error) error {
		name, err := filepath.Rel(top, file)
		if name = filepath.ToSlash(name); err != nil || e == nil || !e.IsDir() && !slices.Contains(names, name) {
			other = name
			return fs.SkipAll
		}
		return nil
	})
	return other
}

// merge returns the tree in which two commits come together.
func merge(ctx context.Context, g git, ours, theirs string) (string, error) {
	out, err := g.run(ctx, "", "merge-tree", "--write-tree", "--messages", "--name-only", ours, theirs)
	tree, words, _ := strings.Cut(out, "\n")
	var failed *failure
	switch {
	case errors.As(err, &failed) && failed.code == 1:
		_, words, _ = strings.Cut(words, "\n\n") // behind the names
		return "", errors.New(cmp.Or(strings.TrimSpace(words), "conflict with the current files"))
	case errors.As(err, &failed) && strings.HasPrefix(failed.said, "usage:"):
		return "", errors.New("this git is older than 2.38 and cannot merge it: apply what diff prints yourself " +
			"(git apply --3way)")
	}
	return tree, err
}
