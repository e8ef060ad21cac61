package correlation_test

import (
	"testing"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// What people tell sessions by: the first words of each, and words that were said by either side, in letters of any
// case.
func TestFirstWordsAndMentioning(t *testing.T) {
	b := newBench(t)
	one := b.open(OpenSession{ACPID: "one", Key: "k1"})
	two := b.open(OpenSession{ACPID: "two", Key: "k2"})
	empty := b.open(OpenSession{ACPID: "three", Key: "k3"})
	id := b.save(Turn{Session: one.ID, Process: "p", User: "How long is the mast?"})
	b.save(Turn{ID: id, Assistant: "11.42 metres, of SPRUCE"})
	b.save(Turn{Session: one.ID, Process: "p", User: "And the boom?"})
	b.save(Turn{Session: two.ID, Process: "p", User: "Where is the schema?"})
	words := must(b.FirstWords(b.ctx()))(t)
	if len(words) != 2 || words[one.ID] != "How long is the mast?" || words[two.ID] != "Where is the schema?" {
		t.Errorf("%v, without %d", words, empty.ID)
	}
	for word, want := range map[string][2]bool{"boom": {true, false}, "spruce": {true, false}, "THE": {true, true},
		"keel": {}} {
		said := must(b.Mentioning(b.ctx(), word))(t)
		if said[one.ID] != want[0] || said[two.ID] != want[1] {
			t.Errorf("%q: %v, want %v", word, said, want)
		}
	}
	if usage := must(b.LastUsage(b.ctx()))(t); len(usage) != 0 {
		t.Errorf("nobody reported %v", usage)
	}
}
