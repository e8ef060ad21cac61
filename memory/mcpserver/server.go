// Package mcpserver gives agents the memory tools over MCP: memory_search and its kin, and with a Signet daemon whatever else that one has.
//
// A Server is one process's. It answers from the daemon while there is one, through its /mcp or, where that is broken, its HTTP API, and from the
// embedded store otherwise; when the daemon comes or goes, clients are told that the list of tools changed. A session of an agent is reached over a
// Unix socket (Socket, and Pipe at the other end), over loopback HTTP (HTTP), or over stdin and stdout (Serve).
//
//	s := mcpserver.New(mcpserver.Options{Store: store, Daemon: daemon})
//	defer s.Close()
//	address, err := s.Socket(func() memory.Session { return session })
//
// Until an agent connects it holds a listener and nothing else: the relay is small, and most of its life nobody asks.
package mcpserver

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// Name is what the server is called in mcpServers: a daemon's prompts name its tools mcp__signet__….
const Name = "signet"

// Options of a server. Store or Daemon must be set.
type Options struct {
	// Store gives the embedded store, and may wait until it is open. It is called for each call of a tool. If nil, only a daemon answers.
	Store func(context.Context) (*embedded.Store, error)
	// Daemon, if not nil, answers while it is there. Configured says that a person named it: any other must serve our own folder.
	Daemon     *signet.Client
	Configured bool

	Exclude []string      // globs of folders that are neither read nor written for
	Version string        // ours, for clients to see
	Poll    time.Duration // how often a daemon that came or went is noticed; zero: 5 s
	Log     zerolog.Logger
}

const (
	defaultPoll = 5 * time.Second
	// listWait is how long the first tools/list waits to hear whether there is a daemon: harnesses wait little longer for us (codex and qwen go on
	// without tools), and what comes later comes with list_changed.
	listWait = 8 * time.Millisecond
)

// A Server serves the memory tools to the sessions of one process. Its methods may be called from several goroutines.
type Server struct {
	o      Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	link   atomic.Pointer[link] // the daemon, nil while there is none
	looked chan struct{}        // closed once it is known whether there is one
	hurry  chan struct{}        // 1-buffered: look again now

	mu        sync.Mutex // guards what follows
	closed    bool
	watching  bool
	endpoints []*endpoint // those that clients have connected to
	clients   int         // connected now
	sockets   sockets
	web       *web
}

// New makes a server. Nothing runs or listens until a session is given an address.
func New(o Options) *Server {
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	s := &Server{o: o, looked: make(chan struct{}), hurry: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if o.Daemon == nil {
		close(s.looked)
	}
	return s
}

var errClosed = errors.New("the memory server has ended")

// Serve serves one client that speaks over in and out until it ends, ctx does or Close is called. It closes both. who says for whom the tools are
// called; a session without a harness has the client's own name.
func (s *Server) Serve(ctx context.Context, who func() memory.Session, in io.ReadCloser, out io.WriteCloser) error {
	if !s.begin() {
		return errClosed
	}
	defer s.tasks.Done()
	return s.serve(ctx, newEndpoint(s, who), in, out)
}

// begin counts a task that Close waits for, unless it is too late for one.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.tasks.Add(1)
	return true
}

// watch begins to look for the daemon, if it has not begun. s.mu is held.
func (s *Server) watch() {
	if s.o.Daemon == nil || s.watching || s.closed {
		return
	}
	s.watching = true
	s.tasks.Add(1)
	go func() {
		defer s.tasks.Done()
		s.watchDaemon()
	}()
}

// join counts a client of an endpoint. Nobody looks for a daemon that nobody wants.
func (s *Server) join(e *endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients++
	if e.clients++; e.clients == 1 {
		s.endpoints = append(s.endpoints, e)
		e.show(s.link.Load())
	}
	s.watch()
	s.lookAgain()
}

// leave ends what join began.
func (s *Server) leave(e *endpoint) {
	s.mu.Lock()
	s.clients--
	e.clients--
	last := e.clients == 0
	if last {
		s.endpoints = without(s.endpoints, e)
	}
	s.mu.Unlock()
	if last {
		e.bridge.close()
	}
}

// lookAgain has the daemon looked for now.
func (s *Server) lookAgain() {
	select {
	case s.hurry <- struct{}{}:
	default:
	}
}

// set changes whether there is a daemon, and tells every client.
func (s *Server) set(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.link.Swap(l); before == nil && l == nil {
		return
	}
	for _, e := range s.endpoints {
		e.show(l)
	}
}

// Close ends every connection and waits for what runs. Calls that are under way end.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.closeWeb()
	s.tasks.Wait()
	s.removeSockets()
}

func without[T comparable](list []T, x T) []T {
	kept := list[:0:0]
	for _, y := range list {
		if y != x {
			kept = append(kept, y)
		}
	}
	return kept
}
