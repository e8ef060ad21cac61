package proxy

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// Claim moves a session to in flight and records the injection, in one transaction that only one proxy can win.
func (w *beside) Claim(
	ctx context.Context, s *session.Session, from correlation.State, in correlation.Injection,
) <-chan error {
	answer := make(chan error)
	w.tasks.run("ledger", func(context.Context) {
		claimed := false
		err := guard.Try("asking the ledger", func() error {
			return w.database.with(ctx, func(b *Backend) error {
				row, err := w.database.row(ctx, s)
				if err == nil {
					_, err = b.Ledger.Claim(ctx, row, []correlation.State{from}, w.file.Process(), in)
				}
				if claimed = err == nil; claimed {
					guard.Point("claim")
				}
				return err
			})
		})
		if err != nil {
			w.o.Log.Info().Err(err).Str("session", s.Label()).Msg("the session was not claimed")
		}
		select {
		case answer <- err:
			claimed = claimed && err != nil // a mistake of ours has the prompt go without its block
		case <-ctx.Done(): // nobody waits for it any more
		}
		if claimed {
			w.talk.Tell(func(c *session.Connection) { c.Ungranted(s, in) })
		}
	})
	return answer
}

// Continued says how the conversation ended that a session continues; "" if it continues none, or was told before.
func (w *beside) Continued(ctx context.Context, s *session.Session) <-chan string {
	answer := make(chan string, 1)
	w.tasks.run("ledger", func(context.Context) {
		text := ""
		defer func() { answer <- text }()
		err := w.database.with(ctx, func(b *Backend) error {
			if b.Continued == nil {
				return nil
			}
			row, err := w.database.row(ctx, s)
			if err == nil {
				text, err = b.Continued(ctx, row, w.hello().Name)
			}
			return err
		})
		if err != nil {
			w.o.Log.Info().Err(err).Str("session", s.Label()).Msg("what the session continues")
			text = ""
		}
	})
	return answer
}
