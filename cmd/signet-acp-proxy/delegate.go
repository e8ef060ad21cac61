package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
)

// newDelegate makes the command that has an agent do something; with --run it is the runner that carries it out.
func newDelegate(p program) *cobra.Command {
	var (
		r       delegation.Request
		timeout time.Duration
		timed   bool   // timeout was given
		id      string // the delegation that this process is the runner of
	)
	ask := p.onData(func(ctx context.Context, d *runtime.Data, words []string) error {
		r.Task = strings.Join(words, " ")
		if seconds := max(1, int(timeout.Seconds())); r.Budget.Seconds == 0 || timed && seconds < r.Budget.Seconds {
			r.Budget.Seconds = seconds
		}
		ctx, stop := untilTold(ctx)
		defer stop()
		progress := term.NewProgress(p.std.Err)
		ended, err := d.Delegate(ctx, r, progress.Step)
		progress.Done()
		if err != nil {
			return err
		}
		return report.Delegated(ended, p.std)
	})
	run := p.onConfig(func(c *config.Config, _ []string) error {
		ctx, stop := untilTold(context.Background())
		defer stop()
		return runtime.RunDelegation(ctx, c, id, p.std.In, p.std)
	})
	cmd := &cobra.Command{
		Use: "delegate [TASK…]", SuggestFor: []string{"ask"},
		Short: "Have an agent do a task in its own folder, and print its last message.",
		RunE: func(cmd *cobra.Command, words []string) error {
			if id != "" {
				return run(cmd, nil)
			}
			timed = cmd.Flags().Changed("timeout")
			return ask(cmd, words)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Scope, "scope", "", "The agent's part: `TEXT; TEXT`.")
	flags.StringVar(&r.Kept, "keep", "", "Your part: `TEXT; TEXT`.")
	flags.StringVar(&r.Agent, "to", "", "The agent's `NAME`; by default the best match.")
	flags.StringVar((*string)(&r.Mode), "mode", "",
		"The `MODE`: read (the default), or edit, which returns its changes as a branch.")
	flags.StringVar(&r.Model, "model", "", "The agent's model, by `NAME`.")
	flags.StringVar(&r.SessionMode, "session-mode", "", "The agent's own session `MODE`.")
	flags.StringVar(&r.Continues, "continues", "", "Continue in the session and files of `ID`.")
	flags.DurationVar(&timeout, "timeout", delegation.DefaultTime, "End it after this `DURATION`.")
	flags.Func("budget", "End it at a `LIMIT`: turns=N, tokens=N, cost=N, seconds=N, with commas between.",
		func(text string) (err error) { r.Budget, err = budgetOf(text); return err })
	flags.StringVar(&r.IdempotencyKey, "key", "", "Delegate once for each `KEY`; by default, for each scope and task.")
	flags.BoolVar(&r.Detach, "detach", false, "Print the id, and do not wait.")
	flags.StringVar(&id, strings.TrimPrefix(runtime.RunFlag, "--"), "", "")
	flags.Lookup("run").Hidden = true
	complete(cmd, "to", agentNames(p.flags))
	return cmd
}

// budgetOf reads limits such as turns=20,cost=0.5.
func budgetOf(text string) (b delegation.Budget, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, n, _ := strings.Cut(strings.TrimSpace(part), "=")
		limit := json.NewDecoder(strings.NewReader(fmt.Sprintf(`{%q: %s}`, name, n)))
		limit.DisallowUnknownFields()
		if limit.Decode(&b) != nil {
			return b, fmt.Errorf("%q is not turns=N, tokens=N, cost=N or seconds=N", part)
		}
	}
	return b, nil
}
