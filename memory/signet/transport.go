package signet

import (
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

const retryWait = 25 * time.Millisecond

// do makes a request. A read that failed is tried once more, after a broken connection or a 5xx, not after a refused
// connection; nothing else is ever repeated.
func (c *Client) do(r *http.Request) (*http.Response, error) {
	res, err := c.http.Do(r)
	if r.Method != http.MethodGet || err == nil && res.StatusCode < 500 || errors.Is(err, syscall.ECONNREFUSED) {
		return res, err
	}
	select {
	case <-r.Context().Done():
		return res, err
	case <-time.After(retryWait):
	}
	if err == nil {
		res.Body.Close()
	}
	return c.http.Do(r)
}
