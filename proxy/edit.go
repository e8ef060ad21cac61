package proxy

import "bytes"

// edited notes in the log that a frame leaves as another one than it came, so that every difference between what one side
// wrote and what the other side read can be explained: what was done, to whose frame, and by how many bytes. s is nil where
// the frame is no session's. What is injected into prompts is logged for everybody, in resolve.
func (r *Relay) edited(kind string, s *session, before, after []byte) {
	log := r.o.Log.Debug()
	if !log.Enabled() || bytes.Equal(before, after) {
		return
	}
	if s != nil {
		r.mu.Lock()
		log = log.Str("session", s.label()).Str("key", s.who.Key)
		r.mu.Unlock()
	}
	log.Str("kind", kind).Int("bytes", len(after)-len(before)).Msg("edited")
}
