//go:build harnesses

package harnesses

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// Sessions that Claude has lost: acpx begins another one in the place of each, and that is told once what was said. Of
// forty facts the model gets 38 or more with the next prompt.
func TestLostSession(t *testing.T) {
	const conversations, facts = 5, 8
	claude, known := named("claude"), 0
	for n := range conversations {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := claude.stage(t, nil)
			s.say("sessions", "new")
			var said []string
			for i := range facts {
				said = append(said, fmt.Sprintf("The %s of the %s weighs %d kg.", parts[i], boats[n], 1730+100*n+i))
			}
			for half := range slices.Chunk(said, facts/2) {
				s.say(strings.Join(half, " "))
				s.alone()
			}
			s.lose()
			s.say("What does the keel weigh?")
			s.alone()
			s.say("And the mast?")
			s.alone()
			first, second := asked(s.model, "What does the keel weigh?"), asked(s.model, "And the mast?")
			for _, fact := range said {
				if strings.Contains(first, fact) {
					known++
				} else {
					t.Logf("%q is not in\n%s", fact, first)
				}
			}
			if a, b := strings.Count(first, earlier), strings.Count(second, earlier); a != 1 || b != 1 {
				t.Errorf("it was told %d times, and then %d", a, b)
			}
		})
	}
	if want := conversations * facts * 95 / 100; known < want {
		t.Errorf("the model got %d of %d facts, want %d", known, conversations*facts, want)
	}
	claude.note("a lost session goes on", fmt.Sprintf("%d of %d facts", known, conversations*facts))
}

// parts and boats name what is said in a lost conversation.
var (
	parts = []string{"keel", "mast", "boom", "rudder", "anchor", "engine", "winch", "tiller"}
	boats = []string{"Curlew", "Avocet", "Godwit", "Whimbrel", "Dunlin"}
)

// lose removes the transcripts that Claude keeps.
func (s stage) lose() {
	lost := 0
	err := filepath.WalkDir(s.Home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") && strings.Contains(path, filepath.Join(".claude", "projects")) {
			lost++
			return os.Remove(path)
		}
		return err
	})
	if err != nil || lost == 0 {
		s.t.Fatalf("%d transcripts, %v", lost, err)
	}
}
