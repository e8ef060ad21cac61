package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// namesSession explains the argument of commands that are about one session.
const namesSession = "is an ACP session id, Signet key or acpx record, or a unique prefix."

// newLog makes the command that prints a conversation.
func newLog(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "log SESSION", SuggestFor: []string{"cat", "transcript", "print"},
		Short: "Print a conversation, with tools and inserted context.",
		Long: "Print a conversation, with tools and inserted context. " +
			"SESSION " + namesSession,
		ValidArgsFunction: sessionIDs(p.flags),
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			s, err := d.Find(ctx, args[0])
			if err != nil {
				return err
			}
			return p.printConversation(ctx, d, s)
		}),
	})
}

// newShow makes the command that shows what is known of a session, or of a delegation.
func newShow(p program) *cobra.Command {
	var withText bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a session: ids, inserted context, deliveries.",
		Long: "Show a session: ids, inserted context, deliveries; or a delegated task. ID " + namesSession +
			" A delegation's id shows the task and its result.",
		ValidArgsFunction: sessionIDs(p.flags),
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			s, err := d.Find(ctx, args[0])
			if errors.Is(err, correlation.ErrNotFound) {
				if asked, missing := d.Asked(ctx, args[0]); missing == nil {
					return p.showDelegation(ctx, d, asked, nil)
				}
			}
			if err != nil {
				return err
			}
			inserted, err := d.Sessions.Injections(ctx, s.ID)
			if err != nil {
				return err
			}
			slices.Reverse(inserted) // oldest first
			if withText && !*p.asJSON {
				return report.Injected(inserted, s.Session, p.std)
			}
			shown, err := d.Show(ctx, s, inserted, withText)
			if err != nil {
				return err
			}
			return p.print(shown, func(s term.Screen) error { return report.Session(shown, s) })
		}),
	}
	cmd.Flags().BoolVar(&withText, "context", false, "Print the text that was injected, exactly, and nothing else.")
	return p.forScripts(cmd)
}

// newEvents makes the command that prints what happened in a session.
func newEvents(p program) *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "events SESSION",
		Short: "Print a session's events, without its text.",
		Long:  "Print a session's events, oldest first, without its text. SESSION " + namesSession,

		ValidArgsFunction: sessionIDs(p.flags),
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			s, err := d.Resolve(ctx, args[0])
			if err != nil {
				return err
			}
			reader := telemetry.NewEventReader(d.Sessions.Book(), s.ID)
			return every(ctx, func() (done bool, err error) { // or until a signal ends us
				all, err := reader.Next(ctx)
				for _, e := range all {
					if err == nil {
						err = p.printLine(e, func(screen term.Screen) error { return report.Event(e, screen) })
					}
				}
				return !follow, err
			})
		}),
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "Keep printing until you press Ctrl-C.")
	cmd.Flags().BoolVar(p.asJSON, "json", false, "Print JSON Lines for scripts.")
	return cmd
}

// newHandoff makes the command that has another agent continue a conversation.
func newHandoff(p program) *cobra.Command {
	var to string
	var run bool
	cmd := &cobra.Command{
		Use: "handoff SESSION", SuggestFor: []string{"continue", "resume"},
		Short: "Continue a conversation with another agent.",
		Long: "Continue a conversation with another agent: the next session of that agent in the same project, " +
			"within an hour, gets the end of this one, once. Prints the command that starts it. SESSION " +
			namesSession,
		ValidArgsFunction: sessionIDs(p.flags),
		PreRunE: func(*cobra.Command, []string) error {
			if to == "" {
				return errors.New("--to AGENT is missing")
			}
			return nil
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
			return p.handOff(ctx, d, args[0], to, run)
		}),
	}
	cmd.Flags().StringVar(&to, "to", "", "The `AGENT` that continues.")
	cmd.Flags().BoolVar(&run, "run", false, "Start the session through acpx instead of printing the command.")
	complete(cmd, "to", agentNames(p.flags))
	return cmd
}

// handOff hands a session over, and begins the next one or says how to.
func (p program) handOff(ctx context.Context, d *runtime.Data, session, to string, run bool) error {
	h, err := d.Handoff(ctx, session, to)
	if err != nil {
		return err
	}
	p.std.Say("the next session of %s in %s within an hour continues from there, in any client", h.To,
		memory.HomeShort(cmp.Or(h.Session.Project, h.Session.Cwd)))
	if run {
		return h.Run(ctx, p.std)
	}
	_, err = fmt.Fprintln(p.std.Out, h.Command())
	return err
}
