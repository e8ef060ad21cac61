package runtime

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/stated"
)

const (
	earlierTurns = 50      // turns that are read, the last of a conversation and its first
	earlierText  = 8 << 10 // bytes of each side of a turn that are searched for decisions
)

// earlierOf tells how the conversation ended that a session continues. names are those of its agent.
func earlierOf(
	ctx context.Context, c *config.Config, store *correlation.Store, session int64, names []string,
) (string, error) {
	before, err := store.Predecessor(ctx, session, names)
	if err != nil || before.Session == 0 || !before.Handed && !c.Continue {
		return "", err
	}
	return earlier(ctx, store, before.Session)
}

// earlier tells how a session ended.
func earlier(ctx context.Context, store *correlation.Store, session int64) (string, error) {
	turns, err := store.LastTurns(ctx, session, earlierTurns)
	if err != nil {
		return "", err
	}
	s, err := store.Get(ctx, session)
	if err != nil {
		return "", err
	}
	rounds := make([]memory.Round, len(turns))
	before := ""
	for i, t := range turns {
		rounds[i] = memory.Round{User: t.User, Assistant: t.Assistant,
			Decided: stated.Decided(before, chars.Cut(t.User, earlierText)),
			Agreed:  stated.Agreed(chars.Cut(t.Assistant, earlierText)), Changed: changedBy(t, s.Cwd)}
		before = t.Assistant
	}
	return memory.Earlier(rounds), nil
}

// changedBy gives the files that the tools of a turn have changed, relative to cwd where they are below it.
func changedBy(t correlation.Turn, cwd string) (paths []string) {
	for _, tool := range t.Tools {
		if !slices.Contains([]string{"edit", "delete", "move"}, tool.Kind) || tool.Status == "failed" {
			continue
		}
		for _, path := range tool.Locations {
			if rest, err := filepath.Rel(cwd, path); err == nil && filepath.IsLocal(rest) {
				path = rest
			}
			paths = append(paths, path)
		}
	}
	return paths
}

// namesOf gives the names under which an agent may be handed something: its own, the one that it was started as, and
// its profile's.
func namesOf(agent, started string) []string {
	names := []string{config.Canonical(started), strings.ToLower(agent)}
	if p, known := config.ProfileOf(agent, started); known {
		names = append(names, p.Name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
