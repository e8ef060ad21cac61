// Package backfill reads the conversations that harnesses have written down themselves: what was said, by whom and
// when, one file a harness. It opens foreign files for reading only, follows no links, and takes of them the words of
// the user and of the agent: no tool output, no thoughts, nothing that the harness says to its model.
//
// It stores nothing: whoever calls it redacts and stores (docs/backfill.md has the formats).
package backfill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Skip is a file of which nothing was taken, or not all.
type Skip struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

var formats = []format{claude, codex, copilot, gemini, opencode, pi, qwen, zed}

// Agents are the harnesses whose transcripts are understood, in order.
func Agents() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.agent
	}
	return names
}

// A Found is told of what Walk meets.
type Found struct {
	Conversation func(Conversation) error // or a part of one; an error ends the walk
	File         func(agent string)       // before each file; may be nil
	Skip         func(agent string, s Skip)
}

// Walk reads all that an agent has written, files in the order of their names. A file that cannot be read is skipped
// and told; an agent that has written nothing is no error.
func Walk(ctx context.Context, p Place, agent string, found Found) error {
	i := slices.IndexFunc(formats, func(f format) bool { return f.agent == agent })
	if i < 0 {
		return fmt.Errorf("nothing is known of how %q writes its conversations: name one of %s", agent,
			strings.Join(Agents(), ", "))
	}
	f := formats[i]
	root := f.root(p)
	if to, err := filepath.EvalSymlinks(root); err == nil {
		root = to // where somebody keeps it
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, relErr := filepath.Rel(root, path)
		switch {
		case err != nil && path == root:
			return nil // it is not installed, or has written nothing
		case err != nil:
			found.Skip(agent, Skip{path, "it cannot be read: " + reason(err)})
			return nil
		case relErr != nil:
			return nil
		case entry.Type()&fs.ModeSymlink != 0 && (f.is(filepath.ToSlash(rel)) || isFolder(path)):
			found.Skip(agent, Skip{path, "it is a link, and these are not followed"})
			return nil
		case !entry.Type().IsRegular() || !f.is(filepath.ToSlash(rel)):
			return nil
		}
		if found.File != nil {
			found.File(agent)
		}
		return f.take(ctx, p, path, found)
	})
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// take reads one file.
func (f format) take(ctx context.Context, p Place, path string, found Found) error {
	info, err := os.Lstat(path)
	if err == nil && !ours(info) {
		found.Skip(f.agent, Skip{path, "it belongs to another user"})
		return nil
	}
	n := 0
	var stopped error
	err = f.read(ctx, p, path, func(c Conversation) error {
		c.Agent, c.File = f.agent, path
		if c.Turns = said(c.Turns); c.ID == "" || len(c.Turns) == 0 {
			return nil
		}
		n++
		stopped = found.Conversation(c)
		return stopped
	})
	switch {
	case stopped != nil:
		return stopped
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && n > 0:
		found.Skip(f.agent, Skip{path, "not all of it can be read: " + reason(err)})
	case err != nil:
		found.Skip(f.agent, Skip{path, "it cannot be read: " + reason(err)})
	case n == 0:
		found.Skip(f.agent, Skip{path, "nobody has said anything in it, or it is written in a way " +
			"that is not known here"})
	}
	return nil
}

// reason is an error without the path, which stands beside it.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// said leaves out turns in which the user said nothing.
func said(turns []Turn) []Turn {
	return slices.DeleteFunc(turns, func(t Turn) bool { return t.User == "" })
}
