package correlation_test

import (
	"errors"
	"testing"
	"time"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

func TestTakeContext(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s"})
	save := func(text string) { check(t, b.storeContext(v.ID, "k", text)) }
	save("old")
	save("")
	b.clock.Advance(time.Minute)
	if payload, key, err := b.TakeContext(t.Context(), v.ID, time.Minute); err != nil || payload == nil ||
		len(payload) != 0 || key != "k" {
		t.Errorf("%q %q %v, want the newer, empty one", payload, key, err)
	}
	if _, _, err := b.TakeContext(t.Context(), v.ID, time.Minute); !errors.Is(err, ErrNotFound) {
		t.Errorf("taken twice: %v", err)
	}
	save("x")
	b.clock.Advance(time.Minute + time.Millisecond)
	for range 2 {
		if _, _, err := b.TakeContext(t.Context(), v.ID, time.Minute); !errors.Is(err, ErrNotFound) {
			t.Errorf("too old: %v", err)
		}
	}
	if n := b.count("SELECT count(*) FROM sessions WHERE context_at > 0"); n != 0 {
		t.Error("one that is too old was kept")
	}
}

func TestDropContexts(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"old", "young"} {
		v := b.open(OpenSession{ACPID: name})
		check(t, b.storeContext(v.ID, v.Key, name))
		b.clock.Advance(time.Minute)
	}
	check(t, b.DropContexts(t.Context(), 90*time.Second))
	tx := must(b.another().db.BeginTx(t.Context(), nil))(t)
	check(t, b.DropContexts(t.Context(), 90*time.Second)) // where nothing is old it waits for nobody's lock
	check(t, tx.Rollback())
	if n := b.count("SELECT count(*) FROM sessions WHERE context = CAST('young' AS BLOB)"); n != 1 ||
		b.count("SELECT count(*) FROM sessions WHERE context_at > 0") != 1 {
		t.Error("not the old one went")
	}
}
