package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

func newMemoryExport(p program) *cobra.Command {
	var said bool
	cmd := &cobra.Command{
		Use: "export", Short: "Write all memories to stdout as JSON Lines.",
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
	var o embedded.ImportOptions
	cmd := &cobra.Command{
		Use:   "import [FILE…]",
		Short: "Read memories as export writes them; all or nothing.",
		Long: "Read memories as export writes them, from each FILE or stdin; of a file all or nothing. Only " +
			"texts, times and projects are taken, as imported text: use --trust for what you exported yourself. " +
			"With session and position, neighbouring memories help to find one another.",
		RunE: func(_ *cobra.Command, names []string) error {
			if len(names) == 0 && p.std.Interactive() {
				p.std.Say("reading memories from the terminal, one JSON object a line, until Ctrl-D; or give a FILE")
			}
			return p.importMemories(names, o)
		},
	}
	cmd.Flags().BoolVar(&o.Trust, "trust", false,
		"Keep who wrote each, pins, importance and scope.")
	cmd.Flags().BoolVar(&o.Replace, "replace", false, "Change memories whose ids are known.")
	cmd.Flags().BoolVar(p.asJSON, "json", false, "Print the counts as JSON.")
	return cmd
}

// importMemories imports files, or stdin without a name.
func (p program) importMemories(names []string, o embedded.ImportOptions) (err error) {
	if o.Project, err = projectOf("."); err != nil {
		return err
	}
	if o.Trust {
		if err := onlyPerson("trust an import"); err != nil {
			return err
		}
	}
	return runtime.WithData(p.flags, p.std, func(ctx context.Context, d *runtime.Data) error {
		var all embedded.Imported
		var failed error
		if len(names) == 0 {
			all, failed = d.Memories.Import(ctx, p.std.In, o)
		}
		for _, name := range names {
			done, err := p.importFile(ctx, d, name, o)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
				continue
			}
			all.Add(done)
		}
		if failed != nil && all.Added+all.Updated+all.Unchanged == 0 {
			return failed
		}
		return errors.Join(failed, p.print(all, func(term.Screen) error {
			for _, line := range report.Imported(all) {
				p.std.Line(line)
			}
			return nil
		}))
	})
}

func (p program) importFile(ctx context.Context, d *runtime.Data, name string, o embedded.ImportOptions) (
	done embedded.Imported, err error) {
	file, err := os.Open(name)
	if err != nil {
		return done, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return done, err
	}
	progress := term.NewProgress(p.std.Err)
	defer progress.Done()
	return d.Memories.Import(ctx, progress.Reader("importing", file, info.Size()), o)
}
