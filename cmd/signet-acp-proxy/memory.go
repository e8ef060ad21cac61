package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// memoryCommand is about the memories of the embedded store. Those of a daemon are the daemon's to show.
type memoryCommand struct {
	Add    memoryAdd    `cmd:"" help:"Keep a memory."`
	Search memorySearch `cmd:"" help:"Find memories, best first."`
	List   memoryList   `cmd:"" help:"List memories, newest first."`
	Show   memoryShow   `cmd:"" help:"Show one memory."`
	Forget memoryForget `cmd:"" help:"Remove a memory; the conversation that it came from does not teach it again."`
	Export memoryExport `cmd:"" help:"Write all memories to stdout as JSON Lines."`
	Import memoryImport `cmd:"" help:"Read memories from stdin as export writes them; all or nothing."`
}

type memoryAdd struct {
	Text       string  `arg:"" help:"What to keep; - reads it from stdin."`
	Project    string  `placeholder:"DIR" help:"The project that it belongs to (this folder's); none with an empty text." default:"."`
	Personal   bool    `help:"True of the person, whatever the project."`
	Type       string  `placeholder:"TYPE" help:"preference, decision, fact, …"`
	Tags       string  `placeholder:"A,B" help:"Tags, with commas between them."`
	Importance float64 `placeholder:"0…1" help:"How much it matters (0.5)."`
	JSON       bool    `help:"Print JSON for scripts."`
}

func (cmd *memoryAdd) Run(f *Flags, std stdio) error {
	m := embedded.Memory{Content: cmd.Text, Type: cmd.Type, Tags: cmd.Tags, Importance: cmd.Importance, Personal: cmd.Personal, Source: "memory add"}
	if cmd.Importance < 0 || cmd.Importance > 1 {
		return exitError{exitUsage, errors.New("--importance: give a number from 0 to 1")}
	}
	if cmd.Text == "-" {
		text, err := io.ReadAll(io.LimitReader(std.in, embedded.MaxContent+1))
		if err != nil {
			return fmt.Errorf("reading stdin: %w", err)
		}
		m.Content = string(text)
	}
	var err error
	if m.Project, err = projectOf(cmd.Project); err != nil {
		return err
	}
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		stored, added, err := d.memories.Add(ctx, m)
		if err != nil {
			return err
		}
		if cmd.JSON {
			return printMemories(std, []embedded.Memory{stored}, true)
		}
		if !added {
			std.say("known already; brought up to date")
		}
		_, err = fmt.Fprintln(std.out, stored.ID)
		return err
	})
}

// projectOf is the project of a folder that a person named, "" for none.
func projectOf(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the project: %w", err)
	}
	return memory.Project(path), nil
}

type memorySearch struct {
	Query string `arg:"" help:"Words to look for."`
	Limit int    `default:"10" placeholder:"N" help:"At most N."`
	Here  bool   `help:"Only what belongs to this folder's project or to no other."`
	JSON  bool   `help:"Print JSON for scripts."`
}

func (cmd *memorySearch) Run(f *Flags, std stdio) error {
	project, err := projectOf(".")
	if err != nil {
		return err
	}
	if cmd.Limit < 1 {
		return exitError{exitUsage, errors.New("--limit: give a number from 1 on")}
	}
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		if !migrations.FTS5() {
			std.say("built without full-text search: nothing is found (build with -tags sqlite_fts5)")
		}
		if err := d.memories.Learn(ctx); err != nil { // what was said since a relay last had the time
			return err
		}
		found, err := d.memories.Search(ctx, embedded.Query{Text: cmd.Query, Limit: cmd.Limit, Project: project, AllProjects: !cmd.Here})
		if err != nil {
			return err
		}
		return printMemories(std, found, cmd.JSON)
	})
}

type memoryList struct {
	Limit  int    `default:"100" placeholder:"N" help:"At most N."`
	Offset int    `placeholder:"N" help:"Without the first N."`
	Type   string `placeholder:"TYPE" help:"Only of this type."`
	Here   bool   `help:"Only what belongs to this folder's project or to no other."`
	JSON   bool   `help:"Print JSON for scripts."`
}

