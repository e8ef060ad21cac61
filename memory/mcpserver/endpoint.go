package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// An endpoint is what the clients of one session connect to. Its MCP server is made when the first of them comes.
type endpoint struct {
	*lifetime
	o       Options
	watch   *watch
	clients *clients
	who     func() memory.Session
	bridge  bridge
	token   string        // that opens it
	turn    chan struct{} // taken while a client of the socket is in that needed the token

	count int      // of clients that are connected now; the lock of clients guards it
	shown []string // names of the tools that are shown; the lock of clients guards it

	once   sync.Once
	server *mcp.Server

	http    sync.Once // opens it for clients over HTTP, or ends that for good
	handler http.Handler
}

// serve serves one client over a stream until the client, ctx or the server ends. It closes both in and out.
func (e *endpoint) serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	e.clients.join(e)
	defer e.clients.leave(e)
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

// mcp returns the endpoint's MCP server.
func (e *endpoint) mcp() *mcp.Server {
	e.once.Do(func() {
		e.server = mcp.NewServer(&mcp.Implementation{Name: memory.ServerName, Title: "Signet memory",
			Version: e.o.Version}, &mcp.ServerOptions{
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
		})
		e.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if method == "tools/list" {
					guard.Run("memory tools", func() { e.watch.awaitFirst(ctx) })
				}
				return next(ctx, method, req)
			}
		})
	})
	return e.server
}

// showLocked makes the tools that are listed those of the daemon or, with nil, our own. The SDK tells clients that the
// list has changed.
func (e *endpoint) showLocked(l *daemonInfo) {
	list := extras(e.o.Extras).beside(e.o.Rights.of(l.list()), l)
	var names []string
	for _, t := range list {
		names = append(names, t.Name)
	}
	gone := slices.DeleteFunc(e.shown, func(name string) bool { return slices.Contains(names, name) })
	e.shown = names
	server := e.mcp()
	server.RemoveTools(gone...)
	for _, t := range list {
		server.AddTool(t, e.call)
	}
}

// call answers a call of a tool: from the daemon while it is there, else from the embedded store.
func (e *endpoint) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	began := time.Now()
	name := req.Params.Name
	who := e.who()
	if who.Harness == "" && req.Session.InitializeParams() != nil && req.Session.InitializeParams().ClientInfo != nil {
		who.Harness = req.Session.InitializeParams().ClientInfo.Name
	}
	var answered *mcp.CallToolResult
	by := "nobody"
	err := guard.Try("memory tools", func() (err error) {
		guard.Point("memory tools")
		answered, by, err = e.answer(ctx, who, name, req)
		return err
	})
	if errors.Is(err, guard.ErrPanicked) {
		answered, err = failure(fmt.Errorf("%w; continue without it", err)), nil
	}
	failed := err != nil || answered.IsError
	e.o.Log.Info().Str("tool", name).Str("by", by).Str("key", who.Key).Int("bytes", len(req.Params.Arguments)).
		Bool("failed", failed).Dur("took", time.Since(began)).Msg("memory tool called")
	return answered, err
}

// answer returns a tool's result and who gave it, for the log. An error is one of the protocol; what a tool could not
// do is in the result.
func (e *endpoint) answer(ctx context.Context, who memory.Session, name string,
	req *mcp.CallToolRequest) (r *mcp.CallToolResult, by string, err error) {
	q := toolCall{who: who, name: name, raw: req.Params.Arguments}
	var ours bool
	if q.tool, ours = toolNamed(name); ours {
		if q.values, err = q.tool.read(q.raw); err != nil {
			return failure(err), "arguments", nil
		}
		e.o.Rights.mark(q.tool, q.values)
	}
	if memory.Excluded(who.Cwd, e.o.Exclude) {
		return failure(errors.New("this folder is excluded from memory (.signet-ignore or exclude): nothing is " +
			"read, saved or changed")), "opt-out", nil
	}
	l := e.watch.confirmed(ctx)
	if x := extras(e.o.Extras).named(l, name); x != nil {
		r, err = x.call(ctx, who, req)
		return r, "us", err
	}
	if l != nil && name != filesTool && !e.isOurs(ctx, q.values) {
		if name == searchTool {
			r, by, err = e.search(ctx, l, q)
		} else {
			r, by, err = e.bridge.call(ctx, l, q)
		}
		if !errors.Is(err, errGone) {
			return r, by, err
		}
	}
	return e.withoutDaemon(ctx, q)
}

// withoutDaemon answers from the embedded store.
func (e *endpoint) withoutDaemon(ctx context.Context, q toolCall) (*mcp.CallToolResult, string, error) {
	if q.tool.name == storeTool {
		if err := q.conceal(e.o.Private, q.who.Project); err != nil {
			return failure(err), "arguments", nil
		}
	}
	switch {
	case q.tool.name == "":
		return failure(fmt.Errorf("%s needs the Signet daemon, which does not answer; start it and call again",
			q.name)), "nobody", nil
	case e.o.Store == nil && q.tool.name == storeTool && e.owes(ctx, q.who, q.values):
		return textResult(`{"status":"owed","note":"` + owedNote + `"}`), "owed", nil
	case e.o.Store == nil:
		return failure(errors.New("the Signet daemon does not answer; start it and call again")), "nobody", nil
	}
	r, err := local(ctx, e.o, q)
	if err != nil {
		return failure(err), "store", nil
	}
	if q.tool.name == storeTool && e.owes(ctx, q.who, q.values) {
		r.Content = append(r.Content, &mcp.TextContent{Text: "Saved here; " + owedNote})
		return r, "store, owed", nil
	}
	return r, "store", nil
}

const owedNote = "the Signet daemon does not answer; it will be delivered later."

// owes reports whether what a tool stored will be handed to the daemon later, where one is expected back.
func (e *endpoint) owes(ctx context.Context, who memory.Session, v values) bool {
	if e.o.Owe == nil {
		return false
	}
	owed, err := e.o.Owe(ctx, who, signet.Note{Content: v.text("content"), Type: v.text("type"),
		Importance: optional[float64](v, "importance"), Tags: v.text("tags"), AgentID: who.AgentID})
	if err != nil {
		e.o.Log.Warn().Err(err).Str("key", who.Key).Msg("leaving a memory for the daemon")
	}
	return owed && err == nil
}
