package doctor

import (
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// events names the files of events that nobody can take in.
func (e *examination) events() (found []Finding) {
	const check = "events"
	if e.c.DB == "" { // nobody has named a folder
		return nil
	}
	alone, err := eventlog.LeftAlone(e.c.LiveDir())
	if err != nil {
		return []Finding{{check, Note, err.Error(), ""}}
	}
	for _, why := range alone {
		found = append(found, Finding{check, Problem, fmt.Sprintf("what was said is not taken in: %v", why),
			"the version that has written it takes it in; a damaged one can be moved away"})
	}
	return found
}
