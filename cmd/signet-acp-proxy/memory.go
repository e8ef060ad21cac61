package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/removal"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// newMemory makes the commands about the embedded store's memories. A daemon has commands of its own.
func newMemory(p program) *cobra.Command {
	return group("memory", "Search and change the memories of this machine.",
		newMemoryAdd(p), newMemorySearch(p), newMemoryFiles(p), newMemoryList(p), newMemoryShow(p), newMemoryEdit(p),
		newMemoryPin(p), newMemoryProfile(p), newMemoryPromote(p), newMemoryForget(p), newMemoryExport(p),
		newMemoryImport(p),
		newMemoryBackfill(p))
}

const (
	onlyHere = "Only this project's memories and those of no project."
	saidToo  = "Also passages of conversations, which are removed with them."
)

// onMemory makes the RunE of a command that changes a memory. A script gets the memory; a person what was done with it
// or, if done is "", its id.
func (p program) onMemory(done string,
	change func(context.Context, *runtime.Data, []string) (embedded.Memory, error),
) func(*cobra.Command, []string) error {
	return p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
		m, err := change(ctx, d, args)
		if err != nil {
			return err
		}
		return p.print([]embedded.Memory{m}, func(s term.Screen) error {
			if done == "" {
				_, err = fmt.Fprintln(s.W, m.ID)
				return err
			}
			p.std.Say("%s: %s", done, m.ID)
			return nil
		})
	})
}

// onOneMemory is onMemory for the memory that the first argument names. change gets its whole id in place of that.
func (p program) onOneMemory(done string,
	change func(context.Context, *runtime.Data, []string) (embedded.Memory, error),
) func(*cobra.Command, []string) error {
	return p.onMemory(done, func(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
		m, err := d.Memory(ctx, args[0])
		if err != nil {
			return m, err
		}
		return change(ctx, d, append([]string{m.ID}, args[1:]...))
	})
}

// printMemories prints the first of some memories, as many as limit; none says what there is to do without any.
func (p program) printMemories(
	ctx context.Context, d *runtime.Data, all []embedded.Memory, limit int, none string,
) error {
	shown := all[:min(len(all), limit)]
	return p.print(append([]embedded.Memory{}, shown...), func(term.Screen) error {
		if len(all) == 0 {
			p.std.Line(none)
			return nil
		}
		if err := report.Memories(ctx, d, p.std, shown); err != nil {
			return err
		}
		if len(all) > limit {
			p.std.Say("there are more; --limit 0 shows all")
		}
		return nil
	})
}

// atMost is what a limit that a person gives means: 0 is all.
func atMost(limit int) (int, error) {
	switch {
	case limit < 0:
		return 0, fmt.Errorf("--limit must be 0 (all) or more, not %d", limit)
	case limit == 0:
		return allOfThem, nil
	}
	return limit, nil
}

const allOfThem = 1 << 24 // memories

// sayKnown says that a memory was kept before, unless it was added.
func (p program) sayKnown(added bool, err error) error {
	if err == nil && !added {
		p.std.Say("already known; updated")
	}
	return err
}

// editMemory changes the memory whose id comes first to say what comes next.
func editMemory(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
	text := strings.Join(args[1:], " ")
	return d.Memories.Modify(ctx, args[0], embedded.Change{Content: &text, Source: "memory edit", Who: runtime.By()})
}

func pinMemory(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
	if err := onlyPerson("pin a memory"); err != nil {
		return embedded.Memory{}, err
	}
	return d.Memories.Modify(ctx, args[0], embedded.Change{Source: embedded.Pinned, Who: memory.Pin})
}

// onlyPerson is the error of what an agent asks for that only a person may do.
func onlyPerson(do string) error {
	if by := runtime.By(); by != memory.Typed {
		return fmt.Errorf("an agent cannot %s: ask the user to run this", do)
	}
	return nil
}

