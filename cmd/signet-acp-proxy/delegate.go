package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
)

// delegateCommand has an agent do something; with run it is the runner that carries it out.
type delegateCommand struct {
	delegation.Request
	mode    string
	timeout time.Duration
	run     string // the delegation that this process is the runner of
}

func newDelegate(f *config.Flags, std term.Streams) *cobra.Command {
	var d delegateCommand
	cmd := &cobra.Command{
		Use: "delegate [TASK…]", Short: "Let an agent do a task in its own folder; print its last message.",
		Args: cli.Arguments,
		RunE: func(_ *cobra.Command, words []string) error {
			if d.run != "" {
				return d.carryOut(f, std)
			}
			d.Task = strings.Join(words, " ")
			return d.ask(f, std)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&d.Scope, "scope", "", "What the agent answers for: `TEXT`, items between semicolons.")
	flags.StringVar(&d.Kept, "keep", "", "What stays with you: `TEXT`, the same way.")
	flags.StringVar(&d.Agent, "to", "", "The agent by its `NAME`; else the best for it.")
	flags.StringVar(&d.mode, "mode", "", "read, or edit: its changes are handed back as a branch (`MODE`); else read.")
	flags.StringVar(&d.Model, "model", "", "Have it use this model of its own, by `NAME`.")
	flags.StringVar(&d.SessionMode, "session-mode", "", "Put its session into this `MODE` of its own.")
	flags.StringVar(&d.Continues, "continues", "", "Go on in the session and files of `ID`.")
	flags.DurationVar(&d.timeout, "timeout", delegation.DefaultTime, "End it after this `DURATION`.")
	flags.StringVar(&d.Key, "key", "", "What was asked by this `KEY` before is not asked again; else scope and task.")
	flags.BoolVar(&d.Detach, "detach", false, "Print its id and let it go on.")
	flags.StringVar(&d.run, strings.TrimPrefix(runtime.RunFlag, "--"), "", "")
	flags.Lookup("run").Hidden = true
	cli.Complete(cmd, "to", cli.AgentNames(f))
	return cmd
}

func (cmd *delegateCommand) carryOut(f *config.Flags, std term.Streams) error {
	c, err := config.Load(*f)
	if err != nil {
		return err
	}
	ctx, stop := untilTold(context.Background())
	defer stop()
	return runtime.RunDelegation(ctx, c, cmd.run, std.In, std)
}

func (cmd *delegateCommand) ask(f *config.Flags, std term.Streams) error {
	cmd.Mode = delegation.Mode(cmd.mode)
	cmd.Budget.Seconds = max(1, int(cmd.timeout.Seconds()))
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		ctx, stop := untilTold(ctx)
		defer stop()
		progress := term.NewProgress(std.Err)
		ended, err := d.Delegate(ctx, cmd.Request, func(line string) { progress.Step(line) })
		progress.Done()
		if err != nil {
			return err
		}
		return report.Delegated(ended, std)
	})
}

func newAgents(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "agents", Short: "List the agents that can be asked, and how their work went.", Args: cli.Arguments,
		RunE: func(*cobra.Command, []string) error {
			return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
				all, err := d.Agents(ctx)
				switch {
				case err != nil:
					return err
				case asJSON:
					return term.JSON(std.Out, all)
				}
				return report.Agents(all, term.On(std.Out))
			})
		},
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}
