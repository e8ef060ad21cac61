package runtime

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// tellOnce tells the person, once for each Signet folder, that conversations are recorded, and how to have it
// otherwise.
func (b *Backend) tellOnce(ctx context.Context, store *correlation.Store) {
	first, err := store.Once(ctx, "recording "+b.c.SignetPath)
	if err != nil {
		log := b.log.Logger()
		log.Warn().Err(err).Msg("telling that conversations are recorded")
		return
	}
	if first {
		b.std.Say("conversations are recorded in %s, for agents to remember; memory: off in the acp: section of "+
			"%s/agent.yaml, or SIGNET_BYPASS=1, turns it off (this is said once)", b.c.DB, b.c.SignetPath)
	}
}
