package session

import (
	"cmp"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// who is the session as memory knows it.
func (e *existence) who() memory.Session {
	o := &e.Open
	return memory.Session{
		Key: o.Key, Harness: o.Harness, Cwd: o.Cwd, Project: o.Project, AgentID: o.AgentID, ParentKey: o.ParentKey,
	}
}

// unrecorded reports whether the session has no row, because the harness has not opened it yet, or has refused to.
func (e *existence) unrecorded() bool { return !e.live && !e.recorded }

// adopt takes over what the ledger has of the session. keep says that its key is in use.
func (e *existence) adopt(known correlation.Session, keep bool) {
	o := &e.Open
	e.row, o.Harness = known.ID, known.Harness
	if o.Cwd == "" {
		o.Cwd, o.Project = known.Cwd, known.Project
	}
	if !keep {
		o.Key = known.Key
	}
	if known.State == correlation.Off && e.silence == heard {
		e.silence = off
	}
	o.ParentKey = cmp.Or(known.ParentKey, o.ParentKey)
}

// fork takes over what a fork has from its parent.
func (e *existence) fork(parent *Session, state correlation.State) {
	o, from := &e.Open, &parent.exists
	o.State = state
	if from.silence == hidden || from.Session == 0 {
		o.ForkOf = from.row
	} else { // the ledger may not have a row of it yet
		e.Fork = from.Session
	}
	if from.silence != heard && e.silence == heard {
		e.silence = off
	}
	o.ParentKey = cmp.Or(o.ParentKey, from.Open.Key)
	if o.Cwd == "" {
		o.Cwd, o.Project = from.Open.Cwd, from.Open.Project
	}
}

// Known returns what is known of a session. Any goroutine may call it.
func (s *Session) Known() Known { return *s.known.Load() }

// Label is the session's id as it is logged, at most maxLabel bytes of it. Any goroutine may call it.
func (s *Session) Label() string {
	id := s.Known().ID
	return id[:min(len(id), maxLabel)]
}

func (s *Session) publish() {
	e := &s.exists
	s.known.Store(&Known{ID: s.ID(), Who: e.who(), Mode: e.mode, Off: s.off()})
}
