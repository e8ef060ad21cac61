package embedded

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// aboutMemory answers a question about the memory itself, beside the profile: how the last sessions ended, and of what
// there is more.
func (s *Store) aboutMemory(ctx context.Context, in Query) ([]memory.Item, error) {
	sessions, err := correlation.LastSessions(ctx, s.db, in.Project, in.keys, maxRecent)
	if err != nil {
		return nil, err
	}
	items, err := s.briefs(ctx, sessions, in)
	if err != nil {
		return nil, err
	}
	const maxNamed = 5
	counts, err := correlation.SessionsByProject(ctx, s.db)
	if err != nil || len(counts) == 0 {
		return items, err
	}
	total, names := 0, []string{}
	for _, c := range counts {
		if total += c.Sessions; c.Project != "" && len(names) < maxNamed {
			names = append(names, fmt.Sprintf("%s (%d)", filepath.Base(c.Project), c.Sessions))
		}
	}
	text := fmt.Sprintf("%d earlier conversations are remembered", total)
	if total == 1 {
		text = "1 earlier conversation is remembered"
	}
	if len(names) > 0 {
		text += ", most of them in " + strings.Join(names, ", ")
	}
	return append(items, memory.Item{Text: text + "."}), nil
}
