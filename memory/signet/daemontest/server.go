package daemontest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// New makes a daemon that does not listen.
func New(o Options) *Daemon {
	if o.Version == "" {
		o.Version = o.Generation.Version()
	}
	if o.Files == nil {
		o.Files = SampleFiles
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Daemon{opts: o, start: o.Now(), sessions: map[string]*session{}, stopping: make(chan struct{})}
	d.mux = d.routes()
	return d
}

// Start makes a daemon that listens until the test ends.
func Start(tb testing.TB, o Options) *Daemon {
	tb.Helper()
	d, err := Listen(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.Close)
	return d
}

// Listen makes a daemon that listens until Close.
func Listen(o Options) (*Daemon, error) {
	d := New(o)
	var err error
	if d.addr, d.release, err = reserve(cmp.Or(o.Addr, "127.0.0.1:0")); err != nil {
		return nil, fmt.Errorf("daemontest: %w", err)
	}
	if err := d.Resume(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Resume listens, after Stop again on the same address.
func (d *Daemon) Resume() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		return errors.New("daemontest: listening already")
	}
	l, err := net.Listen("tcp", d.addr)
	if err != nil {
		return fmt.Errorf("daemontest: %w", err)
	}
	d.addr = l.Addr().String()
	d.stopping = make(chan struct{})
	d.server = &httptest.Server{Listener: l, Config: &http.Server{Handler: d, ReadHeaderTimeout: time.Minute}}
	d.server.Start()
	return nil
}

// Stop ends every connection and stops listening, so that connections are refused. Memories stay. The older kind loses
// its claims and which keys were started, as a restart does.
func (d *Daemon) Stop() {
	d.mu.Lock()
	server := d.server
	d.server = nil
	if server != nil {
		close(d.stopping)
	}
	if d.opts.Generation == Older {
		for _, s := range d.sessions {
			s.seen, s.path = false, ""
		}
	}
	d.mu.Unlock()
	if server != nil {
		server.CloseClientConnections()
		server.Close()
	}
}

// Close is Stop, for good: the address is free again.
func (d *Daemon) Close() {
	d.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.release != nil {
		d.release()
		d.release = nil
	}
}

// URL is the daemon's origin, also while it is stopped.
func (d *Daemon) URL() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return "http://" + d.addr
}

func (d *Daemon) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", d.health)
	mux.HandleFunc("POST /api/hooks/session-start", d.sessionStart)
	mux.HandleFunc("POST /api/hooks/user-prompt-submit", d.promptSubmit)
	mux.HandleFunc("POST /api/hooks/session-end", d.sessionEnd)
	mux.HandleFunc("POST /api/hooks/pre-compaction", d.preCompaction)
	mux.HandleFunc("POST /api/hooks/compaction-complete", d.compactionComplete)
	if d.opts.Generation != Older {
		mux.HandleFunc("POST /api/hooks/session-checkpoint-extract", d.checkpoint)
	}
	mux.HandleFunc("GET /api/cross-agent/messages", d.listMessages)
	mux.HandleFunc("POST /api/cross-agent/messages", d.sent)
	if d.opts.Generation == Newer { // as documented
		mux.HandleFunc("GET /api/hooks/transcript-capture/{id}", d.captured)
		mux.HandleFunc("POST /api/cross-agent/messages/{id}/ack", d.acknowledge)
	}
	mux.HandleFunc("GET /api/sessions", d.listSessions)
	mux.HandleFunc("POST /api/sessions/{key}/bypass", d.setBypass)
	mux.HandleFunc("POST /api/memory/remember", d.remember)
	mux.HandleFunc("POST /api/memory/recall", d.recall)
	mux.HandleFunc("POST /api/memory/feedback", d.rate)
	mux.HandleFunc("GET /api/memories", d.list)
	mux.HandleFunc("GET /api/memory/{id}", d.get)
	mux.HandleFunc("PATCH /api/memory/{id}", d.modify)
	mux.HandleFunc("DELETE /api/memory/{id}", d.forget)
	if d.opts.MCP != nil {
		mux.Handle("/mcp", d.opts.MCP)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, "404 Not Found")
	})
	return mux
}

// answer answers as a daemon without faults.
func (d *Daemon) answer(w http.ResponseWriter, r *http.Request) {
	if d.opts.Token != "" {
		given := r.Header.Get("Authorization")
		if given != "Bearer "+d.opts.Token {
			why := "malformed token"
			if given == "" {
				why = "authentication required"
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			reply(w, http.StatusUnauthorized, map[string]any{"error": why})
			return
		}
	}
	d.mux.ServeHTTP(w, r)
}

// ServeHTTP records the request, then answers it, or fails as Fail told it to.
func (d *Daemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	path := r.URL.RequestURI()
	d.note(func(of *record) {
		of.requests = append(of.requests, Request{At: d.opts.Now(), Method: r.Method, Path: path,
			Header: r.Header.Clone(), Body: body})
	})
	r.Body = io.NopCloser(bytes.NewReader(body))
	fault := d.on(path)
	if fault == nil {
		d.answer(w, r)
		return
	}
	d.mu.Lock()
	stopping := d.stopping
	d.mu.Unlock()
	fault.serve(w, r, stopping, d.answer)
}
