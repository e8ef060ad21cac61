package signet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
)

// The daemon's HTTP API for single memories, as its own MCP tools call it. It stands in for /mcp where that cannot be
// used: 0.58.1's tools call port 3850 whatever port they are served from, and carry no token.
//
// Every method ends with ctx or after 10 s and returns the daemon's reply as it came. Errors: *StatusError for a
// refusal, memory.ErrUnavailable otherwise.

// A Note is a memory to keep. It is stored as JSON while the daemon is away.
type Note struct {
	Content    string   `json:"content"`
	Type       string   `json:"type,omitempty"`       // "fact", "preference", ...; "" leaves it to the daemon
	Importance *float64 `json:"importance,omitempty"` // 0 to 1; nil leaves it to the daemon
	Tags       string   `json:"tags,omitempty"`       // comma-separated
	Pinned     bool     `json:"pinned,omitempty"`
	AgentID    string   `json:"agentId,omitempty"` // "" means Options.AgentID
}

// Remember keeps a memory (POST /api/memory/remember). Tags go as the prefix that every daemon version reads.
func (c *Client) Remember(ctx context.Context, n Note) (json.RawMessage, error) {
	if n.Tags != "" {
		n.Content, n.Tags = "["+n.Tags+"]: "+n.Content, ""
	}
	n.AgentID = cmp.Or(n.AgentID, c.opts.AgentID)
	return c.api(ctx, "POST /api/memory/remember", n)
}

// A Query searches memories.
type Query struct {
	Query    string
	Limit    int // 0: 10
	Type     string
	MinScore *float64 // the least importance, 0 to 1, as the daemon's own tool takes it
	Project  string
}

// Search searches memories (POST /api/memory/recall). The reply has them, best first, under "results".
func (c *Client) Search(ctx context.Context, q Query) (json.RawMessage, error) {
	if q.Limit <= 0 {
		q.Limit = 10
	}
	return c.api(ctx, "POST /api/memory/recall", struct {
		Query         string   `json:"query"`
		Limit         int      `json:"limit"`
		Type          string   `json:"type,omitempty"`
		ImportanceMin *float64 `json:"importance_min,omitempty"`
		Project       string   `json:"project,omitempty"`
		AgentID       string   `json:"agentId,omitempty"`
	}{q.Query, q.Limit, q.Type, q.MinScore, q.Project, c.opts.AgentID})
}

// Get returns one memory (GET /api/memory/ID).
func (c *Client) Get(ctx context.Context, id string) (json.RawMessage, error) {
	return c.api(ctx, "GET "+memoryPath(id), nil)
}

// List returns memories (GET /api/memories). Zero values are left to the daemon.
func (c *Client) List(ctx context.Context, limit, offset int, kind string) (json.RawMessage, error) {
	q := url.Values{}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	if offset > 0 {
		q.Set("offset", strconv.Itoa(offset))
	}
	if kind != "" {
		q.Set("type", kind)
	}
	path := "/api/memories"
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return c.api(ctx, "GET "+path, nil)
}

// A Change says what becomes of a memory; nil leaves a field.
type Change struct {
	Content    *string  `json:"content,omitempty"`
	Type       *string  `json:"type,omitempty"`
	Importance *float64 `json:"importance,omitempty"`
	Tags       *string  `json:"tags,omitempty"`
	Reason     string   `json:"reason"` // required by the daemon, for its audit trail
}

// Modify changes a memory (PATCH /api/memory/ID).
func (c *Client) Modify(ctx context.Context, id string, ch Change) (json.RawMessage, error) {
	return c.api(ctx, "PATCH "+memoryPath(id), ch)
}

// Forget removes a memory from recall (DELETE /api/memory/ID). The daemon requires a reason.
func (c *Client) Forget(ctx context.Context, id, reason string) (json.RawMessage, error) {
	return c.api(ctx, "DELETE "+memoryPath(id), struct {
		Reason string `json:"reason"`
	}{reason})
}

// SearchSessions searches what was said in sessions (POST /api/sessions/search), with the arguments of the daemon's own
// tool. 0.58.1 does not have it.
func (c *Client) SearchSessions(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	return c.api(ctx, "POST /api/sessions/search", arguments)
}

// Feedback rates memories by id, -1 (harmful) to 1 (helpful), within a session (POST /api/memory/feedback).
func (c *Client) Feedback(ctx context.Context, key string, ratings map[string]float64) (json.RawMessage, error) {
	return c.api(ctx, "POST /api/memory/feedback", struct {
		SessionKey string             `json:"sessionKey"`
		AgentID    string             `json:"agentId,omitempty"`
		Feedback   map[string]float64 `json:"feedback"`
	}{key, c.opts.AgentID, ratings})
}

func memoryPath(id string) string { return "/api/memory/" + url.PathEscape(id) }

// api calls the memory API by a method and a path.
func (c *Client) api(ctx context.Context, route string, body any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var out json.RawMessage
	err := c.request(ctx, route, body, &out)
	if ce := (*callError)(nil); errors.As(err, &ce) {
		return nil, unavailable(err)
	}
	return out, err
}
