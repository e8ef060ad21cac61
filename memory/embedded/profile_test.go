package embedded

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// standing returns what stands as a rule, as "times scope: text".
func (w *world) standing(project string) (list []string) {
	w.t.Helper()
	rules, err := w.Profile(w.t.Context(), Filter{Project: project, Within: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range rules {
		list = append(list, fmt.Sprintf("%d %s: %s", r.Said, r.Scope, r.Content))
	}
	return list
}

func is(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// A line repeated is one with a count. What one line is, is edited and forgotten as one, and is not learned again.
func TestProfile(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "a", "Never edit the vendor folder. why are you writing the changelog by hand?", "Sorry.")
	w.said("/p", "b", "never edit files in the vendor folder!", "Right.")
	w.said("/p", "b", "From now on write the changelog with the tool.", "Right.")
	w.said("/q", "c", "When fixing a bug, always write a failing test first.", "Right.")
	w.said("/q", "c", "My name is Robin Hale.", "Hello.")
	w.said("/p", "d", "do all tests pass now", "Yes.")
	const vendor, changelog = "2 project: never edit files in the vendor folder!",
		"1 project: From now on write the changelog with the tool."
	const name = "1 everywhere: My name is Robin Hale."
	is(t, "here", w.standing("/p"), name, changelog, vendor)
	is(t, "another project", w.standing("/q"), name,
		"1 when fixing a bug: When fixing a bug, always write a failing test first.")
	fresh, err := w.NewInProfile(t.Context())
	if err != nil || len(fresh) != 4 {
		t.Errorf("new: %+v, %v", fresh, err)
	}
	if fresh, err = w.NewInProfile(t.Context()); err != nil || len(fresh) != 0 {
		t.Errorf("new again: %+v, %v", fresh, err)
	}
	lines, err := w.Profile(t.Context(), Filter{})
	if err != nil || len(lines) != 4 {
		t.Fatalf("%+v, %v", lines, err)
	}
	text := "Write the changelog with the tool, always."
	for _, r := range lines {
		if strings.Contains(r.Content, "changelog") {
			if _, err := w.Keep(t.Context(), r.ID, text); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(r.Content, "vendor") {
			if err := w.Forget(t.Context(), r.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	is(t, "kept and dropped", w.standing("/p"), name, "1 project: "+text)
	if fresh, err = w.NewInProfile(t.Context()); err != nil || len(fresh) != 0 {
		t.Errorf("what was kept is new: %+v, %v", fresh, err)
	}
}

// What a template says in each session is nobody's wish; what a person says again and again is.
func TestTemplates(t *testing.T) {
	w := newWorld(t)
	for i, key := range []string{"a", "b", "c"} {
		w.said("/p", key, "You are reviewing a branch. Always name the file of each finding. Branch: release", "Done.")
		w.said("/p", key, fmt.Sprintf("Never touch the vendor folder.\n\nMend the mast number %d.", i), "Done.")
	}
	is(t, "in three sessions", w.standing("/p"), "3 project: Never touch the vendor folder.")
}

// A first prompt gets six lines: those that share words with it, what was kept, the newest. No session is told its own.
func TestProfileOfPrompt(t *testing.T) {
	w := newWorld(t)
	own := w.said("/p", "a", "Never edit the vendor folder.", "Right.")
	for i, text := range []string{"Always balance the ledger twice.", "Always water the orchard at dawn.",
		"Always dredge the harbour in May.", "Always fire the kiln slowly.", "Always lock the granary door.",
		"Always oil the loom first.", "Always stop the mill on Sundays."} {
		w.said("/p", fmt.Sprint(i), text, "Right.")
	}
	lines, err := w.Profile(t.Context(), Filter{})
	if err != nil || len(lines) != 8 {
		t.Fatalf("%+v, %v", lines, err)
	}
	if _, err := w.Keep(t.Context(), lines[6].ID, ""); err != nil {
		t.Fatal(err)
	}
	for prompt, want := range map[string]string{
		"update a library in the vendor folder": "vendor, ledger, mill, loom, granary, kiln",
		"paint the boat house":                  "ledger, mill, loom, granary, kiln, harbour",
	} {
		c, err := w.Recall(t.Context(), memory.Session{Key: "new", Project: "/p"}, prompt, nil)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, it := range c.Profile {
			words := strings.Fields(it.Text)
			told = append(told, words[3])
		}
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("%q is told %q, want %q", prompt, got, want)
		}
	}
	if got := w.recall(memory.Session{Key: own, Project: "/p"}, "update a library in the vendor folder"); strings.Contains(got, "vendor") {
		t.Errorf("a session is told its own words: %q", got)
	}
}
