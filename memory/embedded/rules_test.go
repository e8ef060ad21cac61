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
	rules, err := w.Rules(w.t.Context(), Filter{Project: project, Within: true})
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

// A rule said again is one with a count, and a complaint counts from the third session on. What one rule is, is edited
// and forgotten as one, and is not learned again.
func TestRules(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "a", "Never edit the vendor folder. why are you writing the changelog by hand?", "Sorry.")
	w.said("/p", "a", "why are you writing the changelog by hand?", "Sorry.")
	w.said("/p", "b", "never edit files in the vendor folder!", "Right.")
	w.said("/p", "b", "you're writing the changelog by hand", "Sorry.")
	w.said("/q", "c", "When fixing a bug, always write a failing test first.", "Right.")
	w.said("/p", "d", "do all tests pass now", "Yes.")
	const vendor, changelog = "2 project: never edit files in the vendor folder!",
		"4 project: you keep writing the changelog by hand"
	is(t, "two sessions", w.standing("/p"), vendor)
	w.said("/p", "e", "you keep writing the changelog by hand", "Sorry.")
	is(t, "three sessions", w.standing("/p"), changelog, vendor)
	is(t, "another project", w.standing("/q"), "1 when fixing a bug: When fixing a bug, always write a failing test first.")
	if all, err := w.List(t.Context(), Filter{Type: "", Project: "/p"}); err != nil || len(all) != 2 {
		t.Errorf("wishes are listed: %+v, %v", all, err)
	}

	rules, err := w.Rules(t.Context(), Filter{})
	if err != nil || len(rules) != 3 {
		t.Fatalf("%+v, %v", rules, err)
	}
	text := "Write the changelog with the tool."
	for _, r := range rules {
		if strings.Contains(r.Content, "changelog") {
			if _, err := w.Modify(t.Context(), r.ID, Change{Content: &text, Source: "memory edit"}); err != nil {
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
	list, err := w.List(t.Context(), Filter{Project: "/p"})
	if err != nil || len(list) != 1 || list[0].Content != text {
		t.Errorf("%+v, %v", list, err)
	}
}

// A prompt is told the rules that concern it, as said by the user; another session's prompt, and none of its own.
func TestRulesByPrompt(t *testing.T) {
	w := newWorld(t)
	own := w.said("/p", "a", "Never edit the vendor folder.", "Right.")
	w.said("/p", "b", "From now on the ledger is kept in euros.", "Right.")
	w.said("/p", "c", "Always run the spelling check before you commit.", "Right.")
	for prompt, want := range map[string]string{
		"update a library in the vendor folder": "Never edit the vendor folder.",
		"paint the boat house":                  "",
		"ok, commit it":                         "Always run the spelling check before you commit.",
	} {
		c, err := w.Recall(t.Context(), memory.Session{Key: "new", Project: "/p"}, prompt, nil)
		if err != nil {
			t.Fatal(err)
		}
		told := ""
		for _, it := range c.Items {
			if strings.HasPrefix(it.About, "said by the user on ") {
				told += it.Text
			}
		}
		if told != want {
			t.Errorf("%q is told %q, want %q", prompt, told, want)
		}
		if start, _ := w.Start(t.Context(), memory.Session{Key: "new", Project: "/p"}); len(start.Items) != 0 {
			t.Errorf("told always: %+v", start.Items)
		}
	}
	if got := w.recall(memory.Session{Key: own, Project: "/p"}, "update a library in the vendor folder"); got != "" {
		t.Errorf("a session is told its own words: %q", got)
	}
}
