package signet

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"
)

// newTransport opens a connection for each request. A connection kept from before may have been closed by the daemon,
// which shows only once a hook was written to it; it would then be in doubt whether the daemon took the hook. A new
// connection costs 0.1 ms on loopback.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment, // which never takes loopback
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true, // so that maxReply bounds what is read
	}
}

// noRedirect follows none: a redirect would take prompts and the token elsewhere.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// do makes a request; a read that is worth another attempt it makes twice. A hook is never repeated.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	res, err := c.http.Do(req)
	if req.Method != http.MethodGet || !worthAnother(req.Context(), res, err) {
		return res, err
	}
	if err == nil {
		res.Body.Close()
	}
	select {
	case <-time.After(retryPause):
	case <-req.Context().Done():
	}
	return c.http.Do(req)
}

const retryPause = 25 * time.Millisecond

// worthAnother reports whether a request is worth another attempt: after a broken connection or a 5xx, not after a
// refused connection.
func worthAnother(ctx context.Context, res *http.Response, err error) bool {
	if err != nil {
		return ctx.Err() == nil && !errors.Is(err, syscall.ECONNREFUSED)
	}
	return res.StatusCode >= 500
}
