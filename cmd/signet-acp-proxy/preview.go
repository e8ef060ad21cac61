package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// previewCommand shows what a session's first prompt would get.
type previewCommand struct {
	prompt, cwd, agent, continues string
	json                          bool
}

func newPreview(f *config.Flags, std term.Streams) *cobra.Command {
	var p previewCommand
	cmd := &cobra.Command{
		Use: "preview", Short: "Print what would be injected now; nothing is recorded.", Args: cli.Arguments,
		RunE: func(*cobra.Command, []string) error { return p.run(f, std) },
	}
	flags := cmd.Flags()
	flags.StringVar(&p.prompt, "prompt", "", "The `TEXT` of the prompt, for what it recalls.")
	flags.StringVar(&p.cwd, "cwd", ".", "The session's `DIR`.")
	flags.StringVar(&p.agent, "agent", "", "The harness by `NAME`.")
	flags.StringVar(&p.continues, "continues", "", "As if the new session took the place of `SESSION`.")
	cli.ForScripts(cmd, &p.json)
	cli.Complete(cmd, "cwd", cli.Folders)
	cli.Complete(cmd, "agent", cli.AgentNames(f))
	return cmd
}

func (cmd *previewCommand) run(f *config.Flags, std term.Streams) error {
	cwd, err := config.Folder(cmd.cwd)
	if err != nil {
		return err
	}
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", cwd)
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		if _, known := d.Config.Profile(cmd.agent); cmd.agent != "" && !known {
			return cli.UnknownAgent(d.Config, cmd.agent)
		}
		p, err := d.Preview(ctx, runtime.PreviewQuery{
			Prompt: cmd.prompt, Cwd: cwd, Agent: cmd.agent, Continues: cmd.continues})
		if err != nil {
			return err
		}
		for _, note := range p.Notes {
			std.Say("%s", note)
		}
		if p.Nothing != "" {
			std.Say("nothing: %s", p.Nothing)
		}
		if cmd.json {
			return term.JSON(std.Out, p)
		}
		if p.Nothing != "" {
			return nil
		}
		report.Preview(p, std)
		if p.Block == "" {
			std.Say("nothing would be injected")
			return nil
		}
		std.Say("%d bytes, about %d tokens, in %d ms", len(p.Block), memory.Tokens(p.Block), p.Took.Milliseconds())
		_, err = fmt.Fprint(std.Out, p.Block)
		return err
	})
}
