package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/removal"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// newMemory makes the commands about the embedded store's memories. A daemon has commands of its own.
func newMemory(p program) *cobra.Command {
	return cli.Group("memory", "Search and change the memories of this machine.",
		newMemoryAdd(p), newMemorySearch(p), newMemoryList(p), newMemoryShow(p), newMemoryEdit(p), newMemoryPin(p),
		newMemoryPromote(p), newMemoryForget(p), newMemoryExport(p), newMemoryImport(p),
		newMemoryBackfill(p.flags, p.std))
}

const (
	onlyHere = "Only what belongs to this folder's project or to no other."
	saidToo  = "Passages of conversations, too; each lasts as long as its conversation."
)

// projectOf returns the project of a folder that a person names, "" for none.
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

// onMemory makes the RunE of a command that changes a memory. A script gets the memory; a person what was done with it
// or, if done is "", its id.
func (p program) onMemory(asJSON *bool, done string,
	change func(context.Context, *runtime.Data, []string) (embedded.Memory, error),
) func(*cobra.Command, []string) error {
	return p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
		m, err := change(ctx, d, args)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return term.JSON(p.std.Out, []embedded.Memory{m})
		case done == "":
			_, err = fmt.Fprintln(p.std.Out, m.ID)
			return err
		}
		p.std.Say("%s: %s", done, m.ID)
		return nil
	})
}

// sayKnown says that a memory was kept before, unless it was added.
func (p program) sayKnown(added bool, err error) error {
	if err == nil && !added {
		p.std.Say("already known; updated")
	}
	return err
}

func editMemory(ctx context.Context, d *runtime.Data, id, text string) (embedded.Memory, error) {
	return d.Memories.Modify(ctx, id, embedded.Change{Content: &text, Source: "memory edit"})
}

func pinMemory(ctx context.Context, d *runtime.Data, id string) (embedded.Memory, error) {
	return d.Memories.Modify(ctx, id, embedded.Change{Source: embedded.Pinned})
}

