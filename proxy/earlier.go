package proxy

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// earlier returns how the conversation ended that a session continues; "" if it continues none, or was told before. If
// the database does not answer before ctx ends the prompt goes without it.
func (d *database) earlier(
	ctx context.Context, s *session.Session, first []session.Behind,
) string {
	text, err := askFor(ctx, d, func(ctx context.Context, b *Backend) (string, error) {
		if b.Earlier == nil {
			return "", nil
		}
		row, err := d.talk.events.Row(ctx, s.Number)
		if err != nil {
			return "", err
		}
		return b.Earlier(ctx, row, d.hello().Name)
	}, first...)
	if err != nil {
		d.o.Log.Info().Err(err).Str("session", s.Label()).Msg("what was said earlier")
		return ""
	}
	return text
}
