package proxy

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// beside is what goes on beside the conversation (session.Beside).
type beside struct{ *env }

func (w *beside) Record(events ...correlation.Event) {
	w.file.Append(events...)
	w.o.Heard(events...)
}

func (w *beside) Hurry(when session.Urgency) {
	select {
	case w.recorder.hurry[when] <- struct{}{}:
	default: // it is known
	}
}

func (w *beside) Fault(s *session.Session, err error) {
	w.o.Log.Error().Err(err).Str("session", s.Label()).Msg("a session's state stays as it is")
}

// Claim moves a session to in flight and records the injection, in one transaction that only one proxy can win.
func (w *beside) Claim(ctx context.Context, p *session.Held, from correlation.State, in correlation.Injection) {
	granted := false
	w.database.begin(ctx, "claim", func(b *Backend) error {
		row, err := w.file.Row(ctx, p.Session.Number)
		if err == nil {
			_, err = b.Ledger.Claim(ctx, row, []correlation.State{from}, w.file.Process(), in)
		}
		if granted = err == nil; granted {
			guard.Point("claim")
		}
		return err
	}, func(err error) {
		if err != nil {
			w.o.Log.Info().Err(err).Str("session", p.Session.Label()).Msg("the session was not claimed")
		}
		w.talk.Tell(func(c *session.Connection) { c.Claimed(p, in, granted, err) })
	})
}

// Continued finds how the conversation ended that a session continues, if it was not told that before.
func (w *beside) Continued(ctx context.Context, p *session.Held) {
	brief := ""
	w.database.begin(ctx, "continued conversation", func(b *Backend) error {
		if b.Continued == nil {
			return nil
		}
		row, err := w.file.Row(ctx, p.Session.Number)
		if err == nil {
			brief, err = b.Continued(ctx, row, w.agent.Load().Name)
		}
		return err
	}, func(err error) {
		if err != nil {
			w.o.Log.Info().Err(err).Str("session", p.Session.Label()).Msg("what the session continues")
			brief = ""
		}
		w.talk.Tell(func(*session.Connection) { p.Continued = &brief })
	})
}
