package mcpserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// A link is a daemon that answers. It does not change.
type link struct {
	version string
	tools   []*mcp.Tool
	// direct: the memory tools go to the daemon's HTTP API, for those of its /mcp would not reach it.
	direct bool
	// partial: the daemon answers, its MCP server does not (yet), so these tools are ours.
	partial bool
}

const (
	lookTime    = 2 * time.Second // for /health
	connectTime = 5 * time.Second // for the handshake and the list of tools
	defaultPort = "3850"
)

// list gives the tools to show: the daemon's, and with no daemon our own.
func (l *link) list() []*mcp.Tool {
	if l != nil {
		return l.tools
	}
	list := make([]*mcp.Tool, len(tools))
	for i, t := range tools {
		list[i] = t.describe()
	}
	return list
}

// watchDaemon notices when the daemon comes and goes.
func (s *Server) watchDaemon() {
	tick := time.NewTicker(s.o.Poll)
	defer tick.Stop()
	for first := true; ; first = false {
		s.look()
		if first {
			close(s.looked)
		}
		for wanted := false; !wanted; {
			select {
			case <-tick.C:
				s.mu.Lock()
				wanted = s.clients > 0
				s.mu.Unlock()
			case <-s.hurry:
				wanted = true
			case <-s.ctx.Done():
				return
			}
		}
	}
}

// look finds out whether the daemon is there, and what it offers.
func (s *Server) look() {
	ctx, cancel := context.WithTimeout(s.ctx, lookTime)
	defer cancel()
	health, err := s.o.Daemon.Health(ctx)
	if err != nil || !health.Ours && !s.o.Configured {
		s.set(nil)
		return
	}
	now := s.link.Load()
	known := now != nil && now.version == health.Version
	if known && !now.partial {
		return
	}
	l := &link{version: health.Version, direct: s.strays(ctx, health)}
	ctx, cancel = context.WithTimeout(s.ctx, connectTime)
	defer cancel()
	if l.tools, err = s.listTools(ctx); err != nil {
		if known {
			return
		}
		s.o.Log.Info().Err(err).Str("version", health.Version).Msg("the daemon has no MCP server")
		l.tools, l.direct, l.partial = (*link)(nil).list(), true, true
	}
	s.o.Log.Info().Str("version", l.version).Int("tools", len(l.tools)).Bool("direct", l.direct).Msg("memory tools of the daemon")
	s.set(l)
}

// strays reports whether the tools of a daemon's /mcp would reach another daemon: those of 0.58.1 call port 3850 whatever port they are served from
// (facts/signet-daemon.md, 5). Where nobody listens there they fail, which call notices; where somebody does they must not be called at all.
func (s *Server) strays(ctx context.Context, h signet.Health) bool {
	at, err := url.Parse(s.o.Daemon.URL())
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
func (s *Server) listTools(ctx context.Context) ([]*mcp.Tool, error) {
	session, err := s.connect(ctx, memory.Session{})
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
			s.o.Log.Warn().Str("tool", clip(t.Name, 60)).Msg("a tool of the daemon has no usable schema")
			continue
		}
		if ours, ok := toolNamed(t.Name); ok && t.Annotations == nil {
			t.Annotations = ours.describe().Annotations
		}
		list = append(list, t)
	}
	return list, nil
}

// showable reports whether the SDK takes a tool, for it panics about one that it does not.
func showable(t *mcp.Tool) bool {
	schema, ok := t.InputSchema.(map[string]any)
	if !ok || schema["type"] != "object" || t.Name == "" {
		return false
	}
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	mcp.NewServer(&mcp.Implementation{}, nil).AddTool(t, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	return ok
}

// connect opens a session with the daemon's MCP server on behalf of one of ours.
func (s *Server) connect(ctx context.Context, who memory.Session) (*mcp.ClientSession, error) {
	endpoint, hc := s.o.Daemon.MCP()
	hc.Transport = toDaemon{hc.Transport, who}
	client := mcp.NewClient(&mcp.Implementation{Name: "signet-acp-proxy", Version: s.o.Version}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	// Its server keeps no session, and has nothing to say by itself.
	transport := &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: hc, DisableStandaloneSSE: true, MaxRetries: -1}
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err != nil {
		return nil, fmt.Errorf("opening the daemon's MCP server: %w", err)
	}
	return session, nil
}

// toDaemon says for whom a call is made, and bounds what is read of a reply.
type toDaemon struct {
	http.RoundTripper
	who memory.Session
}

func (t toDaemon) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range map[string]string{"X-Signet-Harness": t.who.Harness, "X-Signet-Workspace": t.who.Cwd} {
		if value != "" && !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' }) {
			r.Header.Set(name, value)
		}
	}
	res, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusTooManyRequests {
		res.Body.Close()
		return nil, errBusy
	}
	res.Body = http.MaxBytesReader(nil, res.Body, maxLine)
	return res, nil
}
