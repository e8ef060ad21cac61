package runtime

import (
	"context"
	"os"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/backfill"
)

// Lying is how many conversations an agent has written down, and since when; Since is zero where none says.
type Lying struct {
	Agent         string
	Conversations int
	Since         time.Time
}

// Look counts the conversations that could be taken in, without a database. whole is false where ctx ended before.
func Look(ctx context.Context, c *config.Config) (all []Lying, whole bool, err error) {
	home, err := memory.Home()
	if err != nil {
		return nil, false, err
	}
	for _, agent := range BackfillAgents(false) {
		found := Lying{Agent: agent}
		err := backfill.Walk(ctx, backfill.Place{Home: home, Getenv: os.Getenv}, agent, backfill.Visitor{
			Skip: func(backfill.Skip) {},
			Conversation: func(one backfill.Conversation) error {
				if child, _ := one.HasParent(); child || one.Part > 0 || memory.OptedOut(one.Cwd, c.Exclude) {
					return nil
				}
				found.Conversations++
				if at := one.Turns[0].Started; !at.IsZero() && (found.Since.IsZero() || at.Before(found.Since)) {
					found.Since = at
				}
				return nil
			},
		})
		if found.Conversations > 0 {
			all = append(all, found)
		}
		switch {
		case ctx.Err() != nil:
			return all, false, nil
		case err != nil:
			return all, false, err
		}
	}
	return all, true, nil
}
