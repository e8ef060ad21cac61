package signet

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

const (
	originTime = 300 * time.Millisecond // for asking where memories are from
	maxOrigins = 40                     // that are asked for
)

// ofProject leaves out memories of other projects, unless Options say otherwise. No reply of a hook says where they are
// from: the daemon is asked for each. What it does not tell in time stays, and what it names no id for.
func (c *Client) ofProject(ctx context.Context, s memory.Session, items []memory.Item) []memory.Item {
	if c.opts.OtherProjects || s.Project == "" {
		return items
	}
	ctx, cancel := context.WithTimeout(ctx, originTime)
	defer cancel()
	asked := 0
	return slices.DeleteFunc(items, func(it memory.Item) bool {
		if it.ID == "" || IsMessage(it.ID) || asked == maxOrigins || ctx.Err() != nil {
			return false
		}
		asked++
		var from struct{ Project string }
		row, err := c.Get(ctx, it.ID)
		return err == nil && json.Unmarshal(row, &from) == nil && !memory.Of(s.Project, from.Project)
	})
}
