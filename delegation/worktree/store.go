package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Refs of our own repository.
const (
	baseRef    = "refs/signet/base"    // the files as they were handed on
	resultRef  = "refs/signet/result"  // as they came back
	appliedRef = "refs/signet/applied" // there once the caller has taken them
)

// unattributed takes all attributes that files of a tree give to others: files are taken and given back byte for byte.
const unattributed = "* !text !eol !crlf !ident !filter !working-tree-encoding !diff !merge !whitespace\n"

// makeStore makes our own repository. The child does not see it, so nothing that it does decides what our git does.
func (f *Folder) makeStore(ctx context.Context, format, excludes string) error {
	_, err := git{}.run(ctx, "", "init", "--quiet", "--bare", "--template=", "--object-format="+format, f.git().Dir)
	if err != nil {
		return err
	}
	if err := f.git().borrow(f.Reads()); err != nil {
		return err
	}
	info := filepath.Join(f.git().Dir, "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	// what the caller has git ignore beside .gitignore
	ignored, _ := os.ReadFile(excludes)
	if len(f.Repositories) > 0 {
		more, _ := os.ReadFile(filepath.Join(f.Repositories[0].Common, "info", "exclude"))
		ignored = slices.Concat(ignored, []byte("\n"), more)
	}
	return errors.Join(os.WriteFile(filepath.Join(info, "exclude"), ignored, 0o600),
		os.WriteFile(filepath.Join(info, "attributes"), []byte(unattributed), 0o600))
}

// Reads returns folders outside of the child's own that its git reads: the object stores of the caller.
func (p place) Reads() (folders []string) {
	for _, r := range p.Repositories {
		for _, folder := range objectFolders(r.Objects) {
			if !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	return folders
}

// git is git in our own repository, with the files that the child sees.
func (f *Folder) git() git {
	g := f.place.git()
	g.Tree = f.Tree()
	return g
}

func (p place) git() git {
	dir := filepath.Join(p.root, storeName)
	return git{Dir: dir, Index: filepath.Join(dir, "index")}
}

// snapshotBase stores the files as they are handed on: those named, and what prepare makes (Options.Prepare).
func (f *Folder) snapshotBase(ctx context.Context, names []string,
	prepare func(context.Context, *Folder) error) error {
	if prepare != nil {
		if err := prepare(ctx, f); err != nil {
			return err
		}
		found, _, err := f.added(ctx, "")
		if err != nil {
			return err
		}
		names = append(names, found...)
	}
	base, _, err := f.snapshot(ctx, names)
	if err == nil && f.Edit {
		err = f.ownObjects(ctx, base)
	}
	if err == nil {
		f.base, err = f.git().run(ctx, "", "commit-tree", base, "-m", "The files as they were handed on")
	}
	if err == nil {
		_, err = f.git().run(ctx, "", "update-ref", baseRef, f.base)
	}
	return err
}

// added returns files below a folder of the child's that git neither knows nor ignores, also those in repositories that
// the child has made; left names these.
func (f *Folder) added(ctx context.Context, folder string) (names, left []string, err error) {
	g := f.git()
	if folder != "" {
		g.Tree, g.Index = filepath.Join(f.Tree(), folder), filepath.Join(f.git().Dir, "none")
	}
	found, err := g.paths(ctx, "ls-files", "-z", "--others", "--exclude-standard")
	for _, name := range found {
		if !strings.HasSuffix(name, "/") {
			names = append(names, path.Join(folder, name))
			continue
		}
		inner := path.Join(folder, name)
		more, others, err := f.added(ctx, inner)
		if err != nil {
			return nil, nil, err
		}
		left = append(left, inner+": only the files of this repository came back, not its commits")
		names, left = append(names, more...), append(left, others...)
	}
	return names, left, err
}

// snapshot stores files of the child's as a tree of git. Those that are gone, or are no files any more, are no part of
// it; left names what may not be.
func (f *Folder) snapshot(ctx context.Context, names []string) (tree string, left []string, err error) {
	var here, gone []string
	look := newTree(f.Tree())
	for _, name := range names {
		info := look.at(name)
		switch {
		case info == nil || info.IsDir():
			gone = append(gone, name)
			continue
		case NamesGit(name), info.Mode().Type() == fs.ModeSymlink && isGitFile(path.Base(name)):
			left = append(left, name+": has a name that is not allowed")
			continue
		case info.Mode().IsRegular() && info.Mode()&0o400 == 0:
			_ = os.Chmod(filepath.Join(f.Tree(), name), info.Mode().Perm()|0o400)
		}
		here = append(here, name)
	}
	var options []string
	if !f.Edit { // only what differs is of interest: the content is not kept
		options = []string{"--info-only"}
	}
	if err := f.git().replace(ctx, gone, here, options...); err != nil {
		return "", nil, err
	}
	tree, err = f.git().run(ctx, "", "write-tree", "--missing-ok")
	return tree, left, err
}

// isGitFile reports whether a file is git's and may be no symbolic link, such as .gitmodules.
func isGitFile(name string) bool { return strings.HasPrefix(strings.ToLower(name), ".git") }

// ownObjects copies what a tree borrows beyond the commits that are held into our own repository: such as what the
// caller has staged, and may take back.
func (f *Folder) ownObjects(ctx context.Context, tree string) error {
	args := []string{"rev-list", "--objects", "--no-object-names", tree}
	for _, r := range f.Repositories {
		if r.Head != "" {
			args = append(args, "^"+r.Head+"^{tree}")
		}
	}
	out, err := f.git().run(ctx, "", args...)
	if err != nil {
		return err
	}
	var borrowed []string
	for id := range strings.FieldsSeq(out) {
		if _, err := os.Stat(filepath.Join(f.git().Dir, "objects", id[:2], id[2:])); err != nil {
			borrowed = append(borrowed, id)
		}
	}
	if len(borrowed) == 0 {
		return nil
	}
	_, err = f.git().run(ctx, strings.Join(borrowed, "\n")+"\n", "pack-objects", "--quiet", "--window=0",
		filepath.Join(f.git().Dir, "objects", "pack", "pack"))
	return err
}

// keep stores the result, and a branch on top of the caller's HEAD with the files that the child changed: nothing else
// that the caller had not committed, and nothing of submodules.
func (f *Folder) keep(ctx context.Context, result, message string) error {
	commit, err := f.git().run(ctx, "", "commit-tree", result, "-p", f.base, "-m", message)
	if err != nil {
		return err
	}
	branch := commit
	if head := f.head(); head != "" {
		if branch, err = f.onHead(ctx, head, result, message); err != nil {
			return err
		}
	}
	_, err = f.git().run(ctx, fmt.Sprintf("create %s %s\ncreate refs/heads/signet/%s %s\n", resultRef, commit, f.id(),
		branch), "update-ref", "--stdin")
	return err
}

func (f *Folder) onHead(ctx context.Context, head, result, message string) (string, error) {
	g := f.git()
	g.Index += ".branch"
	defer os.Remove(g.Index)
	if _, err := g.run(ctx, "", "read-tree", head); err != nil {
		return "", err
	}
	changed, err := g.changes(ctx, f.base, result)
	if err != nil {
		return "", err
	}
	var entries strings.Builder
	for _, c := range changed {
		if !f.inSubmodule(c.name) {
			fmt.Fprintf(&entries, "%s %s\t%s\x00", c.mode, c.id, c.name)
		}
	}
	if _, err := g.run(ctx, entries.String(), "update-index", "-z", "--replace", "--index-info"); err != nil {
		return "", err
	}
	return g.commit(ctx, head, message)
}

// head is the commit that is checked out in the caller's folder, "" for none.
func (p place) head() string {
	if len(p.Repositories) == 0 || p.Repositories[0].Path != "" {
		return ""
	}
	return p.Repositories[0].Head
}

// inSubmodule reports whether a name lies in a repository inside the folder's own.
func (p place) inSubmodule(name string) bool {
	return slices.ContainsFunc(p.Repositories, func(r repository) bool {
		return r.Path != "" && strings.HasPrefix(name, r.Path+"/")
	})
}

// forgetUnchanged removes from our repository the content of files that the child left as they were: a result is
// changes, which need no more than the names of the rest. A branch that stands on no HEAD has all files and keeps them.
func (f *Folder) forgetUnchanged(ctx context.Context) error {
	if f.head() == "" {
		return nil
	}
	changed, err := f.git().run(ctx, "", "diff-tree", "-r", "-z", "--no-renames", f.base, resultRef)
	if err != nil {
		return err
	}
	all, err := f.git().paths(ctx, "ls-tree", "-r", "-z", f.base)
	for _, one := range all { // "100644 blob ID", a tab and the name
		fields := strings.Fields(one)
		if id := fields[2]; !strings.Contains(changed, id) {
			_ = os.Remove(filepath.Join(f.git().Dir, "objects", id[:2], id[2:])) // it may be borrowed
		}
	}
	return err
}
