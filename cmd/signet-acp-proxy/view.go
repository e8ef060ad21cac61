package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/removal"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/view"
)

// newView makes the command that shows sessions, memories and usage on a page.
func newView(p program) *cobra.Command {
	var out string
	var noOpen, live bool
	// show prints where the page is and has a browser open it, by a file that leads there.
	show := func(page string, file func() (string, error)) error {
		if _, err := fmt.Fprintln(p.std.Out, page); err != nil || noOpen {
			return err
		}
		name, err := file()
		if err == nil {
			err = runtime.OpenInBrowser(name)
		}
		if err != nil {
			p.std.Say("open the page in a browser: %v", err)
		}
		return nil
	}
	cmd := &cobra.Command{
		Use: "view", SuggestFor: []string{"open", "ui", "web", "dashboard"},
		Short: "Show sessions, memories and usage in a browser.",
		Long: "Write sessions, memories and usage as one page, which needs no network and no server, and open it " +
			"in a browser. The page's path is printed.",
		PreRunE: func(*cobra.Command, []string) error {
			if live && out != "" {
				return errors.New("--live and --out exclude each other")
			}
			return nil
		},
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			if live { // until its last window closes, or a signal comes
				ctx, stop := untilTold(ctx)
				defer stop()
				redirect := runtime.RedirectFile(d.Config)
				defer files.Remove("the page that led a browser to it", redirect)
				page := p.livePage(d)
				page.Opened = func(address string) error {
					return show(address, func() (string, error) {
						return redirect, files.Replace(redirect, 0o600, func(w io.Writer) error {
							return view.WriteRedirect(w, address)
						})
					})
				}
				return page.Serve(ctx)
			}
			file, err := filepath.Abs(cmp.Or(out, runtime.PageFile(d.Config)))
			if err != nil {
				return err
			}
			page, err := view.Read(ctx, d.Page(*p.flags))
			if err != nil {
				return err
			}
			if err := files.Replace(file, 0o600, page.Write); err != nil {
				return err
			}
			return show(file, func() (string, error) { return file, nil })
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&out, "out", "", "Write the page to this `FILE` (acp/view.html in the Signet folder).")
	flags.BoolVar(&live, "live", false, "Serve the page on loopback and update it, until its last window closes.")
	flags.BoolVar(&noOpen, "no-open", false, "Do not open a browser.")
	complete(cmd, "out", paths)
	return cmd
}

// livePage is a page on which a person changes memories and delegations as the commands do.
func (p program) livePage(d *runtime.Data) *view.Live {
	page := &view.Live{Source: d.Page(*p.flags), Changes: map[string]func(context.Context, string, string) error{}}
	for name, change := range map[string]func(context.Context, *runtime.Data, []string) (embedded.Memory, error){
		"pin": pinMemory, "keep": keepLine, "edit": editMemory,
		"forget": func(ctx context.Context, d *runtime.Data, args []string) (embedded.Memory, error) {
			return removal.Removal{Data: d, Std: p.std, Yes: true}.Memory(ctx, args[0])
		},
	} {
		page.Changes[name] = func(ctx context.Context, id, text string) error {
			_, err := change(ctx, d, []string{id, text})
			return err
		}
	}
	page.Undo = func(ctx context.Context) error { return removal.Undo(ctx, d, p.std) }
	page.End = func(ctx context.Context, id string) error {
		a, err := d.Asked(ctx, id)
		if err == nil {
			_, err = a.End(ctx)
		}
		return err
	}
	return page
}
