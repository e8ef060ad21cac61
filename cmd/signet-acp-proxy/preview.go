package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// newPreview makes the command that shows what a session's first prompt would get.
func newPreview(p program) *cobra.Command {
	var q runtime.PreviewQuery
	cmd := &cobra.Command{
		Use: "preview", Short: "Print the context of a new session; records nothing.",
		PreRunE: func(*cobra.Command, []string) (err error) {
			if q.Cwd, err = config.Folder(q.Cwd); err != nil {
				return err
			}
			if info, err := os.Stat(q.Cwd); err != nil || !info.IsDir() {
				return fmt.Errorf("%s is not a folder", q.Cwd)
			}
			return nil
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			if _, known := d.Config.Profile(q.Agent); q.Agent != "" && !known {
				return unknownAgent(d.Config, q.Agent)
			}
			found, err := d.Preview(ctx, q)
			if err != nil {
				return err
			}
			for _, note := range found.Notes {
				p.std.Line(note)
			}
			if found.Nothing != "" {
				p.std.Say("nothing: %s", found.Nothing)
			}
			switch {
			case *p.asJSON:
				return term.JSON(p.std.Out, found)
			case found.Nothing != "":
				return nil
			}
			report.Preview(found, p.std)
			if found.Block == "" {
				p.std.Say("nothing would be inserted")
				return nil
			}
			p.std.Say("%d bytes, about %d tokens, in %d ms", len(found.Block), memory.Tokens(found.Block),
				found.Took.Milliseconds())
			_, err = fmt.Fprint(p.std.Out, found.Block)
			return err
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Prompt, "prompt", "", "The prompt `TEXT` to recall memories for.")
	flags.StringVar(&q.Cwd, "cwd", ".", "The session's `DIR`.")
	flags.StringVar(&q.Agent, "agent", "", "The agent by `NAME`.")
	flags.StringVar(&q.Continues, "continues", "", "As if the new session replaced `SESSION`.")
	complete(cmd, "cwd", folders)
	complete(cmd, "agent", agentNames(p.flags))
	return p.forScripts(cmd)
}