func newMemoryAdd(p program) *cobra.Command {
	m := embedded.Memory{Source: "memory add"}
	var dir string
	cmd := &cobra.Command{
		Use: "add TEXT…", SuggestFor: []string{"remember"}, Short: "Save a memory.",
		Long: "Save TEXT as a memory; - reads stdin.",
		PreRunE: func(cmd *cobra.Command, args []string) (err error) {
			if !(m.Importance >= 0 && m.Importance <= 1) {
				return errors.New("--importance must be from 0 to 1")
			}
			m.Content, m.ImportanceSet = strings.Join(args, " "), cmd.Flags().Changed("importance")
			if m.Content == "-" {
				text, err := io.ReadAll(io.LimitReader(p.std.In, embedded.MaxContent+1))
				if err != nil {
					return fmt.Errorf("reading stdin: %w", err)
				}
				m.Content = string(text)
			}
			if m.Who = runtime.By(); m.Who != memory.Typed {
				m.Personal = false // what an agent notes stays in its project
			}
			m.Project, err = projectOf(dir)
			return err
		},
		RunE: p.onMemory("", func(ctx context.Context, d *runtime.Data, _ []string) (embedded.Memory, error) {
			kept, added, err := d.Memories.Add(ctx, m)
			return kept, p.sayKnown(added || *p.asJSON, err)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "project", ".", "The project, by its `DIR`; \"\" for none.")
	flags.BoolVar(&m.Personal, "personal", false, "A preference of yours, for all projects.")
	flags.StringVar(&m.Type, "type", "", "Its `TYPE`: preference, decision, fact, …")
	flags.StringVar(&m.Tags, "tags", "", "Its tags: `A,B`.")
	flags.Float64Var(&m.Importance, "importance", 0, "How much it matters, a `NUMBER` from 0 to 1 (0.5).")
	complete(cmd, "project", folders)
	return p.forScripts(cmd)
}

func newMemorySearch(p program) *cobra.Command {
	var q embedded.Query
	var here bool
	cmd := &cobra.Command{
		Use: "search QUERY…", SuggestFor: []string{"find", "recall", "grep"},
		Short: "Find memories, best first.",
		Long:  "Find memories by the words of QUERY, best first; it may be several arguments.",
		PreRunE: func(_ *cobra.Command, args []string) (err error) {
			if q.Limit, err = atMost(q.Limit); err != nil {
				return err
			}
			q.Text, q.AllProjects = strings.Join(args, " "), !here
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
			return p.printMemories(ctx, d, found, q.Limit,
				"no matches; see signet-acp-proxy memory list, signet-acp-proxy sessions")
		}),
	}
	cmd.Flags().IntVar(&q.Limit, "limit", 10, "At most `N`; 0 is all.")
	cmd.Flags().BoolVar(&here, "here", false, onlyHere)
	return p.forScripts(cmd)
}

func newMemoryFiles(p program) *cobra.Command {
	var limit int
	var dir, project string
	cmd := &cobra.Command{
		Use: "files WORDS…", Short: "Find files by the work that touched them.",
		Long: "Find files of a project by the work that touched them, best first, each with its sessions; " +
			"log SESSION shows one. If WORDS is a path or the end of one: what was done to that file.",
		PreRunE: func(*cobra.Command, []string) (err error) {
			if limit, err = atMost(limit); err != nil {
				return err
			}
			if project, err = projectOf(dir); err == nil && project == "" {
				err = fmt.Errorf("%s is in no project", dir)
			}
			return err
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			if err := d.Memories.Learn(ctx); err != nil {
				return err
			}
			found, err := d.Memories.Files(ctx, strings.Join(args, " "), project, limit)
			if err != nil {
				return err
			}
			return p.print(append([]embedded.FileWork{}, found...), func(s term.Screen) error {
				if len(found) == 0 {
					p.std.Say("no matches; the words of a prompt or part of a path find files")
				}
				return report.Files(found, s)
			})
		}),
	}
	cmd.Flags().IntVar(&limit, "limit", 10, "At most `N`; 0 is all.")
	cmd.Flags().StringVar(&dir, "project", ".", "The project, by its `DIR`.")
	complete(cmd, "project", folders)
	return p.forScripts(cmd)
}

