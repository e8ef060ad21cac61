package install

import "github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"

// WantsNotes asks whether agents are to note their sessions, and says what that costs. Nobody is asked where it is set
// already, or where it cannot be done.
func (s Steps) WantsNotes() bool {
	if s.Config.Source("notes") != "default" || runtime.NotesRefused() != nil {
		return false
	}
	if !s.Yes && s.Std.Interactive() {
		s.say("An agent can note, after each session, what was decided and found in it, for the next one. This uses "+
			"your account with the agent: up to 12,000 tokens a session, %d sessions a day.", s.Config.NotesLimit)
		if s.Std.Ask("have agents write notes?") {
			return true
		}
	}
	s.skip("no notes of sessions; later: signet-acp-proxy config set notes agent (up to 12,000 tokens a session)")
	return false
}
