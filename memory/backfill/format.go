package backfill

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
)

// A Place is where harnesses keep what they write.
type Place struct {
	Home     string
	Getenv   func(string) string // for variables that move a harness's folder; nil: none is set
	Projects []string            // folders that are known: some harnesses write into these, or name theirs by a digest
}

// env returns the folder that a variable names, or else the one under Home.
func (p Place) env(name string, under ...string) string {
	if p.Getenv != nil {
		if dir := p.Getenv(name); filepath.IsAbs(dir) {
			return dir
		}
	}
	return filepath.Join(append([]string{p.Home}, under...)...)
}

// inProjects returns a folder or file of each project.
func (p Place) inProjects(under ...string) (all []string) {
	for _, folder := range p.Projects {
		all = append(all, filepath.Join(append([]string{folder}, under...)...))
	}
	return all
}

// A format is how a harness writes its conversations down.
type format struct {
	agent string
	roots func(Place) []string // where it writes: folders, or single files
	// inProjects: it writes into projects, where a clone may hold what others have said. It is read only where somebody
	// asks for it, by its name or by the project's, and no links lead to it.
	inProjects bool
	// match reports whether a file is a conversation, by its path below its root, with slashes; a root that is a file
	// is ".".
	match func(rel string) bool
	// isChild reports whether the file of a path, with slashes, is of a subagent; nil: no file is, or only its text
	// says so. These are read after all others, because they belong to them.
	isChild func(path string) bool
	read    reader
}

// A reader yields the conversations of a file, those of subagents after the one that started them.
type reader func(ctx context.Context, p Place, path string, yield func(Conversation) error) error

// windsurf is Windsurf's Cascade: ~/.codeium/windsurf/cascade/….pb, which it encrypts (seen by others: 1.9544.35, and
// Devin Desktop 3.5.17). Nothing of it can be read.
var windsurf = format{
	agent: "windsurf",
	roots: func(p Place) []string { return []string{filepath.Join(p.Home, ".codeium", "windsurf", "cascade")} },
	match: func(rel string) bool { return strings.HasSuffix(rel, ".pb") },
	read: func(context.Context, Place, string, func(Conversation) error) error {
		return errors.New("it is encrypted by Windsurf; import its Markdown export or SpecStory's files")
	},
}

// jsonFile makes the read function of a format whose files are one conversation each, in a JSON value of type T.
func jsonFile[T any](take func(b *builder, v T)) reader {
	return func(_ context.Context, _ Place, path string, yield func(Conversation) error) error {
		var v T
		if err := readJSON(path, &v); err != nil {
			return err
		}
		b := builder{Conversation: Conversation{File: path}, yield: yield}
		take(&b, v)
		return b.end()
	}
}

// jsonLines makes the read function of a format whose files are one conversation each, in JSON lines of type T.
func jsonLines[T any](take func(b *builder, line T)) reader {
	return func(ctx context.Context, _ Place, path string, yield func(Conversation) error) error {
		b := builder{Conversation: Conversation{File: path}, yield: yield}
		err := eachLine(ctx, path, func(line []byte) error {
			var v T
			if toolOutput(line) {
				return nil
			}
			if !decode(line, &v) {
				return errNotJSON
			}
			take(&b, v)
			return b.err
		})
		if err != nil && !isBadLines(err) {
			return err
		}
		return cmp.Or(b.end(), err)
	}
}

// globEscape returns a path as a glob that matches that path alone.
func globEscape(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
