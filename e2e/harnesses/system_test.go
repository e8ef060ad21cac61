//go:build harnesses

package harnesses

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
	"github.com/Signet-AI/signet-acp-proxy/e2e/npm"
)

// Identity by the system prompt, in the harnesses that take one: it is there in every request, also in a new process
// and beside what the client has to say itself, and the user's messages hold the memories alone.
func TestSystemPrompt(t *testing.T) {
	proxy, clients, modules := programs(t)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "harness\tplaced\tmemories\tnew process\tclient's own\tacpx clean")
	for _, h := range harnesses {
		if h.name != "claude" && h.name != "codex" {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			fmt.Fprintln(w,
				strings.Join(h.testSystem(t, proxy, clients, modules), "\t"))
		})
	}
	w.Flush()
}

func (h harness) testSystem(t *testing.T, proxy string, clients, modules npm.Modules) []string {
	model := fakemodel.Start(nil)
	box := h.stage(t, proxy, clients, modules, model)
	box.Env = append(box.Env, "SIGNET_ACP_PLACEMENT=system")
	const who = "You are Halyard"
	row := []string{h.name}
	note := func(ok bool, format string, args ...any) { row = append(row, check(t, ok, format, args...)) }

	box.say("exec", "The mast of the Curlew is 11.42 metres long.")
	box.alone()
	box.say("sessions", "new")
	box.alone()
	box.say("How long is the mast of the Curlew?")
	box.alone()
	system, user := heard(model, "How long is the mast")
	note(strings.Count(system, who) == 1 && !strings.Contains(user, who), "system prompt:\n%s\nuser:\n%s", system, user)
	note(strings.Count(user, mark) == 1 && strings.Contains(user, "11.42"), "user:\n%s", user)

	box.say("And its boom?")
	box.alone()
	system, user = heard(model, "And its boom?")
	note(strings.Count(system, who) == 1 && !strings.Contains(user, who) && strings.Count(user, mark) == 1,
		"system prompt:\n%s\nuser:\n%s", system, user)

	box.acpx = append(box.acpx[:len(box.acpx)-1:len(box.acpx)-1], "--append-system-prompt",
		"Speak like a sailor.", "signet-test")
	box.say("exec", "And its sail?")
	box.alone()
	system, user = heard(model, "And its sail?")
	own := h.name != "claude" || strings.Contains(system, "Speak like a sailor.") // codex does not read acpx's form
	note(own && strings.Count(system+user, who) == 1, "system prompt:\n%s\nuser:\n%s", system, user)
	note(!mentioned(t, filepath.Join(box.Home, ".acpx")), "acpx's files hold our block")
	return row
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
