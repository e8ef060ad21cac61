package passage

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// What stands before a call is narration; what stands behind the last is the result.
func TestParts(t *testing.T) {
	plan := strings.Repeat("First the mast, then the keel. ", 10)
	for _, c := range []struct {
		name, user, answer string
		tools              bool
		want               []Part
	}{
		{"talk", "And the mast?", "It holds.", false, []Part{{"And the mast?", 0, memory.Typed}, {"It holds.", 0, memory.Agent}}},
		{"work", "Mend it.", "I look.\f\n\nI saw.\f\n\nIt is mended.", true, []Part{{"Mend it.", Works, memory.Typed},
			{"I look.\nI saw.", Works | Narrates, memory.Agent}, {"It is mended.", Works, memory.Agent}}},
		{"broken off", "Mend it.", "I look.\f", false, []Part{{"Mend it.", Works, memory.Typed},
			{"I look.", Works | Narrates, memory.Agent}}},
		{"an answer of 400 bytes", "Why?", strings.Repeat("a", 400), false, []Part{{"Why?", 0, memory.Typed},
			{strings.Repeat("a", 400), 0, memory.Agent}}},
		{"four times as long", strings.Repeat("a", 101), strings.Repeat("a", 404), false, []Part{
			{strings.Repeat("a", 101), 0, memory.Typed}, {strings.Repeat("a", 404), 0, memory.Agent}}},
		{"longer than that", strings.Repeat("a", 101), strings.Repeat("a", 405), false, []Part{
			{strings.Repeat("a", 101), Works, memory.Typed}, {strings.Repeat("a", 405), Works, memory.Agent}}},
		{"short, and longer than that", "Why?", "Because it was.", false, []Part{{"Why?", 0, memory.Typed}, {"Because it was.", 0, memory.Agent}}},
		{"calls that nobody reported", "Mend it.", plan + plan, false, []Part{{"Mend it.", Works, memory.Typed},
			{strings.TrimSpace(plan + plan), Works, memory.Agent}}},
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
	said := strings.Repeat("The mast is made of wood, and so is the boat. ", 34)
	for name, c := range map[string]struct{ pasted, want string }{
		"six lines":           {strings.Repeat("at f(x)\n", 6), strings.Repeat("at f(x)\n", 6)},
		"seven":               {strings.Repeat("at f(x)\n", 7), "\nat f(x)\n\n"},
		"blank lines are one": {"at a(x)\n" + strings.Repeat("\n", 5) + "at f(x)\n", "\nat a(x)\n\n"},
		"blank lines of mine": {"\n\nI saw.\n\n\n", "\n\nI saw.\n\n\n"},
		"five that tell": {"at a(fail)\nat b(fail)\nat c(fail)\nat d(fail)\nat e(fail)\nat f(x)\nat g(x)\n",
			"\nat a(fail)\n\n\nat b(fail)\n\n\nat c(fail)\n\n\nat d(fail)\n\n"},
	} {
		if got := withoutPastes(said + "\n" + c.pasted + "So?"); got != strings.TrimSpace(said)+"\n"+c.want+"So?" {
			t.Errorf("%s: %q", name, strings.TrimPrefix(got, said))
		}
	}
	for _, own := range []string{log("short")[:1400], strings.Repeat("The boat. ", 200) + "That is all."} {
		if got := withoutPastes(own); got != own {
			t.Errorf("cut to %q", got)
		}
	}
}
