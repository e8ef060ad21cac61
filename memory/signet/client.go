// Package signet speaks to a Signet daemon over its HTTP hooks: it is the memory.Source of people who run one, the
// delivery of what was said, and the way to the daemon's memory tools.
//
//	c, err := signet.New(signet.Options{URL: url, Configured: true, Token: token})
//	context, err := c.Start(ctx, session)
//
// It remembers of a session only whether the daemon knows it and a person has switched it off, composes no text for a
// model, and asks nothing twice that must not be asked twice: hooks are never retried, a read is retried once at most.
// It works with daemons of 0.58.1 and of the newer kind; where they differ, the difference is said at the place.
package signet

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// defaultURL is where a daemon listens unless told otherwise.
const defaultURL = "http://127.0.0.1:3850"

// harness is the name of a harness that the daemon is not told.
const harness = "acp"

// told is the name under which hooks are called for a harness, by the name that people know it by: its own, so that the
// daemon's settings for it apply, and its dashboard shows it. "codex" is a transcript format to the daemon, which would
// drop ours; pi, OpenCode and OpenClaw call these hooks from plugins of Signet's, whose tools have other names.
func told(name string) string {
	switch name {
	case "", "codex", "pi", "opencode", "openclaw":
		return harness
	case "claude":
		return "claude-code"
	}
	return name
}

const (
	defaultStartTimeout  = 15 * time.Second // daemons take 2 s on a median day, 30 s with a cold model
	defaultPromptTimeout = 5 * time.Second
	endTimeout           = 60 * time.Second // the daemon reads a whole transcript within the request
	callTimeout          = 10 * time.Second // what the daemon's own MCP tools allow a call

	maxReply  = 4 << 20 // bytes; a full start is 24,000 characters
	maxPrompt = 8 << 10 // bytes of a prompt sent for recall; the daemon searches by the first 200 characters
)

// Options say which daemon, and who asks. The zero value is the daemon on defaultURL, which is never trusted without
// SignetPath.
type Options struct {
	// URL is the daemon's origin; "" means defaultURL. The caller takes it from a flag, SIGNET_DAEMON_URL, or
	// SIGNET_HOST and SIGNET_PORT.
	URL string
	// Configured says that a person named the URL. Such a daemon is trusted. Any other must name SignetPath as
	// agentsDir before it is told anything, and no other user may listen there, where the system tells who does.
	Configured bool
	SignetPath string
	// Plain allows http to another machine: whoever is on the way reads what was said.
	Plain bool
	// Token is sent as a bearer token, to loopback or over https only, and on loopback only once it is known who
	// listens, or where Configured. It is in no log and no error of this package.
	Token string
	// AgentID scopes memories; "" leaves it to the daemon.
	AgentID string
	// Name returns the name that people know a harness by, of what it calls itself, and "" for one that is not known.
	// nil: none is.
	Name func(harness string) string
	// OtherProjects tells memories of other projects, too.
	OtherProjects bool

	Log zerolog.Logger
	Now func() time.Time // nil: time.Now

	StartTimeout  time.Duration // of Start; zero: 15 s
	PromptTimeout time.Duration // of Recall; zero: 5 s

	// BreakerFile is where processes tell each other of a daemon that takes calls and does not answer; "" keeps that to
	// this process. A start that takes longer than Hold, which is how long a prompt waits for it, counts as a failure;
	// zero: none does.
	BreakerFile string
	Hold        time.Duration
}

// A Client speaks to one daemon. It is safe for concurrent use, and keeps no connection open between calls. One with a
// BreakerFile has to be closed.
type Client struct {
	opts  Options
	base  *url.URL
	owner func(*url.URL) owner // ownerOf; tests have others

	transport *http.Transport
	hooks     *retryablehttp.Client // never repeats a request
	reads     *retryablehttp.Client // repeats one once

	mu       sync.Mutex           // guards keys
	keys     map[string]*keyState // that were used
	presence presence
	life     context.Context // ends with Close
	end      context.CancelFunc
	probes   guard.Group
}

var _ memory.Source = (*Client)(nil)

// New makes a client. It makes no request. The error, if any, is about the URL.
func New(o Options) (*Client, error) {
	if o.URL == "" {
		o.URL = defaultURL
	}
	base, err := addressOf(o.URL, o.Plain)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Name == nil {
		o.Name = func(string) string { return "" }
	}
	if o.StartTimeout <= 0 {
		o.StartTimeout = defaultStartTimeout
	}
	if o.PromptTimeout <= 0 {
		o.PromptTimeout = defaultPromptTimeout
	}
	c := &Client{opts: o, base: base, transport: newTransport(), owner: ownerOf}
	c.presence.file, c.presence.url, c.presence.now = o.BreakerFile, base.String(), o.Now
	c.life, c.end = context.WithCancel(context.Background())
	plain := &http.Client{Transport: c.transport, CheckRedirect: noRedirect}
	c.hooks, c.reads = newRetrying(plain, 0), newRetrying(plain, 1)
	if o.Token != "" && !c.tokenAllowed() {
		o.Log.Warn().Str("url", base.String()).
			Msg("daemon token not sent: the connection is neither loopback nor https")
	}
	return c, nil
}

// Close ends the probes, which run beside calls, and waits for them.
func (c *Client) Close() {
	c.end()
	c.probes.Wait()
}

// probe makes the call that tries whether a daemon that was left alone answers again: one that would have been made
// anyhow, of a hook, for a daemon may tell of its health and hang in all else. Nobody waits for it.
func (c *Client) probe(done func(), limit time.Duration, call func(context.Context) error) {
	c.probes.Go("daemon's health", func() {
		defer done()
		ctx, cancel := context.WithTimeout(c.life, limit)
		defer cancel()
		c.probed(call(ctx))
	})
}

// probed notes what a try has found.
func (c *Client) probed(err error) {
	switch {
	case c.life.Err() != nil:
	case errors.Is(err, memory.ErrUnavailable):
		c.presence.failed()
	default:
		c.presence.answered()
	}
}

// settleShared notes for other processes how a call ended that somebody waited for since began. A start that got no
// readable answer has cost its key, however soon it failed.
func (c *Client) settleShared(began time.Time, err error) {
	switch {
	case err == nil, !errors.Is(err, memory.ErrUnavailable):
		c.presence.answered()
	case time.Since(began) >= costly, errors.Is(err, memory.ErrKeySpent):
		c.presence.failed()
	}
}

// URL is the daemon's origin.
func (c *Client) URL() string { return c.base.String() }

// Drop drops what is known of a key that nobody uses any more.
func (c *Client) Drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.keys, key)
}
