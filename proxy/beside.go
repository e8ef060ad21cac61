package proxy

import (
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// beside is what goes on beside the conversation (session.Beside).
type beside struct {
	*finder
	*fetcher
	recorder *recorder
}

func (b *beside) Record(events ...correlation.Event) {
	b.recorder.file.Append(events...)
	b.recorder.o.Heard(events...)
}

func (b *beside) Hurry(when session.Urgency) { b.recorder.due.set(when) }

func (b *beside) Fault(s *session.Session, err error) {
	b.recorder.o.Log.Error().Err(err).Str("session", s.Label()).Msg("a session's state stays as it is")
}
