package mcpserver

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// search asks the daemon for each query, and our own store for what the daemon has nothing like: it drops short turns,
// and has those late that are still to be delivered.
func (e *endpoint) search(ctx context.Context, l *daemonInfo, q toolCall) (r *mcp.CallToolResult, by string,
	err error) {
	var lists [][]json.RawMessage
	for _, query := range q.queries() {
		one := q
		if one.raw, err = edit(q.raw, map[string]any{"query": query, "queries": nil}); err != nil {
			return nil, "", err
		}
		one.values = maps.Clone(q.values)
		one.values["query"] = query
		delete(one.values, "queries")
		var got *mcp.CallToolResult
		if got, by, err = e.bridge.call(ctx, l, one); err != nil || got.IsError {
			return got, by, err
		}
		rows, _ := foundIn(got)
		if lists = append(lists, rows); r == nil {
			r = got
		} else if rows == nil { // no list that we know
			r.Content = append(r.Content, got.Content...)
		}
	}
	ours := e.ours(ctx, q.who, q.values)
	if len(lists) == 1 && len(ours) == 0 {
		return r, by, nil
	}
	most := q.integer("limit")
	if most <= 0 {
		most = defaultFound
	}
	return withFound(r, beside(merged(lists), ours, most)), by, nil
}

const (
	defaultFound = 10 // results of a search
	ofOurs       = 3  // the part of them that is kept for our own
)

// ours returns what our own store finds. Where it cannot be read, the daemon's results are all.
func (e *endpoint) ours(ctx context.Context, who memory.Session, v values) []embedded.Memory {
	if e.o.Store == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, localTime)
	defer cancel()
	store, err := e.o.Store(ctx)
	if err == nil {
		var found []embedded.Memory
		if found, err = searchIn(ctx, store, who, v); err == nil {
			return found
		}
	}
	e.o.Log.Info().Err(err).Str("key", who.Key).Msg("a search without our own memories")
	return nil
}

// foundIn returns the results in a daemon's answer, and the answer; nil where it is not of the form that we know.
func foundIn(r *mcp.CallToolResult) (rows []json.RawMessage, answer map[string]json.RawMessage) {
	if len(r.Content) != 1 {
		return nil, nil
	}
	words, ok := r.Content[0].(*mcp.TextContent)
	if !ok || json.Unmarshal([]byte(words.Text), &answer) != nil ||
		json.Unmarshal(answer["results"], &rows) != nil {
		return nil, nil
	}
	return append([]json.RawMessage{}, rows...), answer
}

// withFound puts other results into a daemon's answer, or beside it where its form is not known.
func withFound(r *mcp.CallToolResult, rows []json.RawMessage) *mcp.CallToolResult {
	known, answer := foundIn(r)
	if known == nil {
		if len(rows) > 0 {
			text, _ := json.Marshal(map[string]any{"results": rows}) // raw JSON always encodes
			r.Content = append(r.Content, &mcp.TextContent{Text: string(text)})
		}
		return r
	}
	answer["results"], _ = json.Marshal(rows)
	if _, counted := answer["count"]; counted {
		answer["count"], _ = json.Marshal(len(rows))
	}
	text, _ := json.Marshal(answer)
	r.Content = []mcp.Content{&mcp.TextContent{Text: string(text)}}
	if r.StructuredContent != nil {
		r.StructuredContent = json.RawMessage(text)
	}
	return r
}

// merged makes one list of several: the best of each, then the second of each, each once.
func merged(lists [][]json.RawMessage) []json.RawMessage {
	all, known, longest := []json.RawMessage{}, map[string]bool{}, 0
	for _, list := range lists {
		longest = max(longest, len(list))
	}
	for n := range longest {
		for _, list := range lists {
			if n >= len(list) {
				continue
			}
			var row struct{ ID string }
			if json.Unmarshal(list[n], &row) == nil && row.ID != "" && known[row.ID] {
				continue
			}
			known[row.ID] = true
			all = append(all, list[n])
		}
	}
	return all
}

// beside adds to the daemon's results those of ours that say something else, most in all. Scores of two sources do not
// compare: ours are lowered, so that they are in order.
func beside(theirs []json.RawMessage, ours []embedded.Memory, most int) []json.RawMessage {
	texts, lowest := make([]string, len(theirs)), 1.0
	for i, raw := range theirs {
		var row struct {
			Content string
			Score   *float64
		}
		if json.Unmarshal(raw, &row) == nil && row.Score != nil {
			lowest = min(lowest, *row.Score)
		}
		texts[i] = row.Content
	}
	isNew := memory.Beyond(texts)
	var further []json.RawMessage
	for _, m := range ours {
		if m.Score = min(m.Score, lowest); isNew(m.Content) {
			row, _ := json.Marshal(m) // a memory always encodes
			further = append(further, row)
		}
	}
	theirs = theirs[:min(len(theirs), most-min(len(further), most/ofOurs))]
	return append(theirs, further[:min(len(further), most-len(theirs))]...)
}

// holds reports whether our own store holds the memory with this id, whole.
func (e *endpoint) holds(ctx context.Context, id string) bool {
	if e.o.Store == nil || len(id) < minID {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, localTime)
	defer cancel()
	store, err := e.o.Store(ctx)
	if err != nil {
		return false
	}
	m, err := store.Get(ctx, id)
	return err == nil && m.ID == id
}

// isOurs reports whether all that a call names is our own store's.
func (e *endpoint) isOurs(ctx context.Context, v values) bool {
	ratings, _ := v["ratings"].(map[string]float64)
	for id := range ratings {
		if !e.holds(ctx, id) {
			return false
		}
	}
	return len(ratings) > 0 || e.holds(ctx, v.text("id"))
}
