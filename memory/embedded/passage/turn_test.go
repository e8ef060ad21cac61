package passage

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What stands before a call is narration, or a plan where it is long; what stands behind the last is the result.
func TestParts(t *testing.T) {
	plan := strings.Repeat("First the mast, then the keel. ", 10)
	for _, c := range []struct {
		name, user, answer string
		tools              bool
		want               []Part
	}{
		{"talk", "And the mast?", "It holds.", false, []Part{{"And the mast?", 0, true}, {"It holds.", 0, false}}},
		{"work", "Mend it.", "I look.\f\n\nI saw.\f\n\nIt is mended.", true, []Part{{"Mend it.", Works, true},
			{"I look.\nI saw.", Works | Narrates, false}, {"It is mended.", Works, false}}},
		{"a plan", "Mend it.", plan + "\fI saw.\fDone.", false, []Part{{"Mend it.", Works, true},
			{strings.TrimSpace(plan), Works | Plans, false}, {"I saw.", Works | Narrates, false},
			{"Done.", Works, false}}},
		{"broken off", "Mend it.", "I look.\f", false, []Part{{"Mend it.", Works, true},
			{"I look.", Works | Narrates, false}}},
		{"calls that nobody reported", "Mend it.", plan + plan, false, []Part{{"Mend it.", Works, true},
			{strings.TrimSpace(plan + plan), Works, false}}},
	} {
		if diff := cmp.Diff(c.want, Parts(c.user, c.answer, c.tools)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// Of what was pasted the lines stay that tell what went wrong, each once, and what the person said stays.
func TestWithoutPastes(t *testing.T) {
	log := func(line string) string {
		return strings.Repeat("2026-11-21T22:56:35Z sail set\n", 8) + "2026-11-21T22:56:36Z " + line + "\n2026-11-21T22:56:37Z " + line + "\n" +
			strings.Repeat("2026-11-21T22:56:37Z sail set\n", 60)
	}
	text := "The mast broke:\n\n" + log("error: mast: exit status 3") + "\nAnd again:\n```\n\n" +
		log("error: mast: exit status 3") + "```\nWhy?"
	want := []string{"The mast broke:", "2026-11-21T22:56:36Z error: mast: exit status 3", "And again:", "Why?"}
	lines := slices.DeleteFunc(strings.Split(withoutPastes(text), "\n"), func(l string) bool { return l == "" })
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	for _, own := range []string{log("short")[:1400], strings.Repeat("The boat. ", 200) + "That is all."} {
		if got := withoutPastes(own); got != own {
			t.Errorf("cut to %q", got)
		}
	}
}
