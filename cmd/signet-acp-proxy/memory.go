package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// newMemory is about the memories of the embedded store. Those of a daemon are the daemon's to show.
func newMemory(f *config.Flags, std term.Streams) *cobra.Command {
	return group("memory", "Look into and change the memories of this machine.",
		newMemoryAdd(f, std), newMemorySearch(f, std), newMemoryList(f, std), newMemoryShow(f, std),
		newMemoryEdit(f, std), newMemoryPin(f, std), newMemoryForget(f, std),
		newMemoryExport(f, std), newMemoryImport(f, std), newMemoryBackfill(f, std))
}

type memoryAdd struct {
	embedded.Memory
	project string
	json    bool
}

func newMemoryAdd(f *config.Flags, std term.Streams) *cobra.Command {
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

func (cmd *memoryAdd) run(f *config.Flags, std term.Streams) error {
	m := cmd.Memory
	if !(m.Importance >= 0 && m.Importance <= 1) {
		return exitError{exitUsage, errors.New("--importance: give a number from 0 to 1")}
	}
	if m.Content == "-" {
		text, err := io.ReadAll(io.LimitReader(std.In, embedded.MaxContent+1))
		if err != nil {
			return fmt.Errorf("reading stdin: %w", err)
		}
		m.Content = string(text)
	}
	var err error
	if m.Project, err = projectOf(cmd.project); err != nil {
		return err
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		stored, added, err := d.Memories.Add(ctx, m)
		if err != nil {
			return err
		}
		if cmd.json {
			return printMemories(ctx, d, std, []embedded.Memory{stored}, true)
		}
		if !added {
			std.Say("known already; brought up to date")
		}
		_, err = fmt.Fprintln(std.Out, stored.ID)
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

func newMemorySearch(f *config.Flags, std term.Streams) *cobra.Command {
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

func (cmd *memorySearch) run(query string, f *config.Flags, std term.Streams) error {
	project, err := projectOf(".")
	if err != nil {
		return err
	}
	if cmd.limit < 1 {
		return exitError{exitUsage, errors.New("--limit: give a number from 1 on")}
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		if err := d.Memories.Learn(ctx); err != nil { // what was said since a relay last had the time
			return err
		}
		found, err := d.Memories.Search(ctx, embedded.Query{
			Text: query, Limit: cmd.limit, Project: project, AllProjects: !cmd.here,
		})
		if err != nil {
			return err
		}
		return printMemories(ctx, d, std, found, cmd.json)
	})
}

type memoryList struct {
	embedded.Filter
	here bool
	json bool
}

func newMemoryList(f *config.Flags, std term.Streams) *cobra.Command {
	var l memoryList
	cmd := &cobra.Command{
		Use: "list", Short: "List memories, newest first.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return l.run(f, std) },
	}
	flags := cmd.Flags()
	flags.IntVar(&l.Limit, "limit", 100, "At most `N`.")
	flags.IntVar(&l.Offset, "offset", 0, "Without the first `N`.")
	flags.StringVar(&l.Type, "type", "", "Only of this `TYPE`.")
	flags.BoolVar(&l.Said, "said", false, saidToo)
	flags.BoolVar(&l.here, "here", false, onlyHere)
	forScripts(cmd, &l.json)
	return cmd
}

func (cmd *memoryList) run(f *config.Flags, std term.Streams) error {
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
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		if err := d.Memories.Learn(ctx); err != nil {
			return err
		}
		all, err := d.Memories.List(ctx, filter)
		if err != nil {
			return err
		}
		return printMemories(ctx, d, std, all, cmd.json)
	})
}

// printMemories prints memories as a table, or for scripts.
func printMemories(ctx context.Context, d *runtime.Data, std term.Streams, all []embedded.Memory, asJSON bool) error {
	if asJSON {
		if all == nil {
			all = []embedded.Memory{}
		}
		return term.JSON(std.Out, all)
	}
	if len(all) == 0 {
		std.Say("nothing found")
		return nil
	}
	s := term.On(std.Out)
	t := &term.Table{Columns: []term.Column{
		{Title: "ID"}, {Title: "CREATED", Spare: 3}, {Title: "TYPE", Least: 4, Spare: 2},
		{Title: "PROJECT", Least: 8, Spare: 1}, {Title: "CONTENT", Least: 28},
	}}
	for _, m := range all {
		id, created := m.ID, term.Local(m.Created)
		if s.Width > 0 { // the text needs the room
			var err error
			if id, err = d.Memories.Short(ctx, m.ID); err != nil {
				return err
			}
			created = m.Created.Local().Format(time.DateOnly)
		}
		t.Add(id, created, m.Type, projectName(m), m.Content)
	}
	return t.Print(s)
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
