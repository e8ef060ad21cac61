package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

func newMemoryExport(p program) *cobra.Command {
	var said bool
	cmd := &cobra.Command{
		Use: "export", Short: "Write all memories to stdout as JSON Lines.", Args: cli.Arguments,
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
	var asJSON bool
	cmd := &cobra.Command{
		Use: "import [FILE]", Short: "Read memories as export writes them; all or nothing.", Args: cli.Arguments,
		Long: "Read memories as export writes them, from FILE or stdin; all or nothing. " +
			"With session and position, neighbouring memories help to find one another.",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				if p.std.Interactive() {
					p.std.Say("reading memories from the terminal, one JSON object a line, until Ctrl-D; " +
						"or give a FILE")
				}
				return p.importMemories(p.std.In, 0, asJSON)
			}
			file, err := os.Open(args[0])
			if err != nil {
				return fmt.Errorf("importing memories: %w", err)
			}
			defer file.Close()
			info, err := file.Stat()
			if err != nil {
				return fmt.Errorf("importing memories: %w", err)
			}
			return p.importMemories(file, info.Size(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print the counts as JSON.")
	return cmd
}

func (p program) importMemories(from io.Reader, size int64, asJSON bool) error {
	return runtime.WithData(p.flags, p.std, func(ctx context.Context, d *runtime.Data) error {
		if size > 0 {
			progress := term.NewProgress(p.std.Err)
			defer progress.Done()
			from = progress.Reader("importing", from, size)
		}
		done, err := d.Memories.Import(ctx, from)
		if err != nil {
			return err
		}
		if asJSON {
			return term.JSON(p.std.Out, map[string]int{"added": done.Added, "updated": done.Updated,
				"unchanged": done.Unchanged})
		}
		p.std.Say("imported: %d added, %d updated, %d unchanged", done.Added, done.Updated, done.Unchanged)
		return nil
	})
}
