package mcpserver

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// A watch knows whether there is a daemon, and what it offers. Its methods may be called from several goroutines.
type watch struct {
	daemon     *signet.Client
	configured bool // a person named the daemon: any other must serve our own folder
	version    string
	log        zerolog.Logger
	changed    func(*link)
	back       func() // may be nil
	file       remembered
	// its memories of all projects are given to every session
	allProjects bool

	now    atomic.Pointer[link] // nil while there is none
	looked chan struct{}        // closed once it is known whether there is one
	hurry  chan struct{}        // 1-buffered: look again now
}

// newWatch makes a watch that tells of every change. Without a daemon there is nothing to look for.
func newWatch(o Options, changed func(*link)) *watch {
	w := &watch{daemon: o.Daemon, configured: o.Configured, version: o.Version, log: o.Log, changed: changed,
		back: o.Back, file: remembered(o.Remembered), allProjects: o.OtherProjects}
	w.looked, w.hurry = make(chan struct{}), make(chan struct{}, 1)
	if o.Daemon == nil {
		close(w.looked)
	}
	return w
}

// awaitFirst waits a little until it is known whether there is a daemon.
func (w *watch) awaitFirst(ctx context.Context) {
	limit := time.NewTimer(listWait)
	defer limit.Stop()
	select {
	case <-w.looked:
	case <-limit.C:
	case <-ctx.Done():
	}
}

// guess takes the daemon to be there as it was the last time, until it is known. Nothing is told of it.
func (w *watch) guess() {
	if w.daemon == nil || w.now.Load() != nil {
		return
	}
	select {
	case <-w.looked:
		return
	default:
	}
	version, tools := w.file.read(w.daemon.URL())
	if len(tools) > 0 {
		w.now.CompareAndSwap(nil, &link{version: version, tools: tools, guessed: true})
	}
}

// sure gives what is known of the daemon, and waits for that a while where it is guessed.
func (w *watch) sure(ctx context.Context) *link {
	l := w.now.Load()
	if l == nil || !l.guessed {
		return l
	}
	limit := time.NewTimer(memoryTime)
	defer limit.Stop()
	select {
	case <-w.looked:
		return w.now.Load()
	case <-limit.C:
	case <-ctx.Done():
	}
	return nil
}

// again has the daemon looked for now.
func (w *watch) again() {
	select {
	case w.hurry <- struct{}{}:
	default:
	}
}

// set changes whether there is a daemon.
func (w *watch) set(l *link) {
	before := w.now.Swap(l)
	if (before != nil || l != nil) && !before.shows(l) {
		w.changed(l)
	}
	if w.back != nil && l != nil && (before == nil || before.guessed) {
		w.back()
	}
}

const (
	// listWait is how long the first tools/list waits to hear whether there is a daemon: harnesses wait little longer
	// for us (codex and qwen go on without tools), and what comes later comes with list_changed.
	listWait = 8 * time.Millisecond

	// memoryTime is how long a call of a tool takes at most to find out whether the daemon answers.
	memoryTime = 3 * time.Second

	lookTime    = 2 * time.Second // for /health
	connectTime = 5 * time.Second // for the handshake and the list of tools
	defaultPort = "3850"
)

// run notices when the daemon comes and goes, until ctx ends: at once when it is told to look again, and at times while
// anybody wants it.
func (w *watch) run(ctx context.Context, every time.Duration, wanted func() bool) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for first := true; ; first = false {
		w.look(ctx)
		if first {
			close(w.looked)
		}
		for due := false; !due; {
			select {
			case <-tick.C:
				due = wanted()
			case <-w.hurry:
				due = true
			case <-ctx.Done():
				return
			}
		}
	}
}

// look finds out whether the daemon is there, and what it offers.
func (w *watch) look(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	health, err := w.daemon.Health(asking)
	if err != nil || !health.Ours && !w.configured {
		w.set(nil)
		return
	}
	now := w.now.Load()
	known := now != nil && !now.guessed && now.version == health.Version
	if known && !now.partial {
		return
	}
	l := &link{version: health.Version, direct: w.strays(asking, health)}
	listing, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	if l.tools, err = w.listTools(listing); err != nil {
		if known {
			return
		}
		w.log.Info().Err(err).Str("version", health.Version).Msg("the daemon has no MCP server")
		l.tools, l.direct, l.partial = (*link)(nil).list(), true, true
	} else if err := w.file.write(w.daemon.URL(), l.version, l.tools); err != nil {
		w.log.Warn().Err(err).Msg("remembering the daemon's tools")
	}
	w.log.Info().Str("version", l.version).Int("tools", len(l.tools)).Bool("direct",
		l.direct).Msg("memory tools of the daemon")
	w.set(l)
}

// strays reports whether the tools of a daemon's /mcp would reach another daemon: those of 0.58.1 call port 3850
// whatever port they are served from (docs/facts/signet-daemon.md, "Tools"). Where nobody listens there they fail,
// which call notices; where somebody does they must not be called at all.
func (w *watch) strays(ctx context.Context, h signet.Health) bool {
	at, err := url.Parse(w.daemon.URL())
	if err != nil || h.Newer || at.Port() == defaultPort {
		return false
	}
	if ip := net.ParseIP(at.Hostname()); at.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return true // who listens there cannot be seen from here
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", defaultPort))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// listTools gives all tools of the daemon's MCP server that can be shown on.
func (w *watch) listTools(ctx context.Context) ([]*mcp.Tool, error) {
	session, err := openSession(ctx, w.daemon, w.version, memory.Session{})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	var list []*mcp.Tool
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("listing the daemon's tools: %w", err)
		}
		if !showable(t) {
			w.log.Warn().Str("tool", chars.Cut(t.Name, 60)).Msg("a tool of the daemon has no usable schema")
			continue
		}
		if ours, ok := toolNamed(t.Name); ok && t.Annotations == nil {
			t.Annotations = ours.describe().Annotations
		}
		list = append(list, t)
	}
	return list, nil
}
