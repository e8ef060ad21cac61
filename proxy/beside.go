package proxy

import (
	"github.com/Signet-AI/signet-acp-proxy/correlation"
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
