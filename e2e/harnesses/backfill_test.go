//go:build harnesses

package harnesses

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// backfilled runs memory backfill for the harness alone, and returns how many turns of how many sessions were new.
func (s stage) backfilled(flags ...string) (sessions, turns int) {
	s.t.Helper()
	command := []string{s.proxy, "memory", "backfill", s.name, "--memory", "embedded", "--json"}
	out := s.run(slices.Concat(command, flags)...)
	var all []struct{ Sessions, Turns int }
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return all[0].Sessions, all[0].Turns
}

// What the harness itself has written of a conversation: nothing of it is new where the proxy has heard it, and where
// it has not every turn is there once, in order, without secrets and blocks of ours, and is not taken in again.
func TestBackfill(t *testing.T) {
	const key = "sk-ant-api03-Zt4mXk29fQvRw81LsNpYb6HcGd07JuEoIaT5xK3rVqWnMlPz"
	prompts := []string{"The keel of the Curlew weighs 1,730 kg.", "Go on.", "My key is " + key + ".",
		"And <private>CANARY</private> the mast?", "Go on."}
	for _, h := range harnesses {
		t.Run(h.name, func(t *testing.T) {
			s := h.stage(t, nil)
			w := s.connect(true, "")
			_, session := w.open(s.Work, "")
			for _, text := range prompts {
				w.prompt(session, text)
			}
			w.hangUp()
			s.alone()
			sessions, turns := s.backfilled("--dry-run")
			s.check("its transcript: nothing that was heard", sessions == 0 && turns == 0, "%d turns of %d sessions",
				turns, sessions)
			sessions, turns = s.backfilled()
			s.check("… taken in neither", sessions == 0 && turns == 0, "%d turns of %d sessions", turns, sessions)

			fresh := filepath.Join(s.Dir, "fresh")
			place := []string{"--signet-path", fresh}
			sessions, turns = s.backfilled(append(place, "--dry-run")...)
			s.check("… all that was not, dry", sessions == 1 && turns == len(prompts), "%d turns of %d sessions", turns,
				sessions)
			sessions, turns = s.backfilled(place...)
			s.check("… all that was not", sessions == 1 && turns == len(prompts), "%d turns of %d sessions", turns, sessions)
			sessions, turns = s.backfilled(place...)
			s.check("… once", sessions == 0 && turns == 0, "%d turns of %d sessions", turns, sessions)

			var said []struct{ Role, Text string }
			out := s.run(slices.Concat([]string{s.proxy, "log", session, "--json"}, place)...)
			if err := json.Unmarshal([]byte(out), &said); err != nil {
				t.Fatal(err)
			}
			var users, answers []string
			for _, one := range said {
				switch one.Role {
				case "user":
					users = append(users, one.Text)
				case "assistant":
					answers = append(answers, one.Text)
				}
			}
			ordered := len(users) == len(prompts) && len(answers) == len(prompts)
			for i := range min(len(users), len(prompts)) {
				head, _, _ := strings.Cut(prompts[i], "sk-ant")
				head, _, _ = strings.Cut(head, "<private>")
				ordered = ordered && strings.HasPrefix(users[i], strings.TrimSpace(head))
			}
			s.check("… in order", ordered, "%q, answered %q", users, answers)
			for _, canary := range []string{"CANARY", key[20:40], mark[1:]} {
				s.check("… without secrets", !holds(t, fresh, canary), "it holds %s", canary)
			}
		})
	}
}
