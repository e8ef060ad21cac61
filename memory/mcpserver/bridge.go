package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// A bridge passes the tool calls of one session on to the daemon: over a session with the daemon's MCP server, or by
// its HTTP API.
type bridge struct {
	*watch

	mu      sync.Mutex // guards what follows
	info    *daemonInfo
	session *daemonSession
}

const (
	otherToolTime = 2 * time.Minute // of a call of the daemon's other tools, some of which run commands
	maxForward    = 500 << 10       // bytes of a call's arguments; newer daemons read 512 KiB
)

// sessionSearch is the daemon's tool that searches what was said, which the HTTP API has, too.
const sessionSearch = "session_search"

// errGone says that the daemon has gone and that the call changed nothing, so that the embedded store may answer it.
var errGone = errors.New("the daemon has gone")

// open returns the session with the daemon's MCP server, and opens it if need be.
func (b *bridge) open(ctx context.Context, l *daemonInfo, who memory.Session) (*daemonSession, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session != nil && b.info == l {
		return b.session, nil
	}
	b.dropLocked()
	ctx, cancel := context.WithTimeout(ctx, memoryTime)
	defer cancel()
	session, err := openSession(ctx, b.o.Daemon, b.o.Version, who)
	if err != nil {
		return nil, err
	}
	b.info, b.session = l, session
	return session, nil
}

func (b *bridge) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropLocked()
}

// dropLocked closes the session.
func (b *bridge) dropLocked() {
	if b.session != nil {
		b.session.Close()
	}
	b.info, b.session = nil, nil
}

// call has the daemon answer, and says by which way it did, for the log. The error is errGone, or one of the protocol
// that the daemon gave.
func (b *bridge) call(ctx context.Context, l *daemonInfo, q toolCall) (*mcp.CallToolResult, string, error) {
	ours, limit := q.tool.name != "", otherToolTime
	if ours {
		limit = memoryTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	scope := b.scopeOf(q.who)
	var err error
	if q.raw, err = b.prepare(ctx, scope, q); err != nil {
		return failure(err), "bridge", nil
	}
	q.raw = l.fill(q, scope)
	if api := ours || q.name == sessionSearch; !api || !l.direct {
		r, err := b.forward(ctx, l, q)
		if err != nil || !api || !daemonUnreached(r) {
			return scope.filter(r), "bridge", err
		}
		b.set(&daemonInfo{version: l.version, tools: l.tools, direct: true})
	}
	r, err := b.direct(ctx, q)
	return scope.filter(r), "api", err
}

// prepare returns a call's arguments as the daemon may have them. The error tells the agent why the call is not made.
func (b *bridge) prepare(ctx context.Context, s scope, q toolCall) (json.RawMessage, error) {
	if len(q.raw) > maxForward {
		return nil, fmt.Errorf("the arguments have %d bytes, the maximum is %d; keep the part that matters",
			len(q.raw), maxForward)
	}
	if q.tool.name == "" {
		return q.raw, nil
	}
	raw, err := b.o.Rights.known(q.tool, q.raw)
	if err == nil {
		err = q.conceal(b.o.Private, q.who.Project)
	}
	if err == nil {
		raw, err = q.into(raw)
	}
	if err != nil {
		return nil, err
	}
	return s.allowed(ctx, b.o.Daemon.Get, raw, q.values)
}

// forward has the daemon's MCP server answer.
func (b *bridge) forward(ctx context.Context, l *daemonInfo, q toolCall) (*mcp.CallToolResult, error) {
	session, err := b.open(ctx, l, q.who)
	if err == nil {
		var r *mcp.CallToolResult
		if r, err = session.CallTool(ctx, &mcp.CallToolParams{Name: q.name, Arguments: q.raw}); err == nil {
			return r, nil
		}
		b.close()
	} else if !q.tool.readOnly { // nothing of the call itself was sent
		err = errors.Join(err, errNotSent)
	}
	var refused *jsonrpc.Error
	switch {
	case errors.As(err, &refused) && refused.Code != rejected:
		return nil, &jsonrpc.Error{Code: refused.Code, Message: refused.Message, Data: refused.Data}
	case errors.Is(err, errBusy):
		return failure(errors.New("the Signet daemon is busy, and did nothing; call again in a moment")), nil
	}
	return b.afterFailure(ctx, q, err)
}

// rejected is the code that the SDK gives to a request that its transport could not send or that was refused.
const rejected = -32005

var errNotSent = errors.New("not sent")

// notExecuted reports whether a call that failed certainly changed nothing.
func notExecuted(err error) bool {
	var op *net.OpError
	return errors.Is(err, errNotSent) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, signet.ErrNotOurs) ||
		errors.As(err, &op) && op.Op == "dial"
}

