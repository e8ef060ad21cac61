package runtime

import (
	"context"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

const continuedTurns = 50 // turns that are read, the last of a conversation and its first

// continuedBy tells how the conversation ended that a session continues. names are those of its agent.
func continuedBy(
	ctx context.Context, c *config.Config, store *correlation.Store, session int64, names []string,
) (string, error) {
	before, err := store.Continued(ctx, session, names)
	if err != nil || before.Session == 0 || !before.Handed && !c.Continue {
		return "", err
	}
	return continued(ctx, store, before.Session)
}

// continued tells how a session ended.
func continued(ctx context.Context, store *correlation.Store, session int64) (string, error) {
	turns, err := store.LastTurns(ctx, session, continuedTurns)
	if err != nil {
		return "", err
	}
	return memory.Continued(embedded.Rounds(turns)), nil
}

// namesOf returns the names under which an agent may be handed something: its own, the one that it was started as, and
// its profile's.
func namesOf(agent, started string) []string {
	names := []string{config.Canonical(started), strings.ToLower(agent)}
	if p, known := config.ProfileOf(agent, started); known {
		names = append(names, p.Name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