func newMemoryAdd(p program) *cobra.Command {
	m := embedded.Memory{Source: "memory add"}
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "add TEXT", Short: "Keep a memory.", Args: cli.Arguments,
		Long: "Keep a memory: TEXT, or what stdin holds if that is -.",
		PreRunE: func(cmd *cobra.Command, args []string) (err error) {
			if !(m.Importance >= 0 && m.Importance <= 1) {
				return cli.Exit{Code: cli.Usage, Err: errors.New("--importance: give a number from 0 to 1")}
			}
			m.Content, m.ImportanceSet = args[0], cmd.Flags().Changed("importance")
			if m.Content == "-" {
				text, err := io.ReadAll(io.LimitReader(p.std.In, embedded.MaxContent+1))
				if err != nil {
					return fmt.Errorf("reading stdin: %w", err)
				}
				m.Content = string(text)
			}
			m.Project, err = projectOf(dir)
			return err
		},
		RunE: p.onMemory(&asJSON, "", func(ctx context.Context, d *runtime.Data, _ []string) (embedded.Memory, error) {
			kept, added, err := d.Memories.Add(ctx, m)
			return kept, p.sayKnown(added || asJSON, err)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "project", ".", "The project that it belongs to, by its `DIR`; none with an empty text.")
	flags.BoolVar(&m.Personal, "personal", false, "About you: for all projects.")
	flags.StringVar(&m.Type, "type", "", "Its `TYPE`: preference, decision, fact, …")
	flags.StringVar(&m.Tags, "tags", "", "Its tags: `A,B`.")
	flags.Float64Var(&m.Importance, "importance", 0, "How much it matters, a `NUMBER` from 0 to 1 (0.5).")
	cli.ForScripts(cmd, &asJSON)
	cli.Complete(cmd, "project", cli.Folders)
	return cmd
}

func newMemorySearch(p program) *cobra.Command {
	var q embedded.Query
	var here, asJSON bool
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Find memories, best first.", Args: cli.Arguments,
		Long: "Find memories by the words of QUERY, best first.",
		PreRunE: func(_ *cobra.Command, args []string) (err error) {
			if q.Limit < 1 {
				return cli.Exit{Code: cli.Usage, Err: errors.New("--limit: give a number from 1 on")}
			}
			q.Text, q.AllProjects = args[0], !here
			q.Project, err = projectOf(".")
			return err
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			if err := d.Memories.Learn(ctx); err != nil { // from turns that no relay has had the time for
				return err
			}
			found, err := d.Memories.Search(ctx, q)
			if err != nil {
				return err
			}
			return report.Memories(ctx, d, p.std, found, asJSON)
		}),
	}
	cmd.Flags().IntVar(&q.Limit, "limit", 10, "At most `N`.")
	cmd.Flags().BoolVar(&here, "here", false, onlyHere)
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func newMemoryList(p program) *cobra.Command {
	var filter embedded.Filter
	var here, rules, agents, asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List memories, newest first.", Args: cli.Arguments,
		PreRunE: func(*cobra.Command, []string) (err error) {
			if filter.Limit < 1 || filter.Offset < 0 {
				return cli.Exit{Code: cli.Usage, Err: errors.New("--limit and --offset: give a number from 1 on")}
			}
			if here {
				filter.Project, err = projectOf(".")
			}
			return err
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			if agents {
				rows, skipped, err := d.AgentNotes()
				if err != nil {
					return err
				}
				return report.AgentNotes(rows, skipped, p.std, asJSON)
			}
			if err := d.Memories.Learn(ctx); err != nil {
				return err
			}
			list := d.Memories.List
			if rules {
				list = d.Memories.Rules
			}
			all, err := list(ctx, filter)
			if err != nil {
				return err
			}
			return report.Memories(ctx, d, p.std, all, asJSON)
		}),
	}
	flags := cmd.Flags()
	flags.IntVar(&filter.Limit, "limit", 100, "At most `N`.")
	flags.IntVar(&filter.Offset, "offset", 0, "Skip the first `N`.")
	flags.StringVar(&filter.Type, "type", "", "Only of this `TYPE`.")
	flags.BoolVar(&filter.Said, "said", false, saidToo)
	flags.BoolVar(&rules, "rules", false,
		"Only rules and preferences, with their scope and how often each was said; memory forget ID removes one.")
	flags.BoolVar(&agents, "agents", false, "Agents' own notes, in place of our memories.")
	flags.BoolVar(&here, "here", false, onlyHere)
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func newMemoryShow(p program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one memory.", Args: cli.Arguments,
		Long: "Show one memory. ID may be the beginning of an id, if it is unique.",
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			m, err := d.Memories.Get(ctx, args[0])
			if err != nil {
				return err
			}
			replaced, err := d.Memories.Replaced(ctx, m)
			if err != nil {
				return err
			}
			for _, r := range replaced {
				m.Replaces = append(m.Replaces, r.ID)
			}
			if asJSON {
				return term.JSON(p.std.Out, []embedded.Memory{m})
			}
			return report.Memory(ctx, d, p.std, m, replaced)
		}),
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func newMemoryEdit(p program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "edit ID TEXT", Short: "Change what a memory says.", Args: cli.Arguments,
		Long: "Change what a memory says. The old text is not learned again from its conversation.",
		RunE: p.onMemory(&asJSON, "changed",
			func(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
				return editMemory(ctx, d, args[0], args[1])
			}),
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func newMemoryPin(p program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "pin ID", Short: "Give a memory to every session of its project, whatever the prompt.",
		Args: cli.Arguments,
		RunE: p.onMemory(&asJSON, "pinned",
			func(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
				return pinMemory(ctx, d, args[0])
			}),
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func newMemoryPromote(p program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "promote LINE", Short: "Copy a line of an agent's own notes into our memory.", Args: cli.Arguments,
		Long: "Copy a LINE of an agent's own notes into our memory, for the other agents; memory list --agents shows " +
			"the lines. The agent that wrote it does not get it from us.",
		RunE: p.onMemory(&asJSON, "",
			func(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
				m, added, err := d.Promote(ctx, args[0])
				return m, p.sayKnown(added || asJSON, err)
			}),
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func newMemoryForget(p program) *cobra.Command {
	r := removal.Removal{Std: p.std}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "forget ID", Args: cli.Arguments,
		Short: "Remove a memory; it is not learned again from its conversation.",
		Long: "Remove a memory; it is not learned again from its conversation. For an hour, forget --undo brings it " +
			"back. ID may be the beginning of an id, if it is unique.",
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			r.Data = d
			m, err := r.Memory(ctx, args[0])
			switch {
			case err != nil:
				return err
			case asJSON:
				return term.JSON(p.std.Out, []embedded.Memory{m})
			}
			p.std.Say("forgotten: %s", m.ID)
			r.SayUndo()
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print what was removed as JSON.")
	cmd.Flags().BoolVar(&r.ForGood, "for-good", false, forGoodHelp)
	return cmd
}
