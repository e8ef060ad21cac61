package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// A roster knows which sessions have clients, so that the daemon is not looked for while there are none, and a session
// without clients holds no connection to it.
type roster struct {
	watch *watch

	mu        sync.Mutex  // guards what follows
	endpoints []*endpoint // those that clients have connected to
	clients   int         // connected now
}

// join counts a client of an endpoint; leave must follow.
func (r *roster) join(e *endpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients++
	if e.clients++; e.clients == 1 {
		r.endpoints = append(r.endpoints, e)
		r.watch.guess()
		e.showLocked(r.watch.now.Load())
	}
	r.watch.lookAgain()
}

// leave counts a client off.
func (r *roster) leave(e *endpoint) {
	r.mu.Lock()
	r.clients--
	e.clients--
	last := e.clients == 0
	if last {
		r.endpoints = without(r.endpoints, e)
	}
	r.mu.Unlock()
	if last {
		e.bridge.close()
	}
}

// wanted reports whether there is any client.
func (r *roster) wanted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clients > 0
}

// show tells every client which tools there are now.
func (r *roster) show(*daemonInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.watch.now.Load() // not the argument, which another call may have overtaken
	for _, e := range r.endpoints {
		e.showLocked(now)
	}
}

// serve serves one client over a stream until the client, ctx or the server ends. It closes both in and out.
func (r *roster) serve(ctx context.Context, e *endpoint, in io.ReadCloser, out io.WriteCloser) error {
	r.join(e)
	defer r.leave(e)
	w := &lineWriter{out: out}
	lines := newLineReader(in, w)
	session, err := e.mcp().Connect(ctx, &mcp.IOTransport{Reader: lines, Writer: w, MaxLineLength: maxLine + 1}, nil)
	if err != nil {
		return fmt.Errorf("serving the memory tools: %w", err)
	}
	hangUp := func() {
		lines.Close() // or the reader would wait for answers that nobody gives any more
		session.Close()
	}
	defer context.AfterFunc(ctx, guard.Func("memory tools", hangUp))()
	defer context.AfterFunc(e.ctx, guard.Func("memory tools", hangUp))()
	err = session.Wait()
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || ctx.Err() != nil || e.ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serving the memory tools: %w", err)
}
