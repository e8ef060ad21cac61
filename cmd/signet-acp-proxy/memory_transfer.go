package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

func newMemoryExport(f *config.Flags, std term.Streams) *cobra.Command {
	var said bool
	cmd := &cobra.Command{
		Use: "export", Short: "Write all memories to stdout as JSON Lines.", Args: cli.Arguments,
		RunE: func(*cobra.Command, []string) error { return exportMemories(said, f, std) },
	}
	cmd.Flags().BoolVar(&said, "said", false, saidToo)
	cmd.Flags().Bool("json", false, "The same: an export is JSON Lines.")
	return cmd
}

func exportMemories(said bool, f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		if err := d.Memories.Learn(ctx); err != nil {
			return err
		}
		n, err := d.Memories.Export(ctx, std.Out, said)
		if err == nil && term.IsPerson(std.Err) {
			std.Say("%s", exported(n))
		}
		return err
	})
}

func exported(n int) string { return term.Count(n, "memory") + " exported" }

func newMemoryImport(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "import [FILE]", Short: "Read memories as export writes them; all or nothing.", Args: cli.Arguments,
		Long: "Read memories as export writes them, from FILE or stdin; all or nothing. " +
			"With session and position, what stands beside a memory helps to find it.",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				if std.Interactive() {
					std.Say("reading memories from the terminal, one JSON object a line, until Ctrl-D; " +
						"or give a FILE")
				}
				return importMemories(std.In, 0, asJSON, f, std)
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
			return importMemories(file, info.Size(), asJSON, f, std)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print the counts as JSON.")
	return cmd
}

func importMemories(from io.Reader, size int64, asJSON bool, f *config.Flags, std term.Streams) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		if size > 0 {
			progress := term.NewProgress(std.Err)
			defer progress.Done()
			from = progress.Reader("importing", from, size)
		}
		done, err := d.Memories.Import(ctx, from)
		if err != nil {
			return err
		}
		if asJSON {
			return term.JSON(std.Out, map[string]int{"added": done.Added, "updated": done.Updated,
				"unchanged": done.Unchanged})
		}
		std.Say("imported: %d added, %d updated, %d unchanged", done.Added, done.Updated, done.Unchanged)
		return nil
	})
}
