package mcpserver

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/socket"
)

// An httpServer serves the tools over HTTP on loopback, for harnesses that cannot start a program. A request without a
// session's token gets 401, and one of another user no answer at all, where the system tells.
type httpServer struct {
	*lifetime
	log  zerolog.Logger
	ends sync.Map // endpoints by a hash of their tokens, so that the time of a comparison tells nothing of these

	mu     sync.Mutex // guards what follows
	at     string     // "" until it listens
	server *http.Server
}

const bearer = "Bearer "

// issue lets clients reach an endpoint.
func (w *httpServer) issue(e *endpoint) { w.ends.Store(sha256.Sum256([]byte(e.token)), e) }

// endpoint returns the endpoint of a token, nil where it is no token.
func (w *httpServer) endpoint(token string) *endpoint {
	e, _ := w.ends.Load(sha256.Sum256([]byte(token)))
	end, _ := e.(*endpoint)
	return end
}

// revoke makes a token invalid, and ends what it has opened.
func (w *httpServer) revoke(token string) {
	e, known := w.ends.LoadAndDelete(sha256.Sum256([]byte(token)))
	if !known {
		return
	}
	end := e.(*endpoint).endHTTP
	if !w.run(end) { // the server has ended
		end()
	}
}

// listen returns the server's URL. The first call begins to listen.
func (w *httpServer) listen() (url string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() != nil {
		return "", errClosed
	}
	if w.at == "" {
		if err := w.listenLocked(); err != nil {
			return "", err
		}
	}
	return "http://" + w.at + "/mcp", nil
}

func (w *httpServer) listenLocked() error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for the memory tools: %w", err)
	}
	server := &http.Server{Handler: w, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10}
	serves := w.run(func() {
		if err := server.Serve(socket.SameUser(l)); !errors.Is(err, http.ErrServerClosed) {
			w.log.Warn().Err(err).Msg("serving the memory tools over http")
		}
	})
	if !serves {
		l.Close()
		return errClosed
	}
	w.at, w.server = l.Addr().String(), server
	return nil
}

func (w *httpServer) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	token, given := strings.CutPrefix(r.Header.Get("Authorization"), bearer)
	e := w.endpoint(token)
	switch {
	case e == nil, !given:
		out.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(out, "unauthorized", http.StatusUnauthorized)
	case r.URL.Path != "/mcp":
		http.NotFound(out, r)
	default:
		e.http.Do(func() {
			e.clients.join(e) // until close or release
			e.handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return e.mcp() },
				&mcp.StreamableHTTPOptions{MaxRequestBodyBytes: maxLine})
		})
		if e.handler == nil { // it has just ended
			http.NotFound(out, r)
			return
		}
		e.handler.ServeHTTP(out, r)
	}
}

// close ends the HTTP server and its sessions.
func (w *httpServer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.server == nil {
		return
	}
	w.server.Close()
	for _, e := range w.ends.Range {
		e.(*endpoint).endHTTP()
	}
}

// endHTTP ends the sessions that clients have over HTTP.
func (e *endpoint) endHTTP() {
	e.http.Do(func() {})
	if e.handler == nil { // no client has come
		return
	}
	for session := range e.mcp().Sessions() {
		session.Close()
	}
	e.clients.leave(e)
}
