package runtime

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// contextAge is how long the next process may use a context that was fetched and not used.
const contextAge = 15 * time.Minute

// Worker returns a worker, as configured. token returns the secret for the daemon at a URL.
func Worker(c *config.Config, store *correlation.Store, token func(url string) string,
	log zerolog.Logger) delivery.Worker {
	return delivery.Worker{
		Store: store, Folder: c.Dir(), Like: configured(c), StaleAfter: contextAge, Log: log, Hook: c.OnSessionEnd,
		// Unlearn uses only the transaction that it is given
		Retention: delivery.Retention{Keep: c.Retention, Unlearn: embedded.New(nil, embedded.Options{}).Unlearn},
		Daemon: func(url string) (delivery.Daemon, error) {
			at := *c
			if url != "" && c.Source("daemon_url") != "--daemon-url" {
				at.DaemonURL, at.DaemonConfigured = url, true
			}
			if at.DaemonConfigured {
				url = at.DaemonURL
			}
			client, err := NewDaemon(&at, token(url), log)
			if err != nil {
				return nil, err
			}
			return delivery.Signet{Client: client}, nil
		},
	}
}

// newDispatcher makes the dispatcher of a relay, and begins its sweep.
func newDispatcher(c *config.Config, store *correlation.Store, log zerolog.Logger) *delivery.Dispatcher {
	d := &delivery.Dispatcher{
		Worker: Worker(c, store, func(string) string { return config.Token() }, log),
		Spawn:  spawn(c, "deliver", "--parted"),
		Beside: len(c.OnSessionEnd) > 0 || writesNotes(c),
		AtExit: c.DeliverAtExit,
	}
	if writesNotes(c) {
		d.Also = func(ctx context.Context) (bool, error) {
			due, err := newNotesWriter(c, store, nil, zerolog.Nop()).Due(ctx)
			return len(due) > 0, err
		}
	}
	d.Begin()
	return d
}

// Addressees says how many of some debts are for each daemon that a person has named, as in "2 for http://one:3850".
func Addressees(owed []correlation.Debt) string {
	n := map[string]int{}
	for _, d := range owed {
		if d.Elsewhere("") {
			n[d.URL]++
		}
	}
	var each []string
	for _, url := range slices.Sorted(maps.Keys(n)) {
		each = append(each, fmt.Sprintf("%d for %s", n[url], url))
	}
	return strings.Join(each, ", ")
}

// ConfiguredDaemon is the address that a person has configured, "" for none.
func ConfiguredDaemon(c *config.Config) string { return configured(c).URL }

// MoveOwed makes what is owed to daemons at other addresses owed to the configured one, if that is ours by the rules
// for one that nobody has named: it serves our folder, no other user listens there, and it takes our token.
func MoveOwed(ctx context.Context, c *config.Config, store *correlation.Store, log zerolog.Logger) (int, error) {
	unnamed := *c
	unnamed.DaemonConfigured = false
	client, err := NewDaemon(&unnamed, config.Token(), log)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	if _, err = client.Present(ctx); err == nil {
		_, err = client.List(ctx, 1, 0, "") // any call that needs the token
	}
	if err != nil {
		return 0, fmt.Errorf("nothing was moved: %s: %w; deliver --daemon-url %[1]s delivers there all the same",
			client.URL(), err)
	}
	return store.Debts().Move(ctx, ConfiguredDaemon(c))
}

// WatchOwed shows how much is owed until done is called.
func WatchOwed(ctx context.Context, store *correlation.Store, p *term.Progress) (done func()) {
	if !p.Shown() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching guard.Group
	watching.Go("progress", func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			if _, open, err := store.Debts().Due(ctx); err == nil {
				p.Step(term.Count(open, "delivery") + " owed")
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		watching.Wait()
		p.Done()
	}
}
