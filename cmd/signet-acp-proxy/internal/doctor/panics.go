package doctor

import (
	"fmt"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

const panicsAge = 14 * 24 * time.Hour // older ones are not named any more

// panics names the mistakes of this version that have ended a piece of work.
func (e *examination) panics() []Finding {
	const check = "panics"
	if e.c.DB == "" { // nobody has named a folder
		return nil
	}
	noted, log, err := runtime.NotedPanics(e.c, time.Now().Add(-panicsAge))
	if err != nil {
		return []Finding{{check, Note, err.Error(), ""}}
	}
	if len(noted) == 0 {
		return nil
	}
	last := noted[len(noted)-1]
	return []Finding{{check, Problem, fmt.Sprintf("%s in this version within 14 days; the last at %s in %s, at %s: %s",
		term.Count(len(noted), "panic"), term.Local(last.At), last.Work, last.Where, last.What),
		"a newer version may have it mended; else report it, with its line of " + log}}
}
