package proxy

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// What goes on beside the conversation (session.Beside), but for memory (fetch.go) and look-ups (lookup.go).

func (e *env) Record(events ...correlation.Event) {
	e.file.Append(events...)
	e.o.Heard(events...)
}

func (e *env) Hurry(when session.Urgency) {
	select {
	case e.recorder.hurry[when] <- struct{}{}:
	default: // it is known
	}
}

func (e *env) Fault(s *session.Session, err error) {
	e.o.Log.Error().Err(err).Str("session", s.Label()).Msg("a session's state stays as it is")
}

// Claim moves a session to in flight and records the injection, in one transaction that only one proxy can win.
func (e *env) Claim(ctx context.Context, p *session.Held, from correlation.State, in correlation.Injection) {
	granted := false
	e.database.begin(ctx, "claim", func(b *Backend) error {
		row, err := e.file.Row(ctx, p.Session.Number)
		if err == nil {
			_, err = b.Ledger.Claim(ctx, row, []correlation.State{from}, e.file.Process(), in)
		}
		if granted = err == nil; granted {
			guard.Point("claim")
		}
		return err
	}, func(err error) {
		if err != nil {
			e.o.Log.Info().Err(err).Str("session", p.Session.Label()).Msg("the session was not claimed")
		}
		e.talk.Tell(func(c *session.Connection) { c.Claimed(p, in, granted, err) })
	})
}

// Continued finds how the conversation ended that a session continues, if it was not told that before.
func (e *env) Continued(ctx context.Context, p *session.Held) {
	brief := ""
	e.database.begin(ctx, "continued conversation", func(b *Backend) error {
		if b.Continued == nil {
			return nil
		}
		row, err := e.file.Row(ctx, p.Session.Number)
		if err == nil {
			brief, err = b.Continued(ctx, row, e.agent.Load().Name)
		}
		return err
	}, func(err error) {
		if err != nil {
			e.o.Log.Info().Err(err).Str("session", p.Session.Label()).Msg("what the session continues")
			brief = ""
		}
		e.talk.Tell(func(*session.Connection) { p.Continued = &brief })
	})
}
