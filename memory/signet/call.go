package signet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A StatusError is an answer that is not a success. The daemon refused, so nothing was changed.
type StatusError struct {
	Code    int
	Message string // the daemon's, one line, at most 200 bytes
}

func (e *StatusError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("daemon answered %d", e.Code)
	}
	return fmt.Sprintf("daemon answered %d: %s", e.Code, e.Message)
}

// A callError is a call that got no readable reply.
type callError struct {
	sent bool // the request went out whole or in part: the daemon may have acted on it
	err  error
}

func (e *callError) Error() string { return e.err.Error() }
func (e *callError) Unwrap() error { return e.err }

var (
	errTooLarge = fmt.Errorf("reply larger than %d bytes", maxReply)
	errGarbage  = errors.New("reply is not what a daemon says")
)

// inDoubt reports whether the daemon may have acted on a call that failed.
func inDoubt(err error) bool {
	var ce *callError
	return errors.As(err, &ce) && ce.sent
}

// call makes a request by a method and a path, with the token where that is safe if shown says so, and decodes the
// reply into out, if not nil. Errors: *StatusError for an answer outside 2xx, *callError otherwise.
func (c *Client) call(ctx context.Context, route string, body, out any, shown bool) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return &callError{err: fmt.Errorf("encoding request: %w", err)}
		}
	}
	began := time.Now()
	status, reply, err := c.roundTrip(ctx, route, payload, shown)
	if err != nil {
		c.presence.distrust()
	} else if status < 200 || status > 299 {
		err = &StatusError{Code: status, Message: c.message(reply)}
	} else if out != nil && json.Unmarshal(reply, out) != nil {
		err = &callError{sent: true, err: errGarbage} // the decoder's error quotes the reply
	}
	method, path, _ := strings.Cut(route, " ")
	path, _, _ = strings.Cut(path, "?")
	c.opts.Log.Debug().Str("method", method).Str("path", path).Int("status", status).
		Int("sent", len(payload)).Int("got", len(reply)).Dur("took", time.Since(began)).
		AnErr("err", err).Msg("daemon called")
	return err
}

// roundTrip makes the request and reads the reply, at most maxReply bytes. The error is a *callError.
func (c *Client) roundTrip(ctx context.Context, route string, payload []byte, shown bool) (
	status int, reply []byte, err error) {
	var sent atomic.Bool
	defer func() {
		if err != nil {
			err = &callError{sent: sent.Load(), err: err}
		}
	}()
	method, path, _ := strings.Cut(route, " ")
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { sent.Store(true) },
	})
	by := c.hooks
	if method == http.MethodGet {
		by = c.reads
	}
	var body any // nil without a payload: an empty one would be sent
	if payload != nil {
		body = payload
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, method, c.base.String()+path, body)
	if err != nil {
		return 0, nil, fmt.Errorf("making request: %w", withoutURL(err))
	}
	c.identify(req.Header, shown)
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	res, err := by.Do(req)
	if err != nil {
		return 0, nil, withoutURL(err)
	}
	defer res.Body.Close()
	reply, err = io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	if err != nil {
		return res.StatusCode, nil, fmt.Errorf("reading reply: %w", err)
	}
	if len(reply) > maxReply {
		return res.StatusCode, nil, errTooLarge
	}
	return res.StatusCode, reply, nil
}

// message returns the reason of a refusal: `{"error":"..."}` or plain text. It ends in logs and on screens, so it is
// one line, short, and without the token.
func (c *Client) message(reply []byte) string {
	var e struct{ Error string }
	text := string(reply)
	if json.Unmarshal(reply, &e) == nil && e.Error != "" {
		text = e.Error
	} else if bytes.ContainsAny(reply, "<{") {
		return ""
	}
	if c.opts.Token != "" {
		text = strings.ReplaceAll(text, c.opts.Token, "[token]")
	}
	return chars.Cut(chars.OneLine(strings.ToValidUTF8(text, "")), 200)
}

// withoutURL unwraps an error that repeats the method and the URL.
func withoutURL(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

// unavailable wraps an error in memory.ErrUnavailable.
func unavailable(err error) error {
	if err == nil || errors.Is(err, memory.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
}

// refusal returns the answer that refuses a call, nil where the call got none.
func refusal(err error) *StatusError {
	var none *callError
	var se *StatusError
	if errors.As(err, &none) || !errors.As(err, &se) {
		return nil
	}
	return se
}

func isStatus(err error, code int) bool {
	se := refusal(err)
	return se != nil && se.Code == code
}
