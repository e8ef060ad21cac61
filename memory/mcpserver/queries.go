package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// searchAll asks a daemon for each query, and merges what it has as the embedded store does: the best of each, then the
// second of each, each once.
func searchAll(ctx context.Context, d *signet.Client, v values) (json.RawMessage, error) {
	queries := v.list("query", "queries")
	replies := make([]json.RawMessage, len(queries))
	for i, query := range queries {
		var err error
		if replies[i], err = d.Search(ctx, signet.Query{Query: query, Limit: v.integer("limit"), Type: v.text("type"),
			MinScore: optional[float64](v, "min_score")}); err != nil {
			return nil, err
		}
	}
	if len(replies) == 1 {
		return replies[0], nil
	}
	return merged(replies, max(v.integer("limit"), 10))
}

// merged makes one reply of several, with the other fields of the first.
func merged(replies []json.RawMessage, most int) (json.RawMessage, error) {
	var reply map[string]json.RawMessage
	if err := json.Unmarshal(replies[0], &reply); err != nil {
		return nil, err
	}
	lists := make([][]json.RawMessage, len(replies))
	longest := 0
	for i, raw := range replies {
		var found struct{ Results []json.RawMessage }
		if err := json.Unmarshal(raw, &found); err != nil {
			return nil, err
		}
		lists[i], longest = found.Results, max(longest, len(found.Results))
	}
	all, known := []json.RawMessage{}, map[string]bool{}
	for n := range longest {
		for _, list := range lists {
			if n >= len(list) || len(all) == most {
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
	var err error
	if reply["results"], err = json.Marshal(all); err != nil {
		return nil, err
	}
	if _, counted := reply["count"]; counted {
		reply["count"], err = json.Marshal(len(all))
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(reply)
}