func newMemoryList(p program) *cobra.Command {
	var filter embedded.Filter
	var here, rules, agents bool
	var limit int
	var from string
	cmd := &cobra.Command{
		Use: "list", SuggestFor: []string{"memories", "rules"}, Short: "List memories, newest first.",
		PreRunE: func(*cobra.Command, []string) (err error) {
			if limit, err = atMost(limit); err != nil {
				return err
			}
			if filter.Offset < 0 {
				return fmt.Errorf("--offset must be 0 or more, not %d", filter.Offset)
			}
			filter.Limit = limit + 1 // to see whether there are more
			if filter.From, err = whoNamed(from); err != nil {
				return err
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
				for _, s := range skipped {
					p.std.Say("%s: %s", s.File, s.Why)
				}
				return p.print(rows, func(s term.Screen) error { return report.AgentNotes(rows, p.std) })
			}
			if err := d.Memories.Learn(ctx); err != nil {
				return err
			}
			list := d.Memories.List
			if rules {
				list = d.Memories.Profile
			}
			all, err := list(ctx, filter)
			if err != nil {
				return err
			}
			none := "no memories yet; signet-acp-proxy memory add TEXT saves one, memory backfill imports conversations"
			if filter != (embedded.Filter{Limit: limit + 1}) || rules {
				none = "no matches; signet-acp-proxy memory list shows all"
			}
			return p.printMemories(ctx, d, all, limit, none)
		}),
	}
	flags := cmd.Flags()
	flags.IntVar(&limit, "limit", 100, "At most `N`; 0 is all.")
	flags.IntVar(&filter.Offset, "offset", 0, "Skip the first `N`.")
	flags.StringVar(&filter.Type, "type", "", "Only of this `TYPE`.")
	flags.BoolVar(&filter.Said, "said", false, saidToo)
	flags.BoolVar(&filter.Notes, "notes", false, "Only what agents noted of their sessions.")
	flags.BoolVar(&rules, "rules", false,
		"Only rules and preferences, with scope and number of mentions.")
	flags.StringVar(&from, "from", "", fromHelp)
	complete(cmd, "from", cobra.FixedCompletions(whos(), cobra.ShellCompDirectiveNoFileComp))
	flags.BoolVar(&agents, "agents", false, "Agents' own notes instead.")
	flags.BoolVar(&here, "here", false, onlyHere)
	return p.forScripts(cmd)
}

func newMemoryShow(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "show ID", ValidArgsFunction: memoryIDs(p.flags), Short: "Show one memory.",
		Long: "Show one memory, by its ID or a unique prefix.",
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			m, err := d.Memory(ctx, args[0])
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
			return p.print([]embedded.Memory{m}, func(term.Screen) error {
				return report.Memory(ctx, d, p.std, m, replaced)
			})
		}),
	})
}

func newMemoryEdit(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "edit ID TEXT…", ValidArgsFunction: memoryIDs(p.flags),
		Short: "Change a memory's text.",
		Long:  "Change a memory's text. The old text will not be learned again.",
		RunE:  p.onOneMemory("changed", editMemory),
	})
}

func newMemoryPin(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "pin ID", ValidArgsFunction: memoryIDs(p.flags),
		Short: "Always recall a memory in its project, whatever the prompt.",
		RunE:  p.onOneMemory("pinned", pinMemory),
	})
}

func newMemoryPromote(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "promote LINE", Short: "Copy a line of an agent's notes to the memories.",
		Long: "Copy a LINE of an agent's notes to the memories, for other agents; memory list --agents shows " +
			"the lines. Its own agent does not get it twice.",
		RunE: p.onMemory("",
			func(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
				m, added, err := d.Promote(ctx, args[0])
				return m, p.sayKnown(added || *p.asJSON, err)
			}),
	})
}

