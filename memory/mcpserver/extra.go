package mcpserver

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// An Extra is a tool beside the memory tools, offered whether a daemon runs or not.
type Extra struct {
	Tool *mcp.Tool // as clients see it
	// Yields says that a daemon's tool of the same name stands in place of it.
	Yields bool
	// Answer returns a value that is shown as JSON, or an error for the agent to read.
	Answer func(ctx context.Context, who memory.Session, arguments json.RawMessage) (any, error)
}

// extras are the tools of a server beside the memory tools.
type extras []Extra

// beside returns a list of a daemon's tools (nil: of our own) with the extras. A daemon's tool of the same name is left
// out, unless the extra yields.
func (all extras) beside(list []*mcp.Tool, l *daemonInfo) []*mcp.Tool {
	if len(all) == 0 {
		return list
	}
	list = slices.DeleteFunc(slices.Clone(list), func(t *mcp.Tool) bool { return all.named(l, t.Name) != nil })
	for _, x := range all {
		if !x.yields(l) {
			list = append(list, x.Tool)
		}
	}
	return list
}

// yields reports whether the daemon's tool of the same name stands in its place.
func (x *Extra) yields(l *daemonInfo) bool {
	return x.Yields && l != nil && slices.ContainsFunc(l.tools, func(t *mcp.Tool) bool { return t.Name == x.Tool.Name })
}

// named returns the extra with this name, nil if there is none or it yields.
func (all extras) named(l *daemonInfo, name string) *Extra {
	i := slices.IndexFunc(all, func(x Extra) bool { return x.Tool.Name == name && !x.yields(l) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// call answers a call of the extra.
func (x *Extra) call(ctx context.Context, who memory.Session, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx = context.WithValue(ctx, requestKey{}, req)
	raw := req.Params.Arguments
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	answer, err := x.Answer(ctx, who, raw)
	if err != nil {
		return failure(err), nil
	}
	return result(answer)
}

type requestKey struct{}

// Progress tells the client how far a call has come, where the client has asked to be told. ctx is the one that an
// Extra's Answer was given.
func Progress(ctx context.Context, step float64, message string) {
	req, ok := ctx.Value(requestKey{}).(*mcp.CallToolRequest)
	if !ok || req.Params.GetProgressToken() == nil {
		return
	}
	_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: req.Params.GetProgressToken(), Progress: step, Message: message,
	}) // a client that has gone needs no progress
}
