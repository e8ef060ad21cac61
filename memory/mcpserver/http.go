package mcpserver

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A web serves the tools over HTTP on loopback, for harnesses that start no program. Each session has a token of its own; without one nothing is said.
type web struct {
	address string
	server  *http.Server

	mu    sync.Mutex
	doors map[[sha256.Size]byte]*door
}

// A door is where the clients of one session come in.
type door struct {
	once    sync.Once
	handler http.Handler
	e       *endpoint
}

// HTTP gives the address at which the tools are served on behalf of a session, until Close, and the Authorization header that opens it. who says whose
// session it is, whenever a tool is called.
func (s *Server) HTTP(who func() memory.Session) (url, authorization string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", "", errClosed
	}
	if s.web == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", fmt.Errorf("listening for the memory tools: %w", err)
		}
		w := &web{address: l.Addr().String(), doors: map[[sha256.Size]byte]*door{}}
		w.server = &http.Server{Handler: w, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
		s.web = w
		s.tasks.Add(1)
		go func() {
			defer s.tasks.Done()
			if err := w.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				s.o.Log.Warn().Err(err).Msg("serving the memory tools over http")
			}
		}()
	}
	authorization = "Bearer " + rand.Text()
	s.web.mu.Lock()
	s.web.doors[sha256.Sum256([]byte(authorization))] = &door{e: newEndpoint(s, who)}
	s.web.mu.Unlock()
	s.watch()
	return "http://" + s.web.address + "/mcp", authorization, nil
}

func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	d := w.doors[sha256.Sum256([]byte(r.Header.Get("Authorization")))] // by hash, so that no clock tells how much of a guess was right
	w.mu.Unlock()
	switch {
	case d == nil:
		out.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(out, "unauthorized", http.StatusUnauthorized)
	case r.URL.Path != "/mcp":
		http.NotFound(out, r)
	default:
		d.serve(out, r)
	}
}

func (d *door) serve(out http.ResponseWriter, r *http.Request) {
	d.once.Do(func() {
		d.e.s.join(d.e) // for good: its clients come and go with every request
		d.handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return d.e.mcp() }, &mcp.StreamableHTTPOptions{MaxRequestBodyBytes: maxLine})
	})
	d.handler.ServeHTTP(out, r)
}

// closeWeb ends the HTTP server and its sessions.
func (s *Server) closeWeb() {
	s.mu.Lock()
	w := s.web
	s.mu.Unlock()
	if w == nil {
		return
	}
	w.server.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.doors {
		d.once.Do(func() {})
		if d.handler == nil { // nobody came
			continue
		}
		for session := range d.e.mcp().Sessions() {
			session.Close()
		}
		s.leave(d.e)
	}
}
