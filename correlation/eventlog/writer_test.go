package eventlog_test

import (
	"os"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Our folder is removed while we live: what is said from then on is in a new file, with the session that it belongs to,
// and others see that we live.
func TestFolderRemoved(t *testing.T) {
	b := newBench(t)
	l := b.log(false)
	session, _ := conversation(l, "s")
	check(t, l.Flush(t.Context()))
	check(t, os.RemoveAll(b.dir))
	turn := number()
	l.Append(correlation.TurnBegan{Session: session, Turn: turn}, correlation.UserSaid{Turn: turn, Text: "is anybody there?"})
	check(t, l.AppendWait(t.Context(), correlation.TurnEnded{Turn: turn, Stop: "end_turn"}))
	if alive, err := correlation.Alive(b.dir, l.Process()); !alive || err != nil {
		t.Errorf("alive: %t, %v", alive, err)
	}
	must(l.Close(t.Context()))(t)
	b.sweep()
	turns := must(b.store.Turns(t.Context(), must(b.store.Find(t.Context(), "claude", "s"))(t).ID))(t)
	if len(turns) != 1 || turns[0].User != "is anybody there?" || turns[0].Stop != "end_turn" {
		t.Errorf("%+v", turns)
	}
}

// Lines that the database does not take are left out, however many there are; what stands around them is taken in.
func TestRefusedLines(t *testing.T) {
	b := newBench(t)
	if _, err := b.db.Exec(`CREATE TRIGGER refuse BEFORE UPDATE OF record ON sessions WHEN new.record LIKE 'poison%'
		BEGIN SELECT RAISE(ABORT, 'no'); END`); err != nil {
		t.Fatal(err)
	}
	l := b.log(false)
	session, _ := conversation(l, "s")
	for _, record := range []string{"poison 1", "poison 2", "poison 3", "r"} {
		l.Append(correlation.RecordKnown{Session: session, Record: record})
	}
	must(l.Close(t.Context()))(t)
	if did := b.sweep(); did.Files != 1 {
		t.Errorf("%+v", did)
	}
	if n := b.count("SELECT count(*) FROM sessions WHERE record = 'r'"); n != 1 {
		t.Errorf("%d sessions have the record that came last", n)
	}
}
