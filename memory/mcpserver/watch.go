package mcpserver

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// A watch knows whether there is a daemon, and which tools it offers. Its methods may be called from several
// goroutines.
type watch struct {
	o       Options
	changed func() // called when the tools are others

	now     atomic.Pointer[daemonInfo] // nil while there is none
	looked  chan struct{}              // closed once it is known whether there is one
	lookNow chan struct{}              // 1-buffered: look again now
}

// newWatch makes a watch that calls changed. Without a daemon in the options there is nothing to look for.
func newWatch(o Options, changed func()) *watch {
	w := &watch{o: o, changed: changed, looked: make(chan struct{}), lookNow: make(chan struct{}, 1)}
	if o.Daemon == nil {
		close(w.looked)
	}
	return w
}

// awaitFirst waits until it is known whether there is a daemon, at most listWait.
func (w *watch) awaitFirst(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	select {
	case <-w.looked:
	case <-ctx.Done():
	}
}

// guess assumes, until the daemon is asked, that it offers the tools that it had the last time. Nobody is told of the
// change.
func (w *watch) guess() {
	if w.o.Daemon == nil || w.now.Load() != nil {
		return
	}
	select {
	case <-w.looked:
		return
	default:
	}
	version, tools := toolCache(w.o.ToolCache).read(w.o.Daemon.URL())
	if len(tools) > 0 {
		w.now.CompareAndSwap(nil, &daemonInfo{version: version, tools: tools, guessed: true})
	}
}

// confirmed returns the daemon, nil for none. Where it is only guessed, it waits until the daemon was asked, at most
// memoryTime.
func (w *watch) confirmed(ctx context.Context) *daemonInfo {
	l := w.now.Load()
	if l == nil || !l.guessed {
		return l
	}
	ctx, cancel := context.WithTimeout(ctx, memoryTime)
	defer cancel()
	select {
	case <-w.looked:
		return w.now.Load()
	case <-ctx.Done():
		return nil
	}
}

// lookAgain has the daemon looked for at once.
func (w *watch) lookAgain() {
	select {
	case w.lookNow <- struct{}{}:
	default:
	}
}

// set changes what is known of the daemon, nil for none, and tells those who want to know.
func (w *watch) set(l *daemonInfo) {
	before := w.now.Swap(l)
	if (before != nil || l != nil) && !before.shows(l) {
		w.changed()
	}
	if w.o.OnDaemon != nil && l != nil && (before == nil || before.guessed) {
		w.o.OnDaemon()
	}
}

const (
	// listWait is how long the first tools/list waits to hear whether there is a daemon. Harnesses do not wait much
	// longer for us (codex and qwen then go on without tools); tools that are known later are announced with
	// list_changed.
	listWait = 8 * time.Millisecond

	// memoryTime is how long a memory tool's call to the daemon may take. What it stores is then kept here
	// (Options.Owe).
	memoryTime = 3 * time.Second

	lookTime    = 2 * time.Second // for /health
	connectTime = 5 * time.Second // for the handshake and the list of tools
	defaultPort = "3850"
)

// run looks for the daemon until ctx ends: at once after lookAgain, and each time Poll has passed while it is wanted.
func (w *watch) run(ctx context.Context, wanted func() bool) {
	tick := time.NewTicker(w.o.Poll)
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
			case <-w.lookNow:
				due = true
			case <-ctx.Done():
				return
			}
		}
	}
}

// look asks the daemon whether it is there, and what it offers.
func (w *watch) look(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if w.o.Daemon.LeftAlone() {
		w.set(nil)
		return
	}
	health, err := w.o.Daemon.Present(asking)
	if err != nil {
		w.set(nil)
		return
	}
	now := w.now.Load()
	known := now != nil && !now.guessed && now.version == health.Version
	if known && !now.partial {
		return
	}
	l := &daemonInfo{version: health.Version, direct: w.callsWrongPort(asking, health)}
	listing, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	if l.tools, err = w.listTools(listing); err != nil {
		if known {
			return
		}
		w.o.Log.Info().Err(err).Str("version", health.Version).Msg("the daemon has no MCP server")
		l.tools, l.direct, l.partial = (*daemonInfo)(nil).list(), true, true
	} else if err := toolCache(w.o.ToolCache).write(w.o.Daemon.URL(), l.version, l.tools); err != nil {
		w.o.Log.Warn().Err(err).Msg("remembering the daemon's tools")
	}
	w.o.Log.Info().Str("version", l.version).Int("tools", len(l.tools)).Bool("direct", l.direct).
		Msg("memory tools of the daemon")
	w.set(l)
}

// callsWrongPort reports whether the tools of a daemon's MCP server would call another daemon: those of 0.58.1 call
// port 3850 whatever port they are served from (docs/facts/signet-daemon.md, "Tools"). Where nobody listens there they
// fail, which bridge.call notices; where somebody does they must not be called at all.
func (w *watch) callsWrongPort(ctx context.Context, h signet.Health) bool {
	at, err := url.Parse(w.o.Daemon.URL())
	if err != nil || h.Newer || at.Port() == defaultPort {
		return false
	}
	if ip := net.ParseIP(at.Hostname()); at.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return true // from here it cannot be seen who listens on its port 3850
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", defaultPort))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// listTools returns all tools of the daemon's MCP server that can be offered in turn.
func (w *watch) listTools(ctx context.Context) ([]*mcp.Tool, error) {
	session, err := openSession(ctx, w.o.Daemon, w.o.Version, memory.Session{})
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
			w.o.Log.Warn().Str("tool", chars.Cut(t.Name, 60)).Msg("a tool of the daemon has no usable schema")
			continue
		}
		if ours, ok := toolNamed(t.Name); ok && t.Annotations == nil {
			t.Annotations = ours.describe().Annotations
		}
		if t.Name == searchTool {
			addQueries(t)
		}
		list = append(list, t)
	}
	return list, nil
}