func newMemoryForget(p program) *cobra.Command {
	r := removal.Removal{Std: p.std}
	var from, dir string
	var filter embedded.Filter
	cmd := &cobra.Command{
		Use: "forget [ID]", ValidArgsFunction: memoryIDs(p.flags),
		Short: "Remove a memory; it will not be learned again.",
		Long: "Remove a memory, or all from one kind of source (--from), passages of conversations included; it " +
			"will not be learned again. For an hour, forget --undo restores it. ID may be a unique prefix.",
		PreRunE: func(cmd *cobra.Command, args []string) (err error) {
			if (len(args) == 0) == (from == "") {
				return errors.New("pass an ID or --from WHO")
			}
			if filter.Within = cmd.Flags().Changed("project"); filter.Within {
				if filter.Project, err = projectOf(dir); err != nil {
					return err
				}
			}
			filter.From, err = whoNamed(from)
			return err
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			r.Data = d
			if from != "" {
				removed, err := r.From(ctx, filter)
				if err != nil {
					return err
				}
				return p.print(append([]embedded.Memory{}, removed...), func(term.Screen) error {
					p.std.Say("%s forgotten", term.Count(len(removed), "memory"))
					if len(removed) > 0 {
						r.SayUndo()
					}
					return nil
				})
			}
			m, err := r.Memory(ctx, args[0])
			if err != nil {
				return err
			}
			return p.print([]embedded.Memory{m}, func(term.Screen) error {
				p.std.Say("forgotten: %s", m.ID)
				r.SayUndo()
				return nil
			})
		}),
	}
	cmd.Flags().BoolVar(p.asJSON, "json", false, "Print what was removed as JSON.")
	cmd.Flags().BoolVar(&r.ForGood, "for-good", false, forGoodHelp)
	cmd.Flags().StringVar(&from, "from", "", fromHelp)
	cmd.Flags().StringVar(&dir, "project", "", "With --from: only of this project, by its `DIR`.")
	complete(cmd, "project", folders)
	complete(cmd, "from", cobra.FixedCompletions(whos(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

const fromHelp = "Only what came from `WHO`: typed, pin, pasted, quoted, file, agent, tool, imported, child."

// whoNamed returns the value of --from.
func whoNamed(name string) (memory.Who, error) {
	if who := memory.Who(name); name == "" || slices.Contains(memory.Whos, who) {
		return who, nil
	}
	return "", fmt.Errorf("--from must be one of %s", strings.Join(whos(), ", "))
}

func whos() []string {
	names := make([]string, len(memory.Whos))
	for i, who := range memory.Whos {
		names[i] = string(who)
	}
	return names
}

// newMemoryProfile makes the command about what stands in every first prompt; by itself it lists that.
func newMemoryProfile(p program) *cobra.Command {
	cmd := listProfile(p, "profile", "List, keep, edit or drop what every first prompt gets.")
	cmd.AddCommand(listProfile(p, "list", "List it: what is pinned, then what you stated, newest first."),
		p.forScripts(&cobra.Command{
			Use: "keep ID", ValidArgsFunction: memoryIDs(p.flags),
			Short: "Keep a line: it goes before those that you have not looked at.",
			RunE:  p.onOneMemory("kept", keepLine),
		}),
		p.forScripts(&cobra.Command{
			Use: "edit ID TEXT…", ValidArgsFunction: memoryIDs(p.flags),
			Short: "Change what a line says, and keep it.",
			RunE:  p.onOneMemory("changed", keepLine),
		}),
		p.forScripts(&cobra.Command{
			Use: "drop ID", ValidArgsFunction: memoryIDs(p.flags),
			Short: "Remove a line; it will not be learned again.",
			RunE: p.onOneMemory("dropped",
				func(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
					return removal.Removal{Std: p.std, Data: d}.Memory(ctx, args[0])
				}),
		}))
	return cmd
}

func listProfile(p program, name, short string) *cobra.Command {
	var filter embedded.Filter
	var here bool
	cmd := p.forScripts(&cobra.Command{
		Use: name, Short: short,
		PreRunE: func(*cobra.Command, []string) (err error) {
			if filter.Within = here; here {
				filter.Project, err = projectOf(".")
			}
			return err
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			if err := d.Memories.Learn(ctx); err != nil {
				return err
			}
			all, err := d.Memories.Profile(ctx, filter)
			if err == nil && term.IsPerson(p.std.Err) { // what is listed needs no announcement
				_, err = d.Memories.NewInProfile(ctx)
			}
			if err != nil {
				return err
			}
			return p.printMemories(ctx, d, all, len(all),
				"your profile is empty: rules and preferences that you type are added")
		}),
	})
	cmd.Flags().BoolVar(&here, "here", false, onlyHere)
	return cmd
}

// keepLine keeps a line of the profile, as the text that comes behind its id, if any.
func keepLine(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
	if err := onlyPerson("change the profile"); err != nil {
		return embedded.Memory{}, err
	}
	return d.Memories.Keep(ctx, args[0], strings.Join(args[1:], " "))
}

func newMemoryExport(p program) *cobra.Command {
	var said bool
	cmd := &cobra.Command{
		Use: "export", Short: "Write all memories to stdout as JSON Lines.",
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			if err := d.Memories.Learn(ctx); err != nil {
				return err
			}
			n, err := d.Memories.Export(ctx, p.std.Out, said)
			if err == nil && term.IsPerson(p.std.Err) {
				p.std.Say("%s exported", term.Count(n, "memory"))
			}
			return err
		}),
	}
	cmd.Flags().BoolVar(&said, "said", false, saidToo)
	cmd.Flags().Bool("json", false, "The same: an export is JSON Lines.")
	return cmd
}

