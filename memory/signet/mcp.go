package signet

import (
	"fmt"
	"net/http"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// MCP returns the URL of the daemon's own MCP server (streamable HTTP) and an HTTP client for it, which identifies us,
// shows the token where that is safe, calls no other host, and refuses a daemon that is not ours. The client has no
// timeout of its own.
func (c *Client) MCP() (endpoint string, hc *http.Client) {
	return c.base.String() + "/mcp", &http.Client{Transport: daemonTransport{c}, CheckRedirect: noRedirect}
}

// daemonTransport is the transport of the client that MCP gives.
type daemonTransport struct{ c *Client }

func (t daemonTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != t.c.base.Scheme || r.URL.Host != t.c.base.Host {
		closeBody(r)
		return nil, fmt.Errorf("%w: not this daemon's address", memory.ErrUnavailable)
	}
	if err := t.c.verify(r.Context()); err != nil {
		closeBody(r)
		return nil, err
	}
	r = r.Clone(r.Context())
	t.c.identify(r.Header, true)
	res, err := t.c.transport.RoundTrip(r)
	if err != nil {
		t.c.presence.distrust()
		return nil, unavailable(err)
	}
	return res, nil
}

// closeBody: a RoundTripper closes the body whatever happens.
func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}
