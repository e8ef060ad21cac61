package signet

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/hashicorp/go-retryablehttp"
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

// newRetrying is go-retryablehttp without what does not suit us: by default it logs to stderr, waits for seconds, obeys
// Retry-After, retries refused connections and hides the last answer.
func newRetrying(hc *http.Client, retries int) *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient:   hc,
		RetryMax:     retries,
		RetryWaitMin: 25 * time.Millisecond,
		RetryWaitMax: 100 * time.Millisecond,
		CheckRetry:   worthAnother,
		Backoff:      func(least, _ time.Duration, _ int, _ *http.Response) time.Duration { return least },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// worthAnother reports whether a request is worth another attempt: after a broken connection or a 5xx, not after a
// refused connection.
func worthAnother(ctx context.Context, res *http.Response, err error) (bool, error) {
	switch {
	case ctx.Err() != nil:
		return false, nil
	case err != nil:
		return !errors.Is(err, syscall.ECONNREFUSED), nil
	}
	return res.StatusCode >= 500, nil
}
