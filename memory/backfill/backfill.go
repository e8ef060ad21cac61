// Package backfill reads the conversations that harnesses have written down themselves: what was said, by whom and
// when; each harness's format has a file of this package. It opens foreign files for reading only, follows links
// only to a harness's whole folder and to files of notes, and takes from them the words of the user and of the agent:
// no tool output, no thoughts, nothing that the harness says to its model.
//
// It stores nothing: whoever calls it redacts (Clean) and stores. docs/backfill.md describes the formats.
package backfill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/files"
)

// A Skip is a file that was not read, or not to its end.
type Skip struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// formats are all that are known, those with the most users first.
var formats = []format{claude, codex, cursor, copilot, gemini, opencode, cline, roo, kilo, zed, aider, continuedev,
	qwen, goose, amp, crush, pi, specstory, windsurf}

// Agents are the harnesses whose transcripts are understood, in order.
func Agents() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.agent
	}
	return names
}

// Asked reports whether an agent's conversations are read only where somebody asks for them: they stand in projects,
// and a clone may hold other people's.
func Asked(agent string) bool {
	return slices.ContainsFunc(formats, func(f format) bool { return f.agent == agent && f.inProjects })
}

// A Visitor is called with what Walk finds.
type Visitor struct {
	Conversation func(Conversation) error      // a conversation or a part of one; an error ends the walk
	File         func(bytes int64) (read bool) // asked before each file is read; nil reads all
	Skip         func(Skip)
	LeftOut      func(what string, n int) // called with messages that are no one's words; may be nil
	// Since and Until, where they are not zero, leave out files that were written before, and after
	Since, Until time.Time
}

// Walk reads all that an agent has written, files in the order of their names. A file that cannot be read goes to
// visit.Skip; an agent that has written nothing is no error. Errors: that of visit.Conversation, ctx's, and an agent
// that is not among Agents.
func Walk(ctx context.Context, p Place, agent string, visit Visitor) error {
	i := slices.IndexFunc(formats, func(f format) bool { return f.agent == agent })
	if i < 0 {
		return fmt.Errorf("unknown agent %q: conversations are read of %s", agent,
			strings.Join(Agents(), ", "))
	}
	if visit.File == nil {
		visit.File = func(int64) bool { return true }
	}
	if visit.LeftOut == nil {
		visit.LeftOut = func(string, int) {}
	}
	f := formats[i]
	var children []string
	for _, root := range slices.Compact(slices.Sorted(slices.Values(f.roots(p)))) {
		below, err := f.walk(ctx, p, root, visit)
		if err != nil {
			return err
		}
		children = append(children, below...)
	}
	for _, path := range children {
		if err := f.visitFile(ctx, p, path, visit); err != nil {
			return err
		}
	}
	return nil
}

// walk reads what stands below a root, and returns the files of subagents, which are still to be read.
func (f format) walk(ctx context.Context, p Place, root string, visit Visitor) (children []string, err error) {
	root, ok := f.resolve(p, root, visit)
	if !ok {
		return nil, nil
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path) // it stands below
		isMatch := f.match(filepath.ToSlash(rel))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && path == root: // it is not installed, or has written nothing
		case err != nil:
			visit.Skip(Skip{path, "it cannot be read: " + reason(err)})
		case entry.Type()&fs.ModeSymlink != 0 && (isMatch || isFolder(path)):
			visit.Skip(Skip{path, "it is a link; links are not followed"})
		case entry.IsDir() && visit.skipsTheirs(path):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !isMatch:
		case f.isChild != nil && f.isChild(filepath.ToSlash(path)):
			children = append(children, path)
		default:
			return f.visitFile(ctx, p, path, visit)
		}
		return nil
	})
	return children, err
}

// resolve returns where a root leads: people link the whole folder to another disk. It reports false for one that is
// skipped.
func (f format) resolve(p Place, root string, visit Visitor) (to string, ok bool) {
	to, err := filepath.EvalSymlinks(root)
	switch {
	case err != nil:
		return root, true // it is not there, or reading it says so
	case f.inProjects && !isIn(p.Projects, root, to):
		visit.Skip(Skip{root, "it is a link; links are not followed"})
		return "", false
	}
	return to, !visit.skipsTheirs(filepath.Dir(to))
}

// skipsTheirs skips a file or folder that others can write: who has said what is in it is not known.
func (v Visitor) skipsTheirs(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false // reading it says so
	}
	mend := files.ByOthers(path, info)
	if mend != "" {
		v.Skip(Skip{path, "others can write it (" + mend + ")"})
	}
	return mend != ""
}

// isIn reports whether a path that was resolved stands in a project as it was named: only the project may be a link.
func isIn(projects []string, named, resolved string) bool {
	return slices.ContainsFunc(projects, func(project string) bool {
		rel, err := filepath.Rel(project, named)
		real, failed := filepath.EvalSymlinks(project)
		return err == nil && failed == nil && filepath.Join(real, rel) == resolved
	})
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// visitFile reads one file.
func (f format) visitFile(ctx context.Context, p Place, path string, visit Visitor) error {
	at := latest(modified(path), modified(path+"-wal")) // SQLite keeps a log beside a database
	if at.Before(visit.Since) || !visit.Until.IsZero() && at.After(visit.Until) {
		return nil
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		visit.Skip(Skip{path, "it cannot be read: " + reason(err)})
		return nil
	case !visit.File(info.Size()):
		return nil
	case !files.Ours(info):
		visit.Skip(Skip{path, "it belongs to another user"})
		return nil
	case visit.skipsTheirs(path):
		return nil
	}
	n := 0
	var stopped error
	err = f.read(ctx, p, path, func(c Conversation) error {
		c.Agent, c.File = f.agent, path
		if c = visit.withoutCommands(c); c.ID == "" || len(c.Turns) == 0 {
			return nil
		}
		n++
		stopped = visit.Conversation(c)
		return stopped
	})
	if stopped = cmp.Or(stopped, ctx.Err()); stopped != nil {
		return stopped
	}
	switch {
	case err != nil && n > 0:
		visit.Skip(Skip{path, "not all of it can be read: " + reason(err)})
	case err != nil:
		visit.Skip(Skip{path, "it cannot be read: " + reason(err)})
	case n == 0:
		visit.Skip(Skip{path, "it has no conversation, " +
			"or an unknown format"})
	}
	return nil
}

// withoutCommands returns a conversation without the commands that no agent has answered; it counts them and what else
// is left out.
func (v Visitor) withoutCommands(c Conversation) Conversation {
	turns := len(c.Turns)
	c.Turns = slices.DeleteFunc(c.Turns, func(t Turn) bool { return t.Command != "" && t.isOpen() })
	if n := turns - len(c.Turns); n > 0 {
		v.LeftOut(localCommand, n)
	}
	for what, n := range c.LeftOut {
		v.LeftOut(what, n)
	}
	return c
}

// reason is an error's text without the path, which a Skip names already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
