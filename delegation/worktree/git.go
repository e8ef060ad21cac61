package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// gitLimit is how long one git command may take: a large repository takes a while.
const gitLimit = 2 * time.Minute

// A git runs git so that no file of a tree has a say: no hook, filter, driver, monitor, editor or pager runs, nothing
// is fetched, and no configuration but the repository's own is read. Empty fields are left to git.
type git struct {
	Dir   string // the repository (GIT_DIR)
	Tree  string // the work tree (GIT_WORK_TREE)
	Index string // GIT_INDEX_FILE
}

// deaf are settings that outweigh those of a repository's own configuration.
var deaf = settings("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false",
	"core.attributesFile=/dev/null", "core.autocrlf=false", "core.safecrlf=false", "core.quotePath=false",
	"core.protectHFS=true", "core.protectNTFS=true", "core.looseCompression=0", "pack.compression=0", "gc.auto=0",
	"maintenance.auto=false", "commit.gpgSign=false", "submodule.recurse=false", "diff.ignoreSubmodules=all",
	"diff.mnemonicPrefix=false", "diff.noprefix=false", "merge.directoryRenames=false", "protocol.allow=never",
	"safe.directory=*")

func settings(all ...string) []string {
	var args []string
	for _, s := range all {
		args = append(args, "-c", s)
	}
	return args
}

// A failure is a git command that failed.
type failure struct {
	command, said string
	code          int // its exit status, -1 where it did not run to its end
}

func (f *failure) Error() string { return fmt.Sprintf("git %s: %s", f.command, f.said) }

// run returns what git prints, without the last line's end. in is its stdin.
func (g git) run(ctx context.Context, in string, args ...string) (string, error) {
	var out bytes.Buffer
	err := g.write(ctx, &out, in, args...)
	return strings.TrimRight(out.String(), "\n"), err
}

// paths returns the names that git prints with -z.
func (g git) paths(ctx context.Context, args ...string) ([]string, error) {
	out, err := g.run(ctx, "", args...)
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}

// A change is a file that is not the same in two trees.
type change struct {
	mode, id string // in the second one
	removed  bool   // it is not there
	name     string
}

// changes returns what differs between two trees.
func (g git) changes(ctx context.Context, from, to string) (all []change, err error) {
	raw, err := g.paths(ctx, "diff-tree", "-r", "-z", "--no-renames", from, to)
	for i := 0; i+1 < len(raw); i += 2 { // ":100644 100755 OLD NEW M", NAME
		if fields := strings.Fields(raw[i]); len(fields) == 5 {
			all = append(all, change{fields[1], fields[3], fields[4] == "D", raw[i+1]})
		}
	}
	return all, err
}

// commit makes a commit of the index on another one.
func (g git) commit(ctx context.Context, parent, message string) (string, error) {
	tree, err := g.run(ctx, "", "write-tree", "--missing-ok")
	if err != nil {
		return "", err
	}
	return g.run(ctx, "", "commit-tree", tree, "-p", parent, "-m", message)
}

// replace puts files into the index as they stand in the tree, and takes out those that are gone.
func (g git) replace(ctx context.Context, gone, here []string, options ...string) error {
	if len(gone) > 0 {
		if _, err := g.run(ctx, joined(gone), "update-index", "-z", "--force-remove", "--stdin"); err != nil {
			return err
		}
	}
	add := slices.Concat([]string{"update-index"}, options, []string{"--add", "--replace", "-z", "--stdin"})
	_, err := g.run(ctx, joined(here), add...)
	return err
}

// write writes what git prints to out.
func (g git) write(ctx context.Context, out io.Writer, in string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", slices.Concat(deaf, args)...)
	cmd.Dir = g.Tree
	if cmd.Dir == "" {
		cmd.Dir = g.Dir
	}
	cmd.Env = g.environment()
	cmd.Cancel = func() error { // killed at once it would leave its lock files in the caller's repository
		if err := cmd.Process.Signal(syscall.SIGTERM); err == nil || errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return cmd.Process.Kill() // Windows knows no other way
	}
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = endsWithUs
	runtime.LockOSThread() // that thread's end would end git
	defer runtime.UnlockOSThread()
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), out, &stderr
	err := cmd.Run()
	if err == nil {
		return nil
	}
	f := &failure{command: args[0], said: chars.OneLine(stderr.String()), code: -1}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		f.code = exit.ExitCode()
	}
	if f.said == "" {
		f.said = err.Error()
	}
	f.said = chars.Cut(f.said, 300)
	return f
}

// environment is ours without what would speak to git.
func (g git) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "GIT_") || name == "HOME" || name == "XDG_CONFIG_HOME"
	})
	env = append(env, "HOME="+os.DevNull, "XDG_CONFIG_HOME="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_ALLOW_PROTOCOL=", "GIT_EDITOR=false", "GIT_PAGER=cat", "LC_ALL=C",
		"GIT_AUTHOR_NAME=signet-acp-proxy", "GIT_AUTHOR_EMAIL=signet-acp-proxy@localhost",
		"GIT_COMMITTER_NAME=signet-acp-proxy", "GIT_COMMITTER_EMAIL=signet-acp-proxy@localhost")
	for name, value := range map[string]string{"GIT_DIR": g.Dir, "GIT_WORK_TREE": g.Tree, "GIT_INDEX_FILE": g.Index} {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// joined are names as git reads them with -z.
func joined(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, "\x00") + "\x00"
}
