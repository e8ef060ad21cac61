package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// daemonToken is the secret for the daemon, from where its own clients take it.
func daemonToken() string {
	for _, name := range tokenVariables {
		if token := os.Getenv(name); token != "" {
			return token
		}
	}
	return ""
}

// tokenVariables hold the secret for the daemon.
var tokenVariables = []string{"SIGNET_API_KEY", "SIGNET_TOKEN"}

// newDaemon makes a client of the configured daemon. It makes no request.
func newDaemon(c *Config, token string, log zerolog.Logger) (*signet.Client, error) {
	return signet.New(signet.Options{
		URL: c.DaemonURL, Configured: c.daemonConfigured, SignetPath: c.SignetPath, Token: token, AgentID: c.AgentID, Log: log,
		StartTimeout:  c.Fetch,
		PromptTimeout: max(c.Hold*2/3, time.Millisecond), // so that a daemon that does not answer leaves the embedded store some of a prompt's time
	})
}

// A notedDaemon is the daemon as a source; the ledger hears which keys it was told, and that it answers: without either nobody could say what it is owed.
type notedDaemon struct {
	*signet.Client
	ledger     *notedLedger
	signetPath string
	log        zerolog.Logger

	mu   sync.Mutex // guards seen
	seen time.Time  // when the ledger last heard of it
}

// seenEvery is how often the ledger hears of a daemon that goes on answering.
const seenEvery = time.Minute

// Start implements memory.Source.
func (d *notedDaemon) Start(ctx context.Context, s memory.Session) (memory.Context, error) {
	d.ledger.starting(ctx, s.Key)
	got, err := d.Client.Start(ctx, s)
	d.answered(ctx, got.Version, err)
	return got, err
}

// Recall implements memory.Source.
func (d *notedDaemon) Recall(ctx context.Context, s memory.Session, prompt string, seen []string) (memory.Context, error) {
	got, err := d.Client.Recall(ctx, s, prompt, seen)
	d.answered(ctx, got.Version, err)
	return got, err
}

func (d *notedDaemon) answered(ctx context.Context, version string, err error) {
	if err != nil && (errors.Is(err, memory.ErrUnavailable) || ctx.Err() != nil) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.seen) < seenEvery {
		return
	}
	if err := d.ledger.SawDaemon(ctx, d.signetPath, d.URL(), version); err != nil {
		d.log.Warn().Err(err).Msg("noting that the daemon answered")
		return
	}
	d.seen = time.Now()
}

// A notedLedger is the ledger, which notes a session-start with a key that it does not know yet as soon as it does: a fetch begins before the harness has
// named its session.
type notedLedger struct {
	*correlation.Store
	log zerolog.Logger

	mu      sync.Mutex // guards unknown
	unknown map[string]bool
}

func (l *notedLedger) starting(ctx context.Context, key string) {
	l.mu.Lock()
	if l.unknown == nil {
		l.unknown = make(map[string]bool)
	}
	l.unknown[key] = true
	l.mu.Unlock()
	l.note(ctx, key)
}

// note notes the start of a key that was started.
func (l *notedLedger) note(ctx context.Context, key string) {
	l.mu.Lock()
	started := l.unknown[key]
	l.mu.Unlock()
	if !started {
		return
	}
	switch err := l.StartKey(ctx, key); {
	case errors.Is(err, correlation.ErrNotFound):
	case err != nil:
		l.log.Warn().Err(err).Str("key", key).Msg("noting a session-start")
	default:
		l.mu.Lock()
		delete(l.unknown, key)
		l.mu.Unlock()
	}
}

// Open implements proxy.Ledger.
func (l *notedLedger) Open(ctx context.Context, o correlation.OpenSession) (correlation.Session, error) {
	session, err := l.Store.Open(ctx, o)
	if err == nil {
		l.note(ctx, session.Key)
	}
	return session, err
}

// Rekey implements proxy.Ledger.
func (l *notedLedger) Rekey(ctx context.Context, id int64, key string) error {
	err := l.Store.Rekey(ctx, id, key)
	if err == nil {
		l.note(ctx, key)
	}
	return err
}

// A deliveryDaemon is the daemon as deliveries see it.
type deliveryDaemon struct {
	*signet.Client
	trusted bool // a person named it
}

var _ delivery.Daemon = deliveryDaemon{}

// duplicateWindow is how long a newer daemon takes no second end of a session (facts/signet-daemon.md, section 3).
const duplicateWindow = 30*time.Minute + time.Second

// Health implements delivery.Daemon.
func (d deliveryDaemon) Health(ctx context.Context) (newer bool, err error) {
	h, err := d.Client.Health(ctx)
	if err == nil && !h.Ours && !d.trusted {
		err = signet.ErrNotOurs
	}
	return h.Newer, err
}

// End implements delivery.Daemon.
func (d deliveryDaemon) End(ctx context.Context, e delivery.End) (delivery.Reply, error) {
	got, err := d.Client.End(ctx, signet.EndRequest{Key: e.Key, AgentID: e.AgentID, Cwd: e.Cwd, Reason: e.Reason, TranscriptPath: e.File, Transcript: e.Text})
	switch {
	case err != nil:
		return delivery.Reply{}, delivered(err)
	case got.Queued:
		return delivery.Reply{Note: "queued " + got.JobID}, nil
	case got.Duplicate:
		return delivery.Reply{Note: "skipped: ended a short while ago, by " + got.EndedBy, Later: true, After: duplicateWindow}, nil
	case got.Skipped && got.ClaimedBy != "":
		return delivery.Reply{Note: "skipped: claimed by " + got.ClaimedBy, Later: true}, nil
	case got.Skipped:
		return delivery.Reply{Note: "skipped", Later: true}, nil
	case got.Dropped:
		return delivery.Reply{Note: "not queued", Dropped: true}, nil
	}
	return delivery.Reply{Note: "ended"}, nil
}

// Compacted implements delivery.Daemon.
func (d deliveryDaemon) Compacted(ctx context.Context, c delivery.Compaction) (delivery.Reply, error) {
	id, err := d.CompactionComplete(ctx, signet.Compaction{Key: c.Key, AgentID: c.AgentID, Project: c.Project, Summary: c.Summary})
	return delivery.Reply{Note: "kept " + id}, delivered(err)
}

// delivered says in delivery's words whether the daemon may have taken a post.
func delivered(err error) error {
	if errors.Is(err, signet.ErrNoAnswer) {
		return fmt.Errorf("%w: %w", delivery.ErrNoAnswer, err)
	}
	return err
}