// afterFailure decides what becomes of a call whose reply did not come. A call that may be made again is answered
// without the daemon (before a memory is handed to the daemon later, it is checked whether the daemon has it already).
// For any other the agent is told that the outcome is not known.
func (b *bridge) afterFailure(ctx context.Context, q toolCall, err error) (*mcp.CallToolResult, error) {
	again := q.tool.readOnly || q.name == storeTool || notExecuted(err)
	b.o.Log.Warn().Err(err).Str("tool", q.name).Bool("again", again).Msg("the daemon did not answer a tool")
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, ctx.Err() // the client has cancelled it
	}
	b.set(nil)
	b.lookAgain()
	if again {
		return nil, errGone
	}
	return failure(fmt.Errorf("the Signet daemon stopped during %s, which may or may not be done; check with "+
		"memory_search before you call again", q.name)), nil
}

// lostCall matches how the tools of 0.58.1's MCP server fail when they do not reach their own daemon, or reach it
// without its token.
var lostCall = pattern.New(`(?i)ECONNREFUSED|connection ?refused|unable to connect|fetch failed|failed to fetch|\b401\b|unauthori[sz]ed|authentication required`)

// daemonUnreached reports whether a tool of the daemon's MCP server could not reach the daemon.
func daemonUnreached(r *mcp.CallToolResult) bool {
	return r.IsError && slices.ContainsFunc(r.Content, func(c mcp.Content) bool {
		words, ok := c.(*mcp.TextContent)
		return ok && lostCall().MatchString(words.Text)
	})
}

// direct answers a memory tool, or a search of sessions, by the daemon's HTTP API. The error is errGone.
func (b *bridge) direct(ctx context.Context, q toolCall) (*mcp.CallToolResult, error) {
	d := b.o.Daemon
	var out json.RawMessage
	var err error
	id := q.text("id")
	switch q.name {
	case sessionSearch:
		out, err = d.SearchSessions(ctx, q.raw)
	case searchTool:
		out, err = d.Search(ctx, signet.Query{Query: q.text("query"), Limit: q.integer("limit"), Type: q.text("type"),
			MinScore: optional[float64](q.values, "min_score")})
	case storeTool:
		out, err = d.Remember(ctx, signet.Note{Content: q.text("content"), Type: q.text("type"),
			Importance: optional[float64](q.values, "importance"), Tags: q.text("tags")})
	case "memory_get":
		out, err = d.Get(ctx, id)
	case "memory_list":
		out, err = d.List(ctx, q.integer("limit"), q.integer("offset"), q.text("type"))
	case "memory_modify":
		out, err = d.Modify(ctx, id, signet.Change{
			Content:    optional[string](q.values, "content"),
			Type:       optional[string](q.values, "type"),
			Importance: optional[float64](q.values, "importance"),
			Tags:       optional[string](q.values, "tags"),
			Reason:     q.text("reason"),
		})
	case "memory_forget":
		out, err = d.Forget(ctx, id, q.text("reason"))
	case feedbackTool:
		ratings, _ := q.values["ratings"].(map[string]float64)
		out, err = d.Feedback(ctx, sessionKey(q.who, q.values), ratings)
	}
	var status *signet.StatusError
	switch {
	case err == nil:
		return textResult(string(out)), nil
	case errors.As(err, &status):
		return failure(fmt.Errorf("the Signet daemon refused: %s", status.Error())), nil
	}
	return b.afterFailure(ctx, q, err)
}

// scopeOf returns what a session may see and change.
func (b *bridge) scopeOf(who memory.Session) scope {
	if b.o.OtherProjects {
		return scope{}
	}
	return scope{who.Project}
}
