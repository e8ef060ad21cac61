package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// newMemory is about the memories of the embedded store. Those of a daemon are the daemon's to show.
func newMemory(f *Flags, std stdio) *cobra.Command {
	return group("memory", "Look into and change the memories of this machine.",
		newMemoryAdd(f, std), newMemorySearch(f, std), newMemoryList(f, std), newMemoryShow(f, std),
		newMemoryForget(f, std), newMemoryExport(f, std), newMemoryImport(f, std))
}

type memoryAdd struct {
	embedded.Memory
	project string
	json    bool
}

func newMemoryAdd(f *Flags, std stdio) *cobra.Command {
	a := memoryAdd{Memory: embedded.Memory{Source: "memory add"}}
	cmd := &cobra.Command{
		Use: "add TEXT", Short: "Keep a memory.", Args: arguments,
		Long: "Keep a memory: TEXT, or what stdin holds if that is -.",
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Content, a.Weighed = args[0], cmd.Flags().Changed("importance")
			return a.run(f, std)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&a.project, "project", ".", "The project that it belongs to, by its `DIR`; none with an empty text.")
	flags.BoolVar(&a.Personal, "personal", false, "True of the person, whatever the project.")
	flags.StringVar(&a.Type, "type", "", "Its `TYPE`: preference, decision, fact, …")
	flags.StringVar(&a.Tags, "tags", "", "Its tags: `A,B`.")
	flags.Float64Var(&a.Importance, "importance", 0, "How much it matters, a `NUMBER` from 0 to 1 (0.5).")
	forScripts(cmd, &a.json)
	complete(cmd, "project", folders)
	return cmd
}

func (cmd *memoryAdd) run(f *Flags, std stdio) error {
	m := cmd.Memory
	if !(m.Importance >= 0 && m.Importance <= 1) {
		return exitError{exitUsage, errors.New("--importance: give a number from 0 to 1")}
	}
	if m.Content == "-" {
		text, err := io.ReadAll(io.LimitReader(std.in, embedded.MaxContent+1))
		if err != nil {
			return fmt.Errorf("reading stdin: %w", err)
		}
		m.Content = string(text)
	}
	var err error
	if m.Project, err = projectOf(cmd.project); err != nil {
		return err
	}
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		stored, added, err := d.memories.Add(ctx, m)
		if err != nil {
			return err
		}
		if cmd.json {
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
	limit int
	here  bool
	json  bool
}

func newMemorySearch(f *Flags, std stdio) *cobra.Command {
	var s memorySearch
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Find memories, best first.", Args: arguments,
		Long: "Find memories by the words of QUERY, best first.",
		RunE: func(_ *cobra.Command, args []string) error { return s.run(args[0], f, std) },
	}
	cmd.Flags().IntVar(&s.limit, "limit", 10, "At most `N`.")
	cmd.Flags().BoolVar(&s.here, "here", false, onlyHere)
	forScripts(cmd, &s.json)
	return cmd
}

const onlyHere = "Only what belongs to this folder's project or to no other."

func (cmd *memorySearch) run(query string, f *Flags, std stdio) error {
	project, err := projectOf(".")
	if err != nil {
		return err
	}
	if cmd.limit < 1 {
		return exitError{exitUsage, errors.New("--limit: give a number from 1 on")}
	}
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		if !migrations.FTS5() {
			std.say("built without full-text search: nothing is found (build with -tags sqlite_fts5)")
		}
		if err := d.memories.Learn(ctx); err != nil { // what was said since a relay last had the time
			return err
		}
		found, err := d.memories.Search(ctx, embedded.Query{Text: query, Limit: cmd.limit, Project: project, AllProjects: !cmd.here})
		if err != nil {
			return err
		}
		return printMemories(std, found, cmd.json)
	})
}

type memoryList struct {
	embedded.Filter
	here bool
	json bool
}

func newMemoryList(f *Flags, std stdio) *cobra.Command {
	var l memoryList
	cmd := &cobra.Command{
		Use: "list", Short: "List memories, newest first.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return l.run(f, std) },
	}
	flags := cmd.Flags()
	flags.IntVar(&l.Limit, "limit", 100, "At most `N`.")
	flags.IntVar(&l.Offset, "offset", 0, "Without the first `N`.")
	flags.StringVar(&l.Type, "type", "", "Only of this `TYPE`.")
	flags.BoolVar(&l.here, "here", false, onlyHere)
	forScripts(cmd, &l.json)
	return cmd
}

func (cmd *memoryList) run(f *Flags, std stdio) error {
	filter := cmd.Filter
	if filter.Limit < 1 || filter.Offset < 0 {
		return exitError{exitUsage, errors.New("--limit and --offset: give a number from 1 on")}
	}
	if cmd.here {
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
		return printMemories(std, all, cmd.json)
	})
}

func newMemoryShow(f *Flags, std stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one memory.", Args: arguments,
		Long: "Show one memory by its id or the unique beginning of that.",
		RunE: func(_ *cobra.Command, args []string) error { return showMemory(args[0], asJSON, f, std) },
	}
	forScripts(cmd, &asJSON)
	return cmd
}

func showMemory(id string, asJSON bool, f *Flags, std stdio) error {
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		m, err := d.memories.Get(ctx, id)
		if err != nil {
			return err
		}
		if asJSON {
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

func newMemoryForget(f *Flags, std stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "forget ID", Short: "Remove a memory; the conversation that it came from does not teach it again.", Args: arguments,
		Long: "Remove a memory by its id or the unique beginning of that; the conversation that it came from does not teach it again.",
		RunE: func(_ *cobra.Command, args []string) error { return forgetMemory(args[0], asJSON, f, std) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print what went as JSON.")
	return cmd
}

func forgetMemory(id string, asJSON bool, f *Flags, std stdio) error {
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		m, err := d.memories.Get(ctx, id)
		if err != nil {
			return err
		}
		if err := d.memories.Forget(ctx, m.ID); err != nil {
			return err
		}
		if asJSON {
			return printMemories(std, []embedded.Memory{m}, true)
		}
		std.say("forgotten: %s", m.ID)
		return nil
	})
}

func newMemoryExport(f *Flags, std stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export", Short: "Write all memories to stdout as JSON Lines.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return exportMemories(f, std) },
	}
	cmd.Flags().Bool("json", false, "The same: an export is JSON Lines.")
	return cmd
}

func exportMemories(f *Flags, std stdio) error {
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

func newMemoryImport(f *Flags, std stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "import", Short: "Read memories from stdin as export writes them; all or nothing.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return importMemories(asJSON, f, std) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print the counts as JSON.")
	return cmd
}

func importMemories(asJSON bool, f *Flags, std stdio) error {
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		done, err := d.memories.Import(ctx, std.in)
		if err != nil {
			return err
		}
		if asJSON {
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
