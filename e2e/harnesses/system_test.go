//go:build harnesses

package harnesses

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// Identity by the system prompt, in the harnesses that take one: it is there in every request, also in a new process
// and beside what the client has to say itself, and the user's messages hold the memories alone.
func TestSystemPrompt(t *testing.T) {
	const what, who = "identity in the system prompt", "You are Halyard"
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			s := named(name).stage(t, nil)
			s.Env = append(s.Env, "SIGNET_ACP_PLACEMENT=system")

			s.say("exec", "The mast of the Curlew is 11.42 metres long.")
			s.alone()
			s.remembers("mast of the Curlew is 11.42")
			s.say("sessions", "new")
			s.alone()
			s.say("How long is the mast of the Curlew?")
			s.alone()
			system, user := heard(s.model, "How long is the mast")
			s.check(what, strings.Count(system, who) == 1 && !strings.Contains(user, who) &&
				strings.Count(user, mark) == 1 && strings.Contains(user, "11.42"), "system prompt:\n%s\nuser:\n%s", system, user)

			s.say("And its boom?")
			s.alone()
			system, user = heard(s.model, "And its boom?")
			s.check(what, strings.Count(system, who) == 1 && !strings.Contains(user, who) &&
				strings.Count(user, mark) == 1, "in a new process, system prompt:\n%s\nuser:\n%s", system, user)

			s.acpx = append(s.acpx, "--append-system-prompt", "Speak like a sailor.")
			s.say("exec", "And its sail?")
			s.alone()
			system, user = heard(s.model, "And its sail?")
			own := name != "claude" || strings.Contains(system, "Speak like a sailor.") // codex does not read acpx's form
			s.check(what, own && strings.Count(system+user, who) == 1,
				"beside the client's, system prompt:\n%s\nuser:\n%s", system, user)
			s.check(what, !mentioned(t, filepath.Join(s.Home, ".acpx")), "acpx's files hold our block")
		})
	}
}

// heard is what the last request of the conversation that holds the words says, as system and as user.
func heard(model *fakemodel.Server, words string) (system, user string) {
	for _, r := range model.Requests() {
		if text := strings.Join(r.User, "\n"); strings.Contains(text, words) && len(r.Tools) > 0 {
			system, user = r.System, text
		}
	}
	return system, user
}
