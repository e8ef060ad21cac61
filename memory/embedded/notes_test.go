package embedded

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// noted has the agent of a session note something of all its turns.
func (w *world) noted(name string, notes ...Note) []Memory {
	w.t.Helper()
	session, err := w.journal.Find(w.t.Context(), "echo", name)
	if err != nil {
		w.t.Fatal(err)
	}
	turns, err := w.journal.ToldOf(w.t.Context(), session.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	n, err := w.journal.BeginNoting(w.t.Context(), session.ID, turns[len(turns)-1].Turn)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range notes {
		notes[i].Turns = []int{0}
	}
	kept, err := w.Note(w.t.Context(), n, "heron", turns, notes, func([]Memory) []correlation.Debt { return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	return kept
}

// A note is found by the words of its question, and says that an agent noted it. It stays in its project, is no rule,
// and goes with the turns that it is of.
func TestNote(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "first", "Go on.", "Done.", "And now?", "All is well.")
	key := w.said("/p", "second", "Go on.", "Done.")
	kept := w.noted("first", Note{Text: "The relay keeps prompts for 1.5 s, because acpx gives up at 2 s.",
		Question: "How long may an answer be delayed at most?", Kind: "decision", Files: []string{"proxy/held.go"}},
		Note{Text: "The relay keeps prompts for 1.5 s, because acpx gives up at 2 s!", Kind: "finding"}, // the same
		Note{Text: "<private>x</private>", Kind: "state"})
	if len(kept) != 1 || !slices.Equal(kept[0].Turns, []int{1}) || kept[0].Who != memory.Agent {
		t.Fatalf("%+v", kept)
	}
	const want = "- (noted by heron, 2026-10-03) The relay keeps prompts for 1.5 s"
	told := func(project string) string {
		t.Helper()
		c, err := w.Recall(t.Context(), memory.Session{Key: key, Project: project}, "How long may we delay an answer?", nil)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := memory.Compose(key, memory.Context{}, c, false)
		return b.Text
	}
	if got := told("/p"); !strings.Contains(got, want) {
		t.Errorf("told is %s", got)
	}
	if got := told("/q"); strings.Contains(got, "relay") {
		t.Errorf("another project is told %s", got)
	}
	if lines, err := w.Profile(t.Context(), Filter{}); err != nil || len(lines) != 0 {
		t.Errorf("the profile has %+v, %v", lines, err)
	}
	list := func() string {
		t.Helper()
		all, err := w.List(t.Context(), Filter{Notes: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range all {
			got = append(got, fmt.Sprint(m.Content, m.Files, m.ReplacedBy == ""))
		}
		return strings.Join(got, "; ")
	}
	newer := w.noted("second", Note{Text: "Prompts are kept for 3 s, no longer for an answer's delay of 1.5 s.",
		Kind: "decision", Replaces: []string{kept[0].ID}})
	if got := told("/p"); strings.Contains(got, "acpx") {
		t.Errorf("what was replaced is told: %s", got)
	}
	if got := list(); got != "Prompts are kept for 3 s, no longer for an answer's delay of 1.5 s.[] true; "+
		"The relay keeps prompts for 1.5 s, because acpx gives up at 2 s.[proxy/held.go] false" {
		t.Errorf("listed are %s", got)
	}
	if err := w.Forget(t.Context(), newer[0].ID); err != nil {
		t.Fatal(err)
	}
	if got := told("/p"); !strings.Contains(got, want) {
		t.Errorf("without the newer one: %s", got)
	}
	if again := w.noted("second", Note{Text: newer[0].Content, Kind: "decision"}); len(again) != 0 {
		t.Errorf("what was forgotten is back: %+v", again)
	}
	session, err := w.journal.Find(t.Context(), "echo", "first")
	if err != nil {
		t.Fatal(err)
	}
	if of, err := w.NotesOf(t.Context(), []int64{session.ID}); err != nil || len(of[session.ID]) != 1 {
		t.Errorf("the session has %+v, %v", of, err)
	}
	if about, err := w.NotesAbout(t.Context(), "How long does the relay keep prompts?", "/p"); err != nil || len(about) != 1 {
		t.Errorf("for a brief: %+v, %v", about, err)
	}
	if _, err := w.journal.Forget(t.Context(), session.ID, w.Unlearn); err != nil {
		t.Fatal(err)
	}
	if got := list(); got != "" {
		t.Errorf("its session is forgotten, and the note is not: %s", got)
	}
}

// Only an agent's notes of the same project are replaced by others.
func TestNoteReplaces(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "first", "Go on.", "Done.")
	w.said("/q", "elsewhere", "Go on.", "Done.")
	typed, _, err := w.Add(t.Context(), Memory{Content: "Never push to main.", Type: "rule", Project: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	other := w.noted("elsewhere", Note{Text: "The mast is four metres long.", Kind: "finding"})
	w.noted("first", Note{Text: "The mast is nine metres long.", Kind: "finding",
		Replaces: []string{typed.ID, other[0].ID}})
	all, err := w.List(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.ReplacedBy != "" {
			t.Errorf("replaced: %+v", m)
		}
	}
}
