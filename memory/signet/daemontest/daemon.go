// Package daemontest stands in for a Signet daemon in tests: it listens on loopback, answers the hooks and the memory
// API as the real one was recorded to (0.58.1 and 0.145.8) or reads to (the newer kind), records what it is asked, and
// fails on demand.
//
//	d := daemontest.Start(t, daemontest.Options{AgentsDir: dir})
//	d.Remember("Robin prefers tabs", "preference")
//	d.Fail(daemontest.Fault{Path: "/api/hooks/session-start", Kind: daemontest.BlackHole})
//
// It ranks nothing and summarises nothing: recall is by shared words, and what session-end gets is kept for the test to
// look at.
package daemontest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"
)

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
	d := &Daemon{behaviour: behaviours[o.Generation], opts: o, sessions: map[string]*session{}}
	if o.Version != "" {
		d.version = o.Version
	}
	if o.Files == nil {
		d.opts.Files = SampleFiles
	}
	if o.Now == nil {
		d.opts.Now = time.Now
	}
	d.mux = d.routes()
	var err error
	if d.addr, d.release, err = reserve("127.0.0.1:0"); err != nil {
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
	// what was accepted just before Stop may not be closed yet
	for i := 0; errors.Is(err, syscall.EADDRINUSE) && i < 100; i++ {
		time.Sleep(20 * time.Millisecond)
		l, err = net.Listen("tcp", d.addr)
	}
	if err != nil {
		return fmt.Errorf("daemontest: %w", err)
	}
	d.addr = l.Addr().String()
	d.stopping = make(chan struct{})
	d.server = &httptest.Server{Listener: l,
		Config: &http.Server{Handler: http.HandlerFunc(d.serve), ReadHeaderTimeout: time.Minute}}
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
	for _, s := range d.sessions {
		if d.forgets {
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
