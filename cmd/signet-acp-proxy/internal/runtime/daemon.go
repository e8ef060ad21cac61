package runtime

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// NewDaemon makes a process's client of the configured daemon, without a request. It has to be closed.
func NewDaemon(c *config.Config, token string, log zerolog.Logger) (*signet.Client, error) {
	return signet.New(signet.Options{
		URL: c.DaemonURL, Configured: c.DaemonConfigured, SignetPath: c.SignetPath, Token: token, AgentID: c.AgentID,
		Plain: c.DaemonPlain, Name: knownHarness,
		OtherProjects: otherProjects(c),
		Log:           log,
		BreakerFile:   filepath.Join(c.Dir(), "daemon.json"),
		// a process may end as soon as its prompt has left, and is to say before that the daemon did not answer
		Hold:         session.AskTime(c.Hold) * 9 / 10,
		StartTimeout: c.Fetch,
		// the rest is for the embedded store, where the daemon does not answer
		PromptTimeout: max(c.Hold*2/3, time.Millisecond),
	})
}

// A recordingDaemon is the daemon as a source that records which keys it was told and that it answers: from that others
// know later what the daemon is owed.
type recordingDaemon struct {
	*signet.Client
	follower   *follower
	bypass     func(ctx context.Context, key string) error
	signetPath string
	log        zerolog.Logger
	tell       func(format string, args ...any) // tells people; nil where there is other memory than the daemon's
	told       sync.Once
	holdLimit  time.Duration // how long a prompt waits for it; zero: people are not told of a late answer

	mu   sync.Mutex // guards seen
	seen time.Time  // when an answer was last recorded
}

// seenEvery is how often it is recorded that a daemon goes on answering.
const seenEvery = time.Minute

// Start implements memory.Source.
func (d *recordingDaemon) Start(ctx context.Context, s memory.Session) (memory.Context, error) {
	d.follower.starting(ctx, s)
	if d.holdLimit > 0 { // by then a prompt has gone without memories
		defer time.AfterFunc(d.holdLimit, guard.Func("fetch", func() { d.warnMissing("no answer yet") })).Stop()
	}
	got, err := d.Client.Start(ctx, s)
	d.answered(ctx, s.Key, got.Version, err)
	if errors.Is(err, memory.ErrUnavailable) && ctx.Err() == nil {
		d.warnMissing(strings.TrimPrefix(strings.TrimPrefix(err.Error(), memory.ErrKeySpent.Error()+": "),
			memory.ErrUnavailable.Error()+": "))
	}
	if len(got.Warnings) > 0 {
		d.log.Warn().Str("key", s.Key).Strs("warnings", got.Warnings).Msg("the daemon warns")
		d.follower.warned(s.Key, got.Warnings)
	}
	return got, err
}

// warnMissing tells people, once, that memory is missing, and why.
func (d *recordingDaemon) warnMissing(why string) {
	if d.tell != nil {
		d.told.Do(func() {
			d.tell("the daemon at %s: %s; agents get only the identity files until the daemon answers", d.URL(), why)
		})
	}
}

// Recall implements memory.Source.
func (d *recordingDaemon) Recall(
	ctx context.Context, s memory.Session, prompt string, seen []string,
) (memory.Context, error) {
	if d.Unheard(s.Key) {
		d.follower.events.Append(correlation.KeyStarted{Key: s.Key, AgentID: s.AgentID})
	}
	got, err := d.Client.Recall(ctx, s, prompt, seen)
	d.answered(ctx, s.Key, got.Version, err)
	return got, err
}

func (d *recordingDaemon) answered(ctx context.Context, key, version string, err error) {
	if errors.Is(err, memory.ErrBypassed) {
		if err := d.bypass(context.WithoutCancel(ctx), key); err != nil {
			d.log.Warn().Err(err).Str("key", key).Msg("noting that a session is switched off at the daemon")
		}
	}
	if err != nil && (errors.Is(err, memory.ErrUnavailable) || ctx.Err() != nil) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.seen) < seenEvery {
		return
	}
	d.follower.events.Append(correlation.DaemonAnswered{SignetPath: d.signetPath, URL: d.URL(), Version: version})
	d.seen = time.Now()
}
