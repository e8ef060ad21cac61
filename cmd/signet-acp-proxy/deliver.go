package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// deliverCommand delivers what sessions have left: run by a person, or as the worker of a relay.
type deliverCommand struct {
	once      bool
	wait      bool
	fromRelay bool // started by a relay, which writes the daemon's token to stdin, and has ended when stdin ends
}

func newDeliver(p program) *cobra.Command {
	var d deliverCommand
	cmd := &cobra.Command{
		Use: "deliver", Short: "Deliver pending transcripts to the daemon and on_session_end.",
		RunE: func(*cobra.Command, []string) error { return d.run(p) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&d.once, "once", false, "Try each due delivery once.")
	flags.BoolVar(&d.wait, "wait", false,
		"Continue until each is delivered, waits on purpose or failed.")
	flags.BoolVar(&d.fromRelay, "parted", false, "")
	flags.Lookup("parted").Hidden = true
	return cmd
}

func (d deliverCommand) run(p program) error {
	ctx, stop := untilTold(context.Background())
	defer stop()
	c, err := config.Load(*p.flags)
	if err != nil && !d.fromRelay {
		return err
	}
	if _, err := os.Stat(c.DB); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was said
	}
	token := func(string) string { return config.Token() }
	if d.fromRelay {
		credential, err := delivery.AwaitRelay(ctx, p.std.In)
		if err != nil {
			return err
		}
		token = credential.For
	}
	log := runtime.NewLog(c, p.std)
	defer log.Close()
	db, err := migrations.Open(ctx, c.DB)
	if err != nil {
		return err
	}
	defer db.Close()
	runtime.DropOld(c, log)
	store := runtime.NewSessions(c, db, log)
	o := runtime.WorkerOptions(c, store, token, log.Logger())
	if d.fromRelay {
		o.Detached = true
		_, err := delivery.Run(ctx, o, delivery.UntilQuiet)
		return err
	}
	until := delivery.UntilQuiet
	switch {
	case d.once:
		until = delivery.OnePass
	case d.wait:
		until = delivery.UntilSettled
	}
	done := runtime.WatchOwed(ctx, store, term.NewProgress(p.std.Err))
	rest, err := delivery.Run(ctx, o, until)
	done()
	if err != nil {
		return err
	}
	return d.report(context.WithoutCancel(ctx), store, rest, p.std)
}

// report says what is still owed.
func (d deliverCommand) report(
	ctx context.Context, store *correlation.Store, rest delivery.Remaining, std term.Streams,
) error {
	next, open, err := store.Debts().Due(ctx)
	if err != nil || open == 0 {
		return err
	}
	if d.wait && rest.Waiting > 0 {
		std.Say("%s waiting on purpose; the next is due %s", term.Count(rest.Waiting, "delivery"), term.Local(next))
	}
	switch {
	case d.wait && rest.Failed > 0:
		return fmt.Errorf("%s failed and pending; see signet-acp-proxy doctor", term.Count(rest.Failed, "delivery"))
	case !d.wait:
		std.Say("%s still pending; the next attempt is due %s", term.Count(open, "delivery"), term.Local(next))
	}
	return nil
}
