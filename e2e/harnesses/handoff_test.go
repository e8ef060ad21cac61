//go:build harnesses

package harnesses

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const earlier = "## Earlier in this conversation"

// From each harness to each other one: the model of the second is told once what the first was.
func TestHandoff(t *testing.T) {
	for _, from := range harnesses {
		t.Run(from.name, func(t *testing.T) {
			s := from.stage(t, nil)
			w := s.connect(true, "")
			_, session := w.open(s.Work, "")
			w.prompt(session, "The keel of the Curlew weighs 1,730 kg.")
			w.hangUp()
			s.alone()
			for _, to := range harnesses {
				if to.name == from.name {
					continue
				}
				s.run(s.proxy, "handoff", session, "--to", to.name)
				other := s.beside(to.name)
				w := other.connect(true, "")
				_, id := w.open(s.Work, "")
				first, second := fmt.Sprintf("Go on, %s.", to.name), fmt.Sprintf("And on, %s.", to.name)
				w.prompt(id, first)
				w.prompt(id, second)
				w.hangUp()
				s.alone()
				_, told, _ := strings.Cut(asked(s.model, first), earlier)
				s.check("handed to "+to.name, strings.Contains(told, "> User: The keel of the Curlew weighs 1,730 kg."),
					"the model was asked\n%s", asked(s.model, first))
				n := strings.Count(asked(s.model, second), earlier)
				s.check("… once", n == 1, "%d times in\n%s", n, asked(s.model, second))
			}
		})
	}
}

// A session that Claude has lost: acpx begins another one in its place, and that is told once what was said.
func TestLostSession(t *testing.T) {
	s := named("claude").stage(t, nil)
	s.say("sessions", "new")
	s.say("The keel of the Curlew weighs 1,730 kg.")
	s.alone()
	lost := 0
	err := filepath.WalkDir(s.Home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") && strings.Contains(path, filepath.Join(".claude", "projects")) {
			lost++
			return os.Remove(path)
		}
		return err
	})
	if err != nil || lost == 0 {
		t.Fatalf("%d transcripts, %v", lost, err)
	}
	s.say("What does the keel weigh?")
	s.alone()
	s.say("And the mast?")
	s.alone()
	first, second := asked(s.model, "What does the keel weigh?"), asked(s.model, "And the mast?")
	s.check("a lost session goes on", strings.Contains(first, "> User: The keel of the Curlew weighs 1,730 kg."),
		"the model was asked\n%s", first)
	s.check("… told once", strings.Count(first, earlier) == 1 && strings.Count(second, earlier) == 1,
		"%d times, and %d", strings.Count(first, earlier), strings.Count(second, earlier))
}
