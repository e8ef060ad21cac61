package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// deliverCommand hands over what sessions have left: by hand, and as the worker that a relay leaves behind.
type deliverCommand struct {
	once   bool
	wait   bool
	parted bool // started by a relay: the daemon's token is the first line of stdin, and when stdin ends the relay has gone
}

func newDeliver(f *Flags, std stdio) *cobra.Command {
	var d deliverCommand
	cmd := &cobra.Command{
		Use: "deliver", Short: "Hand over what sessions have left, to the daemon and to on_session_end.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return d.run(f, std) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&d.once, "once", false, "One pass over what is due.")
	flags.BoolVar(&d.wait, "wait", false, "Go on until nothing is owed.")
	flags.BoolVar(&d.parted, "parted", false, "")
	flags.Lookup("parted").Hidden = true
	return cmd
}

const (
	// partLimit is how long a worker waits for the relay that started it; what is owed by one that lives on is left to it.
	partLimit = 30 * time.Second
	// partSettle is for the locks of a relay that was killed: its pipe may end before they do.
	partSettle = 100 * time.Millisecond
)

func (d deliverCommand) run(f *Flags, std stdio) error {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals...)
	defer stop()
	c, err := loadConfig(f)
	if err != nil && !d.parted {
		return err
	}
	if _, err := os.Stat(c.DB); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was said
	}
	token := daemonToken()
	if d.parted {
		if token, err = part(ctx, std.in); err != nil {
			return err
		}
	}
	log := newLogFile(c, std)
	defer log.close()
	db, err := migrations.Open(ctx, c.DB)
	if err != nil {
		return err
	}
	defer db.Close()
	store := correlation.New(db, correlation.Options{LiveDir: c.liveDir(), Log: log.logger()})
	until := delivery.UntilQuiet
	switch {
	case d.once:
		until = delivery.UntilPassed
	case d.wait:
		until = delivery.UntilPaid
	}
	if err := work(ctx, c, store, token, until, log.logger()); err != nil {
		return err
	}
	if d.parted {
		return nil
	}
	next, open, err := store.Due(context.WithoutCancel(ctx))
	if err == nil && open > 0 {
		std.say("%s still owed, the next attempt is due %s", count(open, "delivery"), local(next))
	}
	return err
}

// work delivers as a registered worker.
func work(ctx context.Context, c *Config, store *correlation.Store, token string, until delivery.Until, log zerolog.Logger) error {
	process, err := store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Worker, Version: versionName(), SignetPath: c.SignetPath, Memory: c.Memory})
	if err != nil {
		return err
	}
	w := delivery.New(delivery.Options{
		Store: store, Process: process, Dir: filepath.Join(filepath.Dir(c.DB), "transcripts"), StaleAfter: c.ContextAge, Log: log,
		Hook: delivery.Hook{Command: c.OnSessionEnd, Limit: c.OnSessionEndLimit},
		Daemon: func(url string) (delivery.Daemon, error) {
			at := *c
			if url != "" && c.sources["daemon_url"] != "--daemon-url" {
				at.DaemonURL, at.daemonConfigured = url, true
			}
			client, err := newDaemon(&at, token, log)
			if err != nil {
				return nil, err
			}
			return deliveryDaemon{client, at.daemonConfigured}, nil
		},
	})
	err = w.Run(ctx, until)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	err = errors.Join(err, process.End(end, "ended"))
	expireDelivered(end, c, store, log)
	return err
}

// part reads the token that a relay left, and waits until that has gone.
func part(ctx context.Context, in *os.File) (token string, err error) {
	gone := make(chan struct{})
	said := bufio.NewReader(io.LimitReader(in, 64<<10))
	line, err := said.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("reading what the relay left: %w", err)
	}
	go func() { // ends with the relay, or with us
		defer close(gone)
		_, _ = io.Copy(io.Discard, said)
	}()
	select {
	case <-gone:
	case <-time.After(partLimit):
	case <-ctx.Done():
	}
	time.Sleep(partSettle)
	return strings.TrimSuffix(line, "\n"), nil
}
