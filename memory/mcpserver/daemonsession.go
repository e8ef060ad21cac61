package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// hangUpTime is how long closing a session with the daemon takes at most: the SDK waits up to 5 s for a notification
// that a stalled daemon does not take.
const hangUpTime = 250 * time.Millisecond

// A daemonSession is a session with the daemon's MCP server.
type daemonSession struct {
	*mcp.ClientSession
	hangUp context.CancelFunc // ends what is under way
}

// Close ends the session, and after hangUpTime whatever of it still waits for the daemon.
func (s *daemonSession) Close() {
	limit := time.AfterFunc(hangUpTime, guard.Func("memory tools", s.hangUp))
	defer limit.Stop()
	defer s.hangUp()
	_ = s.ClientSession.Close() // the daemon may have gone
}

// openSession opens a session with a daemon's MCP server on behalf of a session of ours; version is the proxy's.
func openSession(
	ctx context.Context, daemon *signet.Client, version string, who memory.Session,
) (*daemonSession, error) {
	endpoint, hc := daemon.MCP()
	open, hangUp := context.WithCancel(context.Background())
	hc.Transport = onBehalf{hc.Transport, who, open}
	client := mcp.NewClient(&mcp.Implementation{Name: "signet-acp-proxy", Version: version},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	// The daemon's MCP server keeps no session, and sends nothing on its own.
	transport := &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: hc, DisableStandaloneSSE: true,
		MaxRetries: -1}
	// Where the handshake is given up, Connect waits for the word that it was.
	proceed := context.AfterFunc(ctx, func() { time.AfterFunc(hangUpTime, guard.Func("memory tools", hangUp)) })
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if !proceed() && err == nil {
		err = context.Cause(ctx)
		_ = session.Close()
	}
	if err != nil {
		hangUp()
		return nil, fmt.Errorf("opening the daemon's MCP server: %w", err)
	}
	return &daemonSession{session, hangUp}, nil
}

var errBusy = errors.New("the daemon has too much to do")

// onBehalf is a transport that tells the daemon for whom a call is made, limits how much of a reply is read, and ends
// requests with the session.
type onBehalf struct {
	http.RoundTripper
	who  memory.Session
	open context.Context // of the session
}

func (t onBehalf) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	detach := context.AfterFunc(t.open, cancel)
	end := func() {
		detach()
		cancel()
	}
	r = r.Clone(ctx)
	for name, value := range map[string]string{"X-Signet-Harness": t.who.Harness, "X-Signet-Workspace": t.who.Cwd} {
		if value != "" && !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' }) {
			r.Header.Set(name, value)
		}
	}
	res, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		end()
		return nil, err
	}
	if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusTooManyRequests {
		res.Body.Close()
		end()
		return nil, errBusy
	}
	res.Body = reply{http.MaxBytesReader(nil, res.Body, maxLine), end}
	return res, nil
}

// A reply is a response's body that ends the request's context when it is closed.
type reply struct {
	io.ReadCloser
	end func()
}

func (r reply) Close() error {
	defer r.end()
	return r.ReadCloser.Close()
}
