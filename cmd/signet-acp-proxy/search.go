package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

const (
	onlyHere = "Only this project's memories and those of no project."
	saidToo  = "Also passages of conversations, which are removed with them."
)

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
