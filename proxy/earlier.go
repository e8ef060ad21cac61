package proxy

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// earlier returns how the conversation ended that a session continues; "" if it continues none, or was told before. If
// the database does not answer before ctx ends the prompt goes without it.
func (d *database) earlier(ctx context.Context, s *session.Session) (text string) {
	var agent string
	d.table.Update(func(c *session.Connection) { agent = c.Agent.Name })
	told := make(chan string, 1)
	err := d.ask(ctx, func(ctx context.Context, b *Backend) error {
		if b.Earlier == nil {
			return nil
		}
		row, err := d.events.Row(ctx, s.Number)
		if err != nil {
			return err
		}
		text, err := b.Earlier(ctx, row, agent)
		told <- text
		return err
	}, s)
	if err != nil {
		d.o.Log.Info().Err(err).Str("session", s.Label()).Msg("what was said earlier")
		return ""
	}
	select {
	case text = <-told:
	default:
	}
	return text
}
