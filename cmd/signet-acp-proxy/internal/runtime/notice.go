package runtime

import (
	"context"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// announceRecording tells the person, once for each Signet folder, that conversations are recorded, and how to turn
// that off.
func announceRecording(ctx context.Context, c *config.Config, store *correlation.Store, log *Log, std term.Streams) {
	first, err := store.Once(ctx, "recording "+c.SignetPath)
	if err != nil {
		log.warn(err).Msg("telling that conversations are recorded")
		return
	}
	if first {
		std.Say("conversations are recorded in %s, for agents to remember; memory: off in the acp: section of "+
			"%s, or SIGNET_BYPASS=1, turns it off (shown once)",
			c.DB, filepath.Join(c.SignetPath, "agent.yaml"))
	}
}
