package runtime

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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

// configured says of a process of this configuration what decides whether it owes a daemon anything.
func configured(c *config.Config) correlation.ProcessInfo {
	info := correlation.ProcessInfo{SignetPath: c.SignetPath, Memory: c.Memory}
	if c.DaemonConfigured {
		info.URL = c.DaemonURL
	}
	if c.DaemonExpected && c.Memory == "auto" {
		info.Memory = "daemon" // it is owed from the first turn, also if it has never answered
	}
	return info
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

// spawn says how a relay starts a command of ours that outlives it: with our environment but without the token, which a
// worker reads from its stdin. A daemon that a flag names goes into the environment: as a flag it would take precedence
// over the one that a row is owed to.
func spawn(c *config.Config, command ...string) delivery.Spawn {
	s := delivery.Spawn{
		Args: append(command, flagsBesideDaemon(c)...),
		Dir:  c.Dir(),
		Pass: delivery.Credential{Token: config.Token()},
	}
	if c.DaemonConfigured {
		s.Pass.URL = c.DaemonURL
	}
	s.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(config.TokenVariables, name)
	})
	if c.Source("daemon_url") == "--daemon-url" {
		s.Env = append(s.Env, "SIGNET_ACP_DAEMON_URL="+c.DaemonURL)
	}
	return s
}

// flagsBesideDaemon returns the flags by which another process of ours gets the same configuration, but for the daemon.
func flagsBesideDaemon(c *config.Config) []string {
	flags := []string{"--db", absolute(c.DB), "--signet-path", c.SignetPath, "--memory", c.Memory, "--log-level",
		c.LogLevel}
	if c.LogFile != "" && c.LogFile != "-" {
		flags = append(flags, "--log-file", absolute(c.LogFile))
	}
	return flags
}

// absolute makes a path independent of the working directory.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
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
