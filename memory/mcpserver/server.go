// Package mcpserver gives agents the memory tools over MCP: memory_search and its kin and, with a Signet daemon, all
// other tools of that daemon.
//
// A Server is one per process. It answers from the daemon while there is one, through the daemon's MCP server or, where
// that is broken, its HTTP API, and from the embedded store otherwise. When the daemon comes or goes, clients are told
// that the list of tools has changed. The tools are served over a Unix socket (Socket, and Pipe at the other end), over
// loopback HTTP (HTTP), or over stdin and stdout (Serve).
//
//	s := mcpserver.New(mcpserver.Options{Store: store, Daemon: daemon})
//	defer s.Close()
//	address, err := s.Socket(func() memory.Session { return session })
//
// Until an agent connects it holds a listener and nothing else: most relays are never asked.
package mcpserver

import (
	"context"
	"crypto/rand"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

const (
	defaultPoll = 5 * time.Second
	// closeTime is how long Close waits for what runs.
	closeTime = 300 * time.Millisecond
)

// A Server serves the memory tools to the sessions of one process. Its methods may be called from several goroutines.
type Server struct {
	*lifetime
	o       Options
	watch   *watch
	clients *clients
	sockets *sockets
	web     *httpServer
	pipes   sync.Map // by their address, the context.CancelFunc that ends them

	watching sync.Once
}

// New makes a server. Nothing runs or listens until Serve, Socket or HTTP is called.
func New(o Options) *Server {
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	s := &Server{lifetime: newLifetime(), o: o, clients: &clients{}}
	s.watch = newWatch(o, s.clients.show)
	s.clients.watch = s.watch
	s.sockets = &sockets{lifetime: s.lifetime, admission: newAdmission(o.Harness), refused: o.Refused, log: o.Log}
	s.web = &httpServer{lifetime: s.lifetime, log: o.Log}
	return s
}

func (s *Server) endpoint(who func() memory.Session) *endpoint {
	return &endpoint{lifetime: s.lifetime, o: s.o, watch: s.watch, clients: s.clients, who: who,
		bridge: bridge{watch: s.watch}, token: rand.Text(), turn: make(chan struct{}, 1)}
}

// Serve serves one client over in and out until the client, ctx or the server ends. It closes both. who says for which
// session a tool is called, each time; where that has no harness, the client's own name is taken.
func (s *Server) Serve(ctx context.Context, who func() memory.Session, in io.ReadCloser, out io.WriteCloser) error {
	if !s.begin() {
		return errClosed
	}
	defer s.end()
	s.look()
	return s.endpoint(who).serve(ctx, in, out)
}

// Socket returns an address for Pipe at which the tools are served for a session, until Release or Close, to processes
// that are this session's (see admission). who says which session that is, whenever a tool is called.
func (s *Server) Socket(who func() memory.Session) (address string, err error) {
	if address, err = s.sockets.issue(s.endpoint(who)); err == nil {
		s.look() // so that the daemon is known by the time that the harness asks
	}
	return address, err
}

// HTTP returns the URL at which the tools are served for a session, until Release or Close, and the Authorization
// header that opens it. who says which session that is, whenever a tool is called.
func (s *Server) HTTP(who func() memory.Session) (url, authorization string, err error) {
	if url, err = s.web.listen(); err != nil {
		return "", "", err
	}
	s.look()
	e := s.endpoint(who)
	s.web.issue(e)
	return url, bearer + e.token, nil
}

// Release ends an address of Socket, or an Authorization header of HTTP: no client can connect with it any more. Those
// connected to the socket are still served.
func (s *Server) Release(address string) {
	if release, ok := s.pipes.LoadAndDelete(address); ok {
		release.(context.CancelFunc)()
		return
	}
	if token, http := strings.CutPrefix(address, bearer); http {
		s.web.revoke(token)
		return
	}
	s.sockets.revoke(address)
}

// look begins to watch for the daemon, once.
func (s *Server) look() {
	if s.o.Daemon == nil {
		return
	}
	s.watching.Do(func() {
		s.run(func() { s.watch.run(s.ctx, s.clients.connected) })
	})
}

// Close ends every connection and every call. What has not ended after closeTime, such as a write to a client that does
// not read, is left to the end of the process, because the agent waits for our end.
func (s *Server) Close() {
	s.lifetime.close()
	ended := make(chan struct{})
	guard.Go("memory tools' end", func() {
		defer close(ended)
		s.web.close()
		s.tasks.Wait()
	})
	limit := time.NewTimer(closeTime)
	defer limit.Stop()
	select {
	case <-ended:
	case <-limit.C:
		s.o.Log.Warn().Dur("waited", closeTime).Msg("the memory tools' connections did not end in time")
	}
	s.sockets.remove()
}
