package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/removal"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/view"
)

// viewCommand shows sessions, memories and usage on a page.
type viewCommand struct {
	out          string
	noOpen, live bool
}

func newView(f *config.Flags, std term.Streams) *cobra.Command {
	var v viewCommand
	cmd := &cobra.Command{
		Use: "view", Short: "Look at sessions, memories and usage in a browser.", Args: cli.Arguments,
		Long: "Write sessions, memories and usage as one page, which needs no network and no server, and open it " +
			"in a browser. The page's path is printed.",
		RunE: func(*cobra.Command, []string) error { return v.run(f, std) },
	}
	flags := cmd.Flags()
	flags.StringVar(&v.out, "out", "", "Write the page to this `FILE` (acp/view.html in the Signet folder).")
	flags.BoolVar(&v.live, "live", false, "Serve it on loopback, as it changes, until its last window closes.")
	flags.BoolVar(&v.noOpen, "no-open", false, "Do not open it.")
	cli.Complete(cmd, "out", cli.Paths)
	return cmd
}

func (cmd *viewCommand) run(f *config.Flags, std term.Streams) error {
	if cmd.live && cmd.out != "" {
		return cli.Misuse("--live or --out, not both")
	}
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		if cmd.live {
			return cmd.serve(ctx, d, *f, std)
		}
		file, err := filepath.Abs(cmp.Or(cmd.out, runtime.PageFile(d.Config)))
		if err != nil {
			return err
		}
		page, err := view.Read(ctx, d.Page(*f))
		if err != nil {
			return err
		}
		if err := runtime.WriteFile(file, page.Write); err != nil {
			return err
		}
		return cmd.show(file, std)
	})
}

// show prints where the page is, and opens it.
func (cmd *viewCommand) show(page string, std term.Streams) error {
	if _, err := fmt.Fprintln(std.Out, page); err != nil || cmd.noOpen {
		return err
	}
	if err := runtime.OpenInBrowser(page); err != nil {
		std.Say("open it in a browser: %v", err)
	}
	return nil
}

// serve serves the page until its last window closes, or a signal comes.
func (cmd *viewCommand) serve(ctx context.Context, d *runtime.Data, f config.Flags, std term.Streams) error {
	ctx, stop := untilTold(ctx)
	defer stop()
	live := view.Live{Source: d.Page(f), Changes: changes{d, std},
		Opened: func(address string) error { return cmd.show(address, std) }}
	return live.Serve(ctx)
}

// changes are the changes that a person makes on a live page.
type changes struct {
	data *runtime.Data
	std  term.Streams
}

// Forget does what memory forget does.
func (c changes) Forget(ctx context.Context, id string) error {
	_, err := removal.Removal{Data: c.data, Std: c.std, Yes: true}.Memory(ctx, id)
	return err
}

// Undo does what forget --undo does.
func (c changes) Undo(ctx context.Context) error { return removal.Undo(ctx, c.data, c.std) }

// End does what delegations cancel does.
func (c changes) End(ctx context.Context, id string) error {
	a, err := c.data.Asked(ctx, id)
	if err == nil {
		_, err = a.End(ctx)
	}
	return err
}

// Pin does what memory pin does.
func (c changes) Pin(ctx context.Context, id string) error {
	_, err := c.data.Memories.Modify(ctx, id, embedded.Change{Source: embedded.Pinned})
	return err
}

// Edit does what memory edit does.
func (c changes) Edit(ctx context.Context, id, text string) error {
	_, err := c.data.Memories.Modify(ctx, id, embedded.Change{Content: &text, Source: "memory edit"})
	return err
}
