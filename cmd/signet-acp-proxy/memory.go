package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// newMemory makes the commands about the embedded store's memories. A daemon has commands of its own.
func newMemory(f *config.Flags, std term.Streams) *cobra.Command {
	return cli.Group("memory", "Search and change the memories of this machine.",
		newMemoryAdd(f, std), newMemorySearch(f, std), newMemoryList(f, std), newMemoryShow(f, std),
		newMemoryEdit(f, std), newMemoryPin(f, std), newMemoryPromote(f, std), newMemoryForget(f, std),
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
		Use: "add TEXT", Short: "Keep a memory.", Args: cli.Arguments,
		Long: "Keep a memory: TEXT, or what stdin holds if that is -.",
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Content, a.ImportanceSet = args[0], cmd.Flags().Changed("importance")
			return a.run(f, std)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&a.project, "project", ".",
		"The project that it belongs to, by its `DIR`; none with an empty text.")
	flags.BoolVar(&a.Personal, "personal", false, "True of the person, whatever the project.")
	flags.StringVar(&a.Type, "type", "", "Its `TYPE`: preference, decision, fact, …")
	flags.StringVar(&a.Tags, "tags", "", "Its tags: `A,B`.")
	flags.Float64Var(&a.Importance, "importance", 0, "How much it matters, a `NUMBER` from 0 to 1 (0.5).")
	cli.ForScripts(cmd, &a.json)
	cli.Complete(cmd, "project", cli.Folders)
	return cmd
}

func (cmd *memoryAdd) run(f *config.Flags, std term.Streams) error {
	m := cmd.Memory
	if !(m.Importance >= 0 && m.Importance <= 1) {
		return cli.Exit{Code: cli.Usage, Err: errors.New("--importance: give a number from 0 to 1")}
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
			return report.Memories(ctx, d, std, []embedded.Memory{stored}, true)
		}
		if !added {
			std.Say("already known; updated")
		}
		_, err = fmt.Fprintln(std.Out, stored.ID)
		return err
	})
}

type memorySearch struct {
	limit int
	here  bool
	json  bool
}

func newMemorySearch(f *config.Flags, std term.Streams) *cobra.Command {
	var s memorySearch
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Find memories, best first.", Args: cli.Arguments,
		Long: "Find memories by the words of QUERY, best first.",
		RunE: func(_ *cobra.Command, args []string) error { return s.run(args[0], f, std) },
	}
	cmd.Flags().IntVar(&s.limit, "limit", 10, "At most `N`.")
	cmd.Flags().BoolVar(&s.here, "here", false, onlyHere)
	cli.ForScripts(cmd, &s.json)
	return cmd
}

const onlyHere = "Only what belongs to this folder's project or to no other."

func (cmd *memorySearch) run(query string, f *config.Flags, std term.Streams) error {
	project, err := projectOf(".")
	if err != nil {
		return err
	}
	if cmd.limit < 1 {
		return cli.Exit{Code: cli.Usage, Err: errors.New("--limit: give a number from 1 on")}
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		if err := d.Memories.Learn(ctx); err != nil { // from turns that no relay has had the time for
			return err
		}
		found, err := d.Memories.Search(ctx, embedded.Query{
			Text: query, Limit: cmd.limit, Project: project, AllProjects: !cmd.here,
		})
		if err != nil {
			return err
		}
		return report.Memories(ctx, d, std, found, cmd.json)
	})
}

type memoryList struct {
	embedded.Filter
	agents, here bool
	rules        bool
	json         bool
}

func newMemoryList(f *config.Flags, std term.Streams) *cobra.Command {
	var l memoryList
	cmd := &cobra.Command{
		Use: "list", Short: "List memories, newest first.", Args: cli.Arguments,
		RunE: func(*cobra.Command, []string) error { return l.run(f, std) },
	}
	flags := cmd.Flags()
	flags.IntVar(&l.Limit, "limit", 100, "At most `N`.")
	flags.IntVar(&l.Offset, "offset", 0, "Without the first `N`.")
	flags.StringVar(&l.Type, "type", "", "Only of this `TYPE`.")
	flags.BoolVar(&l.Said, "said", false, saidToo)
	flags.BoolVar(&l.rules, "rules", false,
		"What stands as a rule or preference, with its scope and how often it was said; memory forget ID forgets it.")
	flags.BoolVar(&l.agents, "agents", false, "What agents keep for themselves, in place of our memories.")
	flags.BoolVar(&l.here, "here", false, onlyHere)
	cli.ForScripts(cmd, &l.json)
	return cmd
}

func (cmd *memoryList) run(f *config.Flags, std term.Streams) error {
	filter := cmd.Filter
	if filter.Limit < 1 || filter.Offset < 0 {
		return cli.Exit{Code: cli.Usage, Err: errors.New("--limit and --offset: give a number from 1 on")}
	}
	if cmd.here {
		var err error
		if filter.Project, err = projectOf("."); err != nil {
			return err
		}
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		if cmd.agents {
			rows, skipped, err := d.AgentNotes()
			if err != nil {
				return err
			}
			return report.AgentNotes(rows, skipped, std, cmd.json)
		}
		if err := d.Memories.Learn(ctx); err != nil {
			return err
		}
		list := d.Memories.List
		if cmd.rules {
			list = d.Memories.Rules
		}
		all, err := list(ctx, filter)
		if err != nil {
			return err
		}
		return report.Memories(ctx, d, std, all, cmd.json)
	})
}
