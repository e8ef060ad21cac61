package embedded

import (
	"fmt"
	"slices"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// told notes in the ledger that items went into a session, and has the answer said.
func (w *world) told(name, prompt, answer string, items ...string) int64 {
	w.t.Helper()
	session, err := w.journal.Open(w.t.Context(),
		correlation.OpenSession{Harness: "echo", ACPID: name, Cwd: "/p", Project: "/p"})
	if err != nil {
		w.t.Fatal(err)
	}
	list := "["
	for i, id := range items {
		if i > 0 {
			list += ","
		}
		list += fmt.Sprintf("%q", id)
	}
	_, err = w.db.Exec(`INSERT INTO injections (session, key, kind, block_id, source, bytes, fetch_ms, held_ms, at,
		outcome, items, text) VALUES (?, ?, 'context', 'b', 'embedded', 1, 1, 1, 1, 'kept', ?, 't')`,
		session.ID, session.Key, list+"]")
	if err != nil {
		w.t.Fatal(err)
	}
	w.said("/p", name, prompt, answer)
	return session.ID
}

func TestUse(t *testing.T) {
	w := newWorld(t)
	kiln := w.add(Memory{Content: "The kiln is fired at 1240 degrees with cone ten.", Project: "/p"})
	well := w.add(Memory{Content: "The well behind the orchard is eleven metres deep.", Project: "/p"})
	session := w.told("one", "How hot is the kiln?", "It is fired at 1240 degrees, cone ten.",
		kiln.ID, well.ID, "a daemon's")
	uses, err := w.Uses(t.Context(), session)
	if err != nil || len(uses) != 2 || !slices.Contains(uses, Use{kiln.ID, true}) ||
		!slices.Contains(uses, Use{well.ID, false}) {
		t.Errorf("%+v, %v", uses, err)
	}
	w.said("/p", "one", "And again?", "1240 degrees, cone ten.") // once a session
	for id, want := range map[string][2]int{kiln.ID: {1, 1}, well.ID: {1, 0}} {
		if m, err := w.Get(t.Context(), id); err != nil || m.Given != want[0] || m.Used != want[1] {
			t.Errorf("%s: told %d, used %d, %v; want %v", m.Content, m.Given, m.Used, err, want)
		}
	}
}

// What is told often and never used sinks, unless a person wants otherwise.
func TestUnusedSinks(t *testing.T) {
	w := newWorld(t)
	first := w.add(Memory{Content: "The orchard gate code is kept by the miller.", Project: "/p"})
	if _, err := w.db.Exec(`UPDATE passages SET given = ?`, 2*5); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(-1000)
	second := w.add(Memory{Content: "The orchard gate code is kept by the baker.", Project: "/p"})
	for keep, want := range map[bool]string{false: second.ID, true: first.ID} {
		w.opts.KeepUnused = keep
		if found := w.search("Who keeps the orchard gate code?"); len(found) != 2 || found[0].ID != want {
			t.Errorf("kept %v: found %+v", keep, found)
		}
	}
}
