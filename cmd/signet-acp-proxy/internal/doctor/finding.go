package doctor

import "github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"

// Statuses of findings.
const (
	Fine    = "ok"
	Note    = "note"
	Problem = "problem"
)

// A Finding is what one check found.
type Finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // Fine, Note or Problem
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // what to do, as a command where there is one
}

// An examination is what the checks share.
type examination struct {
	c        *config.Config
	step     func(string)
	timeouts timeouts // of each harness
}

// Problems counts what is wrong.
func Problems(all []Finding) int {
	n := 0
	for _, one := range all {
		if one.Status == Problem {
			n++
		}
	}
	return n
}
