package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/doctor"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// doctorCommand checks the machine for what is wrong.
type doctorCommand struct {
	agents []string
	json   bool
}

func newDoctor(f *config.Flags, std term.Streams) *cobra.Command {
	var d doctorCommand
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the setup, and change nothing; exit 1 on a problem.",
		Args: cli.Arguments,
		RunE: func(*cobra.Command, []string) error { return d.run(f, std) },
	}
	cmd.Flags().StringSliceVar(&d.agents, "agent", nil, "Look at these harnesses too: `NAME,NAME`.")
	cli.Complete(cmd, "agent", cli.AgentNames(f))
	cli.ForScripts(cmd, &d.json)
	return cmd
}

func (cmd *doctorCommand) run(f *config.Flags, std term.Streams) error {
	c, err := config.Load(*f)
	var flag config.FlagError
	if errors.As(err, &flag) {
		return err
	}
	progress := term.NewProgress(std.Err)
	all := doctor.Examine(context.Background(), doctor.Options{
		Config: c, ConfigErr: err, Agents: cmd.agents, Step: progress.Step,
	})
	progress.Done()
	if cmd.json {
		err = term.JSON(std.Out, all)
	} else {
		err = doctor.Print(all, term.On(std.Out))
	}
	if err != nil {
		return err
	}
	if bad := doctor.Problems(all); bad > 0 {
		return cli.Exit{Code: cli.Failed, Err: errors.New(term.Count(bad, "problem"))}
	}
	return nil
}
