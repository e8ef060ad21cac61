package removal

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// Memory removes a memory, and returns it.
func (r Removal) Memory(ctx context.Context, id string) (embedded.Memory, error) {
	m, err := r.Data.Memory(ctx, id)
	if err != nil {
		return m, err
	}
	err = r.keep(ctx, "the memory "+m.ID, func() error { return r.Data.Memories.Remove(ctx, m.ID) })
	if err != nil {
		return m, err
	}
	return m, r.Data.Memories.Erase(ctx)
}

// From removes all that came in one way, memories and passages of conversations, of one project (with an empty one, of
// none) or of all.
func (r Removal) From(ctx context.Context, f embedded.Filter) (removed []embedded.Memory, err error) {
	f.Limit, f.Said = math.MaxInt32, true
	all, err := r.Data.Memories.List(ctx, f)
	all = slices.DeleteFunc(all, func(m embedded.Memory) bool {
		return f.Within && m.Project != f.Project // it is the person's own, or of no project
	})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	what := fmt.Sprintf("%s from %s", term.Count(len(all), "memory"), f.From)
	if err = r.keep(ctx, what, func() error { return r.Data.Memories.RemoveAll(ctx, all) }); err != nil {
		return nil, err
	}
	return all, r.Data.Memories.Erase(ctx)
}
