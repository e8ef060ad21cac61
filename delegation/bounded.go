package delegation

import (
	"errors"
	"fmt"
	"slices"
)

// What keeps an agent to the folder that it is given.
const (
	BySystem  = "system"    // the system bounds it, whatever it does
	ByItself  = "itself"    // it has a sandbox of its own
	ByMode    = "read mode" // it has a mode in which it only reads; nothing else
	ByNothing = "nothing"
)

// withinBounds keeps the agents that a delegation in a mode may be given to.
func (s *Service) withinBounds(agents []Agent, mode Mode) []Agent {
	return slices.DeleteFunc(slices.Clone(agents), func(a Agent) bool { return s.refuseUnbounded(a, mode) != nil })
}

// refuseUnbounded says why an agent is not asked where nothing keeps it to its folder.
func (s *Service) refuseUnbounded(a Agent, mode Mode) error {
	switch {
	case s.Unbounded, a.Bounds == BySystem, a.Bounds == ByItself, a.Bounds == ByMode && mode == Read:
		return nil
	case a.Bounds == ByMode:
		return fmt.Errorf("nothing keeps %s to a folder here when it edits: ask it to read, ask another (agents says "+
			"what keeps each), or set delegation_unbounded: true", a.ID)
	}
	return fmt.Errorf("nothing keeps %s to a folder here: ask another (agents says what keeps each), or set "+
		"delegation_unbounded: true", a.ID)
}

// mustSetMode reports whether a session is to be put into the mode in which its agent only reads. The error says why it
// may not begin: nothing else keeps it from writing, and the session does not have that mode.
func (r *run) mustSetMode(readMode string, has, inPlace bool) (bool, error) {
	switch {
	case r.d.Mode == Read && has:
		return true, nil
	case r.place != nil:
		return false, nil
	case inPlace:
		return false, errors.New("it has no mode in which it only reads, and the folder is too large to be copied")
	case r.d.Mode == Read && readMode != "" && !r.Unbounded:
		return false, fmt.Errorf("its session has no mode %s, and nothing else keeps it from writing here", readMode)
	}
	return false, nil
}
