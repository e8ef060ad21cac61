package mcpserver

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"
)

// An httpServer serves the tools over HTTP on loopback, for harnesses that cannot start a program. Each session has a
// token of its own; a request without one gets 401.
type httpServer struct {
	*lifetime
	log zerolog.Logger

	mu     sync.Mutex // guards what follows
	at     string     // "" until it listens
	server *http.Server
	ends   map[tokenHash]*httpEndpoint
}

// An httpEndpoint is an endpoint with its HTTP handler. Its clients connect anew with every request.
type httpEndpoint struct {
	*endpoint
	once    sync.Once
	handler http.Handler
}

// address returns the URL of an endpoint and the Authorization header that opens it. The first call begins to listen.
func (w *httpServer) address(e *endpoint) (url, authorization string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() != nil {
		return "", "", errClosed
	}
	if w.at == "" {
		if err := w.listenLocked(); err != nil {
			return "", "", err
		}
	}
	authorization = "Bearer " + rand.Text()
	w.ends[hashOf(authorization)] = &httpEndpoint{endpoint: e}
	return "http://" + w.at + "/mcp", authorization, nil
}

func (w *httpServer) listenLocked() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for the memory tools: %w", err)
	}
	server := &http.Server{Handler: w, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10}
	serves := w.run(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			w.log.Warn().Err(err).Msg("serving the memory tools over http")
		}
	})
	if !serves {
		l.Close()
		return errClosed
	}
	w.at, w.server, w.ends = l.Addr().String(), server, map[tokenHash]*httpEndpoint{}
	return nil
}

func (w *httpServer) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	v := w.ends[hashOf(r.Header.Get("Authorization"))]
	w.mu.Unlock()
	switch {
	case v == nil:
		out.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(out, "unauthorized", http.StatusUnauthorized)
	case r.URL.Path != "/mcp":
		http.NotFound(out, r)
	default:
		v.once.Do(func() {
			v.clients.join(v.endpoint) // until close or release
			v.handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return v.mcp() },
				&mcp.StreamableHTTPOptions{MaxRequestBodyBytes: maxLine})
		})
		if v.handler == nil { // it has just ended
			http.NotFound(out, r)
			return
		}
		v.handler.ServeHTTP(out, r)
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
	for _, v := range w.ends {
		w.part(v)
	}
}

// release ends the sessions of an Authorization header.
func (w *httpServer) release(authorization string) {
	w.mu.Lock()
	v := w.ends[hashOf(authorization)]
	delete(w.ends, hashOf(authorization))
	w.mu.Unlock()
	if v != nil && !w.run(func() { w.part(v) }) { // the server has ended
		w.part(v)
	}
}

// part ends the sessions of an endpoint.
func (w *httpServer) part(v *httpEndpoint) {
	v.once.Do(func() {})
	if v.handler == nil { // no client has come
		return
	}
	for session := range v.mcp().Sessions() {
		session.Close()
	}
	v.clients.leave(v.endpoint)
}
