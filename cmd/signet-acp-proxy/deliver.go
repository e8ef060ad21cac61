package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/rs/zerolog"
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
	move      bool // to the configured daemon what is owed to others
	yes       bool // nobody is asked
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
	flags.BoolVar(&d.move, "to-configured", false,
		"First move deliveries for other addresses to the daemon configured now.")
	flags.BoolVar(&d.yes, "yes", false, "Do not ask before moving.")
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
	runtime.DropOutdated(c, log)
	store := runtime.NewSessions(c, db, log)
	w := runtime.Worker(c, store, token, log.Logger)
	if d.fromRelay {
		w.Detached = true
		if _, err := w.Run(ctx, delivery.UntilQuiet); err != nil {
			return err
		}
		wrote, err := runtime.WriteNotes(ctx, c, db, log)
		if err == nil && wrote {
			_, err = w.Run(ctx, delivery.UntilQuiet) // the notes
		}
		return err
	}
	return d.forPerson(ctx, c, store, w, p.std)
}

// forPerson delivers as the flags say, and reports what is left.
func (d deliverCommand) forPerson(
	ctx context.Context, c *config.Config, store *correlation.Store, w delivery.Worker, std term.Streams,
) error {
	if d.move {
		if err := d.moveOwed(ctx, c, store, std, w.Log); err != nil {
			return err
		}
	}
	until := delivery.UntilQuiet
	switch {
	case d.once:
		until = delivery.OnePass
	case d.wait:
		until = delivery.UntilSettled
	}
	done := runtime.WatchOwed(ctx, store, term.NewProgress(std.Err))
	rest, err := w.Run(ctx, until)
	done()
	if err != nil {
		return err
	}
	return d.report(context.WithoutCancel(ctx), c, store, rest, std)
}

// moveOwed moves what is owed to other addresses, once a person has agreed.
func (d deliverCommand) moveOwed(
	ctx context.Context, c *config.Config, store *correlation.Store, std term.Streams, log zerolog.Logger,
) error {
	owed, err := elsewhere(ctx, c, store)
	if err != nil {
		return err
	}
	if len(owed) == 0 {
		std.Say("nothing is pending for another address")
		return nil
	}
	to := cmp.Or(runtime.ConfiguredDaemon(c), "the daemon of "+c.SignetPath)
	std.Say("%s: %s", term.Count(len(owed), "delivery"), runtime.Addressees(owed))
	switch {
	case d.yes:
	case !std.Interactive():
		return fmt.Errorf("to move them to %s, add --yes", to)
	case !std.Ask("move them to %s?", to):
		std.Say("nothing was moved")
		return nil
	}
	n, err := runtime.MoveOwed(ctx, c, store, log)
	if err == nil {
		std.Say("%s moved to %s", term.Count(n, "delivery"), to)
	}
	return err
}

// elsewhere returns what is owed to daemons at other addresses than the configured one, or was given up there.
func elsewhere(ctx context.Context, c *config.Config, store *correlation.Store) ([]correlation.Debt, error) {
	all, err := store.Debts().Outstanding(ctx)
	return slices.DeleteFunc(all, func(d correlation.Debt) bool {
		return !d.Elsewhere(runtime.ConfiguredDaemon(c)) || !d.Done.IsZero() && d.State != correlation.Dead
	}), err
}

// report says what is still owed, and to which addresses.
func (d deliverCommand) report(ctx context.Context, c *config.Config, store *correlation.Store, rest delivery.Remaining,
	std term.Streams) error {
	next, open, err := store.Debts().Due(ctx)
	if err != nil || open == 0 {
		return err
	}
	owed, err := elsewhere(ctx, c, store)
	if err != nil {
		return err
	}
	owed = slices.DeleteFunc(owed, func(d correlation.Debt) bool { return !d.Done.IsZero() })
	to, hint := "", "; see signet-acp-proxy doctor"
	if len(owed) > 0 {
		to, hint = ": "+runtime.Addressees(owed), "; --to-configured moves these to the daemon configured now"
	}
	if d.wait && rest.Waiting > 0 {
		std.Say("%s waiting on purpose; the next is due %s", term.Count(rest.Waiting, "delivery"), term.Local(next))
	}
	switch {
	case d.wait && rest.Failed > 0:
		return fmt.Errorf("%s failed and pending%s%s", term.Count(rest.Failed, "delivery"), to, hint)
	case !d.wait && to != "":
		std.Say("%s still pending%s%s", term.Count(open, "delivery"), to, hint)
	case !d.wait:
		std.Say("%s still pending; the next attempt is due %s", term.Count(open, "delivery"), term.Local(next))
	}
	return nil
}