func (cmd *memoryList) Run(f *Flags, std stdio) error {
	filter := embedded.Filter{Type: cmd.Type, Limit: cmd.Limit, Offset: cmd.Offset}
	if cmd.Limit < 1 || cmd.Offset < 0 {
		return exitError{exitUsage, errors.New("--limit and --offset: give a number from 1 on")}
	}
	if cmd.Here {
		var err error
		if filter.Project, err = projectOf("."); err != nil {
			return err
		}
	}
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		if err := d.memories.Learn(ctx); err != nil {
			return err
		}
		all, err := d.memories.List(ctx, filter)
		if err != nil {
			return err
		}
		return printMemories(std, all, cmd.JSON)
	})
}

type memoryShow struct {
	ID   string `arg:"" help:"The memory's id, or its unique beginning."`
	JSON bool   `help:"Print JSON for scripts."`
}

func (cmd *memoryShow) Run(f *Flags, std stdio) error {
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		m, err := d.memories.Get(ctx, cmd.ID)
		if err != nil {
			return err
		}
		if cmd.JSON {
			return printMemories(std, []embedded.Memory{m}, true)
		}
		var l list
		l.add("id", m.ID)
		l.add("type", m.Type)
		l.add("project", m.Project)
		if m.Personal {
			l.add("scope", "the person's own, in every project")
		}
		l.add("said by", m.Origin)
		l.add("came by", m.Source)
		l.add("harness", m.Harness)
		l.add("signet key", m.Session)
		l.add("tags", m.Tags)
		l.add("about", m.Context)
		l.add("importance", fmt.Sprintf("%.2g", m.Importance))
		if m.Ratings > 0 {
			l.add("rating", fmt.Sprintf("%.2g (%d)", m.Rating, m.Ratings))
		}
		l.add("created", local(m.Created))
		l.add("updated", local(m.Updated))
		l.print(screenOn(std.out))
		_, err = fmt.Fprintln(std.out, "\n"+visible(m.Content))
		return err
	})
}

// visible is printable for text of several lines.
func visible(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		indent := lines[i][:len(lines[i])-len(strings.TrimLeft(lines[i], " "))]
		lines[i] = indent + printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

type memoryForget struct {
	ID   string `arg:"" help:"The memory's id, or its unique beginning."`
	JSON bool   `help:"Print what went as JSON."`
}

func (cmd *memoryForget) Run(f *Flags, std stdio) error {
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		m, err := d.memories.Get(ctx, cmd.ID)
		if err != nil {
			return err
		}
		if err := d.memories.Forget(ctx, m.ID); err != nil {
			return err
		}
		if cmd.JSON {
			return printMemories(std, []embedded.Memory{m}, true)
		}
		std.say("forgotten: %s", m.ID)
		return nil
	})
}

type memoryExport struct {
	JSON bool `help:"The same: an export is JSON Lines."`
}

func (cmd *memoryExport) Run(f *Flags, std stdio) error {
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		if err := d.memories.Learn(ctx); err != nil {
			return err
		}
		n, err := d.memories.Export(ctx, std.out)
		if err == nil && isPerson(std.err) {
			std.say("%s", exported(n))
		}
		return err
	})
}

func exported(n int) string { return count(n, "memory") + " exported" }

// isPerson reports whether somebody reads along.
func isPerson(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}

type memoryImport struct {
	JSON bool `help:"Print the counts as JSON."`
}

func (cmd *memoryImport) Run(f *Flags, std stdio) error {
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		done, err := d.memories.Import(ctx, std.in)
		if err != nil {
			return err
		}
		if cmd.JSON {
			return printJSON(std.out, map[string]int{"added": done.Added, "updated": done.Updated, "unchanged": done.Unchanged})
		}
		std.say("imported: %d added, %d updated, %d unchanged", done.Added, done.Updated, done.Unchanged)
		return nil
	})
}

// printMemories prints memories as a table, or for scripts.
func printMemories(std stdio, all []embedded.Memory, asJSON bool) error {
	if asJSON {
		if all == nil {
			all = []embedded.Memory{}
		}
		return printJSON(std.out, all)
	}
	if len(all) == 0 {
		std.say("nothing found")
		return nil
	}
	t := &table{columns: []column{{title: "ID"}, {title: "CREATED", spare: 3}, {title: "TYPE", spare: 2}, {title: "PROJECT", least: 8, spare: 1}, {title: "CONTENT", least: 20}}}
	for _, m := range all {
		t.add(m.ID, local(m.Created), m.Type, projectName(m), m.Content)
	}
	return t.print(screenOn(std.out))
}

func projectName(m embedded.Memory) string {
	switch {
	case m.Personal:
		return "(person)"
	case m.Project == "":
		return ""
	}
	return filepath.Base(m.Project)
}
