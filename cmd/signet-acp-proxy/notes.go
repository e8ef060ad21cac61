package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// newNotes makes the command by which a person has agents note sessions.
func newNotes(p program) *cobra.Command {
	return group("notes", "Have agents note what was decided and found in their sessions.", newNotesRun(p))
}

func newNotesRun(p program) *cobra.Command {
	var last int
	cmd := &cobra.Command{
		Use:   "run [SESSION]",
		Short: "Ask a session's agent for notes of it now, and print them.",
		Long: "Ask a session's agent for notes of it now, and print them. It is started once more, confined and " +
			"without tools, and uses its own account, up to 12,000 tokens of input for each session. notes: agent " +
			"does this after each session. SESSION " + namesSession,
		ValidArgsFunction: sessionIDs(p.flags),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			switch named := cmd.Flags().Changed("last"); {
			case (len(args) == 0) != named:
				return errors.New("pass a SESSION or --last N")
			case named && last < 1:
				return errors.New("--last must be at least 1")
			}
			return onlyPerson("have notes written")
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			ctx, stop := untilTold(ctx)
			defer stop()
			if len(args) == 0 {
				sessions, err := d.Sessions.Book().NotNoted(ctx, last)
				if err == nil && len(sessions) == 0 {
					p.std.Say("all sessions that are long enough have notes")
				}
				if err != nil {
					return err
				}
				return p.writeNotes(ctx, d, sessions)
			}
			s, err := d.Resolve(ctx, args[0])
			if err != nil {
				return err
			}
			return p.writeNotes(ctx, d, []int64{s.ID})
		}),
	}
	cmd.Flags().IntVar(&last, "last", 0, "The last `N` sessions without notes, instead of one.")
	return p.forScripts(cmd)
}

// writeNotes has the agents of sessions note them, one after the other, and prints each. It goes on after a failure.
func (p program) writeNotes(ctx context.Context, d *runtime.Data, sessions []int64) error {
	if err := d.Memories.Learn(ctx); err != nil {
		return err
	}
	w, err := d.NotesWriter()
	if err != nil {
		return err
	}
	progress := term.NewProgress(p.std.Err)
	defer progress.Done()
	var sum telemetry.Notes
	failed := 0
	for i, id := range sessions {
		progress.Step(strings.TrimSpace(fmt.Sprintf("session %d of %d  %s", i+1, len(sessions), &sum)))
		got, err := w.Write(ctx, id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if got.ID == 0 && err != nil && len(sessions) == 1 {
			return err
		}
		shown, err := d.Noted(ctx, id, got, err)
		if err != nil {
			return err
		}
		if shown.Error != "" {
			failed++
		}
		sum.Add(got.Noting)
		progress.Done()
		if err := p.printLine(shown, func(s term.Screen) error { return report.Noted(shown, s) }); err != nil {
			return err
		}
	}
	if len(sessions) > 1 && !*p.asJSON {
		p.std.Say("%s", &sum)
	}
	if failed > 0 {
		return fmt.Errorf("no notes of %s", term.Count(failed, "session"))
	}
	return nil
}