func newMemoryImport(p program) *cobra.Command {
	var o embedded.ImportOptions
	cmd := &cobra.Command{
		Use:   "import [FILE…]",
		Short: "Read memories as export writes them; all or nothing.",
		Long: "Read memories as export writes them, from each FILE or stdin; of a file all or nothing. Only " +
			"texts, times and projects are taken, as imported text: use --trust for what you exported yourself. " +
			"With session and position, neighbouring memories help to find one another.",
		RunE: func(_ *cobra.Command, names []string) error {
			if len(names) == 0 && p.std.Interactive() {
				p.std.Say("reading memories from the terminal, one JSON object a line, until Ctrl-D; or give a FILE")
			}
			return p.importMemories(names, o)
		},
	}
	cmd.Flags().BoolVar(&o.Trust, "trust", false,
		"Keep who wrote each, pins, importance and scope.")
	cmd.Flags().BoolVar(&o.Replace, "replace", false, "Change memories whose ids are known.")
	cmd.Flags().BoolVar(p.asJSON, "json", false, "Print the counts as JSON.")
	return cmd
}

// importMemories imports files, or stdin without a name.
func (p program) importMemories(names []string, o embedded.ImportOptions) (err error) {
	if o.Project, err = projectOf("."); err != nil {
		return err
	}
	if o.Trust {
		if err := onlyPerson("trust an import"); err != nil {
			return err
		}
	}
	return runtime.WithData(p.flags, p.std, func(ctx context.Context, d *runtime.Data) error {
		var all embedded.Imported
		var failed error
		if len(names) == 0 {
			all, failed = d.Memories.Import(ctx, p.std.In, o)
		}
		for _, name := range names {
			done, err := p.importFile(ctx, d, name, o)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
				continue
			}
			all.Add(done)
		}
		if failed != nil && all.Added+all.Updated+all.Unchanged == 0 {
			return failed
		}
		return errors.Join(failed, p.print(all, func(term.Screen) error {
			for _, line := range report.Imported(all) {
				p.std.Line(line)
			}
			return nil
		}))
	})
}

func (p program) importFile(ctx context.Context, d *runtime.Data, name string, o embedded.ImportOptions) (
	done embedded.Imported, err error) {
	file, err := os.Open(name)
	if err != nil {
		return done, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return done, err
	}
	progress := term.NewProgress(p.std.Err)
	defer progress.Done()
	return d.Memories.Import(ctx, progress.Reader("importing", file, info.Size()), o)
}
