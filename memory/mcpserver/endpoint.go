package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// An endpoint is what the clients of one session speak to. Its MCP server is made with the first of them.
type endpoint struct {
	s   *Server
	who func() memory.Session

	clients int      // connected now; the server's lock guards it
	shown   []string // names of the tools that are shown; the server's lock guards it

	once   sync.Once
	server *mcp.Server

	bridge bridge
}

func newEndpoint(s *Server, who func() memory.Session) *endpoint { return &endpoint{s: s, who: who} }

// mcp gives the endpoint's MCP server.
func (e *endpoint) mcp() *mcp.Server {
	e.once.Do(func() {
		e.server = mcp.NewServer(&mcp.Implementation{Name: Name, Title: "Signet memory", Version: e.s.o.Version}, &mcp.ServerOptions{
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
		})
		e.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if method == "tools/list" {
					e.s.awaitFirstLook(ctx)
				}
				return next(ctx, method, req)
			}
		})
	})
	return e.server
}

// awaitFirstLook waits a little until it is known whether there is a daemon.
func (s *Server) awaitFirstLook(ctx context.Context) {
	limit := time.NewTimer(listWait)
	defer limit.Stop()
	select {
	case <-s.looked:
	case <-limit.C:
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
}

// show makes the tools those of the daemon, or with nil our own. Clients are told. The server's lock is held.
func (e *endpoint) show(l *link) {
	list := l.list()
	var names []string
	for _, t := range list {
		names = append(names, t.Name)
	}
	gone := e.shown
	for _, name := range names {
		gone = without(gone, name)
	}
	e.shown = names
	server := e.mcp()
	server.RemoveTools(gone...)
	for _, t := range list {
		server.AddTool(t, e.call)
	}
}

// serve serves one client over a stream.
func (s *Server) serve(ctx context.Context, e *endpoint, in io.ReadCloser, out io.WriteCloser) error {
	s.join(e)
	defer s.leave(e)
	w := &lineWriter{out: out}
	session, err := e.mcp().Connect(ctx, &mcp.IOTransport{Reader: newLineReader(in, w), Writer: w, MaxLineLength: maxLine + 1}, nil)
	if err != nil {
		return fmt.Errorf("serving the memory tools: %w", err)
	}
	defer context.AfterFunc(ctx, func() { in.Close() })()
	defer context.AfterFunc(s.ctx, func() { in.Close() })()
	err = session.Wait()
	if err == nil || errors.Is(err, io.EOF) || ctx.Err() != nil || s.ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serving the memory tools: %w", err)
}

// call answers a call of a tool: from the daemon while it is there, else from the embedded store.
func (e *endpoint) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	s := e.s
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	began := time.Now()
	name := req.Params.Name
	who := e.who()
	if who.Harness == "" && req.Session.InitializeParams() != nil && req.Session.InitializeParams().ClientInfo != nil {
		who.Harness = req.Session.InitializeParams().ClientInfo.Name
	}
	answered, by, err := e.answer(ctx, who, name, req.Params.Arguments)
	failed := err != nil || answered.IsError
	s.o.Log.Info().Str("tool", name).Str("by", by).Str("key", who.Key).Int("bytes", len(req.Params.Arguments)).Bool("failed", failed).
		Dur("took", time.Since(began)).Msg("memory tool called")
	return answered, err
}

// answer gives a tool's result and who gave it. An error is one of the protocol; what a tool could not do is in the result.
func (e *endpoint) answer(ctx context.Context, who memory.Session, name string, raw json.RawMessage) (r *mcp.CallToolResult, by string, err error) {
	s := e.s
	t, ours := toolNamed(name)
	var v values
	if ours {
		if v, err = t.read(raw); err != nil {
			return failure(err), "arguments", nil
		}
	}
	if memory.OptedOut(who.Cwd, s.o.Exclude) {
		return failure(errors.New("this folder is left out of memory (.signet-ignore or exclude), so nothing is read, stored or changed from here")), "opt-out", nil
	}
	if l := s.link.Load(); l != nil {
		r, by, err := e.fromDaemon(ctx, l, who, name, raw, t, v)
		if !errors.Is(err, errGone) {
			return r, by, err
		}
	}
	switch {
	case !ours:
		return failure(fmt.Errorf("%s needs the Signet daemon, which does not answer; start it and call again", name)), "nobody", nil
	case s.o.Store == nil:
		return failure(errors.New("the Signet daemon does not answer; start it and call again")), "nobody", nil
	}
	if r, err = s.local(ctx, who, t, v); err != nil {
		return failure(err), "store", nil
	}
	return r, "store", nil
}
