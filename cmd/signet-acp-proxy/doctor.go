package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/doctor"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// newDoctor makes the command that checks the machine for what is wrong.
func newDoctor(p program) *cobra.Command {
	var agents []string
	var full bool
	cmd := &cobra.Command{
		Use: "doctor", SuggestFor: []string{"status", "check", "health", "diagnose"},
		Short: "Check the setup; exit 1 on a problem. Changes nothing.",
		RunE: func(*cobra.Command, []string) error {
			c, err := config.Load(*p.flags)
			var flag config.FlagError
			if errors.As(err, &flag) {
				return err
			}
			progress := term.NewProgress(p.std.Err)
			all := doctor.Examine(context.Background(), doctor.Options{
				Config: c, ConfigErr: err, Agents: agents, Full: full, Step: progress.Step,
			})
			progress.Done()
			if err := p.print(all, func(s term.Screen) error { return doctor.Print(all, s) }); err != nil {
				return err
			}
			if bad := doctor.Problems(all); bad > 0 {
				return exitError{exitFailed, errors.New(term.Count(bad, "problem"))}
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&agents, "agent", nil, "Also check these agents: `NAME,NAME`.")
	cmd.Flags().BoolVar(&full, "full", false, "Check all of a large database, however long it takes.")
	complete(cmd, "agent", agentNames(p.flags))
	return p.forScripts(cmd)
}
