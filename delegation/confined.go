package delegation

import "fmt"

// What keeps an agent to the folder that it is given.
const (
	BySystem  = "system"    // the system bounds it, whatever it does
	ByItself  = "itself"    // it has a sandbox of its own
	ByMode    = "read mode" // it has a mode in which it only reads; nothing else
	ByNothing = "nothing"
)

// refuseUnbounded says why an agent is not asked where nothing keeps it to its folder.
func refuseUnbounded(a Agent, mode Mode, unbounded bool) error {
	switch {
	case unbounded, a.Bounds == BySystem, a.Bounds == ByItself, a.Bounds == ByMode && mode == Read:
		return nil
	case a.Bounds == ByMode:
		return fmt.Errorf("%s cannot be confined to its folder when it edits: use mode read, or another agent "+
			"(signet-acp-proxy agents says what confines each), or set delegation_unbounded: true", a.ID)
	}
	return fmt.Errorf("%s cannot be confined to its folder here: use another agent (signet-acp-proxy agents says what "+
		"confines each), or set delegation_unbounded: true", a.ID)
}
