package embedded

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

func openStore(t *testing.T) *Store {
	t.Helper()
	db, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "m.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return New(db, Options{})
}

// A short id names its memory and no other, and is short also where many were made at once.
func TestShort(t *testing.T) {
	s := openStore(t)
	for i := range 200 {
		if _, _, err := s.Add(t.Context(),
			Memory{Content: fmt.Sprintf("The log of day %d is written.", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"The mast is 11.42 metres long.", "The mainsail is new.",
		"The slipway is closed in November."} {
		m, _, err := s.Add(t.Context(), Memory{Content: text})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			short, err := s.Short(t.Context(), m.ID)
			if err != nil || len(short) < minID || len(short) > minID+2 {
				t.Fatalf("%s: %q, %v", m.ID, short, err)
			}
			if got, err := s.Get(t.Context(), short); err != nil || got.ID != m.ID {
				t.Errorf("%s names %s, %v", short, got.ID, err)
			}
		}()
	}
}

// What a person pins is told from a session's start, also after it was edited, whatever its type.
func TestPinned(t *testing.T) {
	s := openStore(t)
	m, _, err := s.Add(t.Context(), Memory{Content: "The mast of the Curlew is 11.42 metres long.",
		Type: "fact", Origin: "assistant"})
	if err != nil {
		t.Fatal(err)
	}
	told := func() (texts []string) {
		items, err := s.pinned(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			texts = append(texts, it.Text)
		}
		return texts
	}
	if got := told(); len(got) != 0 {
		t.Fatalf("told before it was pinned: %q", got)
	}
	if _, err := s.Modify(t.Context(), m.ID, Change{Source: Pinned, Who: memory.Pin}); err != nil {
		t.Fatal(err)
	}
	better := "The mast of the Curlew is 11.44 metres long."
	if _, err := s.Modify(t.Context(), m.ID, Change{Content: &better, Source: "memory edit", Who: memory.Typed}); err != nil {
		t.Fatal(err)
	}
	if got := told(); len(got) != 1 || got[0] != better {
		t.Errorf("told: %q", got)
	}
	// what an agent makes of it is no longer what the person pinned
	if _, err := s.Modify(t.Context(), m.ID, Change{Content: &better}); err != nil {
		t.Fatal(err)
	}
	if got := told(); len(got) != 0 {
		t.Errorf("told as changed by an agent: %q", got)
	}
}
