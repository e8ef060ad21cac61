package delegation

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// choose returns the agent that a request names or, where it names none, the best one.
func (s *Service) choose(agents []Agent, r Request, caller string) (string, error) {
	if r.Agent == "" {
		a, ok := best(slices.DeleteFunc(slices.Clone(agents), func(a Agent) bool {
			return refuseUnbounded(a, r.Mode, s.Unbounded) != nil
		}), r.Kind, caller)
		if !ok {
			return "", errors.New("no agent can take tasks here; signet-acp-proxy agents says why")
		}
		return a.ID, nil
	}
	name := s.Canonical(r.Agent)
	i := slices.IndexFunc(agents, func(a Agent) bool { return a.ID == name })
	switch {
	case i < 0:
		var names []string
		for _, a := range agents {
			if a.Status != missing {
				names = append(names, a.ID)
			}
		}
		return "", fmt.Errorf("unknown agent %q: use one of %s, or none", name, strings.Join(names, ", "))
	case agents[i].Status == missing:
		return "", fmt.Errorf("%s cannot be started: %s", name, agents[i].Fix)
	}
	return name, refuseUnbounded(agents[i], r.Mode, s.Unbounded)
}

// kindOf returns the kind of work that a request is: a capability of one of the agents that its words name, else its
// mode.
func kindOf(r Request, agents []Agent) string {
	texts := []string{r.Task + "\n" + r.Scope}
	for _, a := range agents {
		texts = append(texts, a.Capabilities...)
	}
	content := language.Content(texts...)
	isNamed := func(word string) bool { return slices.Contains(content[0], word) }
	for i, words := range content[1:] {
		if len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return !isNamed(word) }) {
			return texts[i+1]
		}
	}
	return string(r.Mode)
}

// best chooses the agent where none was named: one that has the capability, then one that is installed and free; the
// caller itself only if there is no other.
func best(agents []Agent, kind, caller string) (Agent, bool) {
	rank := func(a Agent) (n int) {
		if slices.Contains(a.Capabilities, kind) {
			n += 2
		}
		if a.Status == busy || a.Status == byNpx {
			n--
		}
		if a.ID == caller {
			n -= 10
		}
		return n
	}
	var chosen Agent
	found := false
	for _, a := range agents {
		if a.Status != missing && (!found || rank(a) > rank(chosen)) {
			chosen, found = a, true
		}
	}
	return chosen, found
}
