package session

import "github.com/Signet-AI/signet-acp-proxy/correlation"

// answeredLate ends the doubt about a block whose prompt was answered after a later one was.
func (c *Connection) answeredLate(s *Session, in *Injection, became correlation.StepName) {
	if s.context.state != correlation.Doubt || s.history.newest() != in {
		return
	}
	switch became {
	case correlation.Answered:
		c.step(s, correlation.Step{Name: correlation.AssumedKept, Partly: in.Kind == kindIdentity})
	case correlation.Refused:
		c.takeBack(in)
		c.step(s, correlation.Step{Name: correlation.Clean, Placed: SystemBlock(s.history.blocks) != nil})
	}
}

// settleRewind notes, when a prompt comes, that the conversation was taken back to before what the session was told.
// Not earlier: gemini shows the first message of its history before it answers session/load, and the rest behind.
func (c *Connection) settleRewind(s *Session) {
	if s.context.state == correlation.Done && s.history.rewound() {
		c.contextLost(s, correlation.Cleared)
	}
}

// settleDoubt settles by what the replay has shown whether the harness has the block that was sent, and whether a
// session that the ledger does not have was given one. late: a prompt is about to leave, so without a replay the
// harness's traits decide. What stays in doubt gets the same text again: twice is a nuisance, never is a failure.
func (c *Connection) settleDoubt(s *Session, late bool) {
	r := s.history.replay
	unheard := s.exists.ledger == unknown
	block := s.history.newest()
	partly := block != nil && block.Kind == kindIdentity // its memories are still to come
	told := r.shown != shownNothing && (r.step == replayAnswered || late)
	switch {
	case r.shown == shownOurs, r.shown == shownStrange && unheard: // then it may be any that is ours
		c.step(s, correlation.Step{Name: correlation.Marked, Partly: partly, Unknown: unheard})
	case told || late && block == nil:
		c.step(s, correlation.Step{Name: correlation.Clean, Placed: SystemBlock(s.history.blocks) != nil})
	case late && c.traits.KeepsFailed && block.Outcome != correlation.WasCancelled:
		c.step(s, correlation.Step{Name: correlation.AssumedKept, Partly: partly})
	}
}
