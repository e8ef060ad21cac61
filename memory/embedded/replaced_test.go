package embedded

import (
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
)

// A passage names what has replaced it, also where that is not in the list.
func TestReplacedBy(t *testing.T) {
	w := newWorld(t)
	w.said("/p/boat", "first", "Which port does the harbour office use?", "The harbour office uses port 4411.",
		"Which port does the harbour office use?", "The harbour office uses port 4411.")
	w.said("/p/boat", "second", "We changed the port of the harbour office from 4411 to 5522.",
		"Understood: the harbour office uses port 5522 instead of port 4411.")
	q, ranked, err := w.rank(t.Context(), Query{Text: "Which port does the harbour office use?", Project: "/p/boat"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ranked {
		if p.By == nil {
			continue
		}
		found, err := w.read(t.Context(), &q, []*rank.Passage{p})
		by, failed := w.read(t.Context(), &q, []*rank.Passage{p.By})
		if err != nil || failed != nil || len(found) != 1 || len(by) != 1 || found[0].ReplacedBy != by[0].ID {
			t.Errorf("%+v is replaced by %+v: %v, %v", found, by, err, failed)
		}
		return
	}
	t.Fatal("nothing is replaced")
}
