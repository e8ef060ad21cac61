package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A long turn is taken in by parts, so that nobody waits long for the database; who is killed between two of them has
// nothing twice.
func TestLongTurn(t *testing.T) {
	w := newWorld(t)
	const paragraphs = 3 * maxNewPassages
	text := func(who string) string {
		var b strings.Builder
		for i := range paragraphs {
			fmt.Fprintf(&b, "The %s counts crate %d of the harvest.\n\n", who, i)
		}
		return b.String()
	}
	session, err := correlationtest.Session(t.Context(), w.journal, correlation.OpenSession{Harness: "echo", ACPID: "a", Cwd: "/p",
		Project: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	if err := correlationtest.Save(t.Context(), w.journal, []correlation.Turn{{Session: session.ID, User: text("farmer"),
		Assistant: text("miller"), Started: w.now, Ended: w.now, Stop: "end_turn"}}); err != nil {
		t.Fatal(err)
	}
	count := func() (all, different, indexed int) {
		if err := w.db.QueryRow(`SELECT count(*), count(DISTINCT content), (SELECT count(*) FROM passages_fts)
			FROM passages`).Scan(&all, &different, &indexed); err != nil {
			t.Fatal(err)
		}
		return all, different, indexed
	}
	turns, err := correlation.Unlearned(t.Context(), w.db, 1)
	if err != nil || len(turns) != 1 {
		t.Fatalf("%d turns to learn from, %v", len(turns), err)
	}
	err = sqlite.Write(t.Context(), w.db, "beginning", func(tx *sql.Tx) error {
		more, err := saveLearned(t.Context(), tx, readTurn(turns[0]), maxNewPassages)
		if !more {
			t.Error("it is all there at once")
		}
		return err
	})
	if all, _, _ := count(); err != nil || all != maxNewPassages {
		t.Fatalf("%d passages, %v; want %d", all, err, maxNewPassages)
	}
	for range 2 {
		if err := w.Learn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if all, different, indexed := count(); all != 2*paragraphs || different != all || indexed != all {
			t.Errorf("%d passages, %d different, %d indexed; want %d", all, different, indexed, 2*paragraphs)
		}
	}
}

// How common a word is is counted where it is rare, and estimated where many have it.
func TestCounts(t *testing.T) {
	w := newWorld(t)
	var lines strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&lines, `{"content":"harbour pilot %d","tags":"%s"}`+"\n", i,
			map[bool]string{true: "anchor"}[i%500 == 0])
	}
	if _, err := w.Import(t.Context(), strings.NewReader(lines.String()), trusted); err != nil {
		t.Fatal(err)
	}
	terms := language.Ask("harbour anchor zeppelin").Terms
	for most, want := range map[int][2]int{10_000: {3000, 3000}, 200: {2700, 3300}} {
		lists, err := w.entries(t.Context(), "", terms, most)
		if err != nil || len(lists) != 3 {
			t.Fatalf("%d lists, %v", len(lists), err)
		}
		for i, want := range [][2]int{want, {6, 6}, {0, 0}} {
			if n := passageCount(lists[i], most); n < want[0] || n > want[1] {
				t.Errorf("read up to %d entries: list %d has %d", most, i, n)
			}
		}
	}
}

// Where there is no time, a prompt goes without.
func TestNoTime(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "a", "The lighthouse keeper paints the railing every April.", "Noted.")
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	c, err := w.Recall(ctx, memory.Session{Key: "k", Project: "/p"}, "Who paints the railing?", nil)
	if err != nil || len(c.Items) > 0 || c.CutOff == 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// What an agent asks of another is nobody's rule and no memory of the user's; what the other answers is found.
func TestDelegatedTurn(t *testing.T) {
	w := newWorld(t)
	session, err := correlationtest.Session(t.Context(), w.journal, correlation.OpenSession{Harness: "echo", ACPID: "child", Cwd: "/p",
		Project: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	turn := correlation.Turn{Session: session.ID, Delegation: "01M80NBSRTFAV0S21ENPW2PM13", Started: w.now, Ended: w.now,
		User:      "Always paint the hull of the heron with ochre.",
		Assistant: "The keel of the egret was caulked with oakum.", Stop: "end_turn"}
	ask := func() (user, answer string) {
		if err := w.Learn(t.Context()); err != nil {
			t.Fatal(err)
		}
		who := memory.Session{Key: "other", Project: "/p"}
		return w.recall(who, "With what is the hull of the heron painted?"),
			w.recall(who, "With what was the keel of the egret caulked?")
	}
	if err := correlationtest.Save(t.Context(), w.journal, []correlation.Turn{turn}); err != nil {
		t.Fatal(err)
	}
	if user, answer := ask(); strings.Contains(user, "ochre") || !strings.Contains(answer, "oakum") {
		t.Errorf("the task: %q; the answer: %q", user, answer)
	}
	b, _, err := w.Brief(t.Context(), session.ID)
	if text := b.Line(); err != nil || strings.Contains(text, "decided") {
		t.Errorf("%q, %v", text, err)
	}
	if last, err := correlation.LastSessions(t.Context(), w.db, "/p", [2]string{}, 5); len(last) != 0 || err != nil {
		t.Errorf("the last sessions: %v, %v", last, err)
	}
	turn.Delegation = ""
	if err := correlationtest.Save(t.Context(), w.journal, []correlation.Turn{turn}); err != nil {
		t.Fatal(err)
	}
	if user, _ := ask(); !strings.Contains(user, "ochre") {
		t.Errorf("what a person says: %q", user)
	}
}

// What an agent repeats of our blocks and of the prompt is neither learned nor told of as its own words, whether it was
// given blocks in the session or before it was forked; what it said before it was given them is, and so are a few
// equal lines.
func TestEchoes(t *testing.T) {
	w := newWorld(t)
	const told, own = "The mast of the Curlew is 11.42 metres long.", "The keel of the Heron weighs 1,730 kg."
	const mast, agreed = "The mast of the Heron is of spruce.", "We agreed to paint the hull of the Curlew white."
	const asks = "What is it like, the boat that lies in the shed?"
	ctx := t.Context()
	session := func(name string, fork int64) correlation.Session {
		s, err := correlationtest.Session(ctx, w.journal, correlation.OpenSession{Harness: "echo", ACPID: name, Cwd: "/p",
			Project: "/p", ForkOf: fork})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	given := func(s correlation.Session, text string) {
		n, err := correlationtest.Number(ctx, w.journal, "", s.ID)
		if err == nil {
			err = correlationtest.Apply(ctx, w.journal, "", correlation.Injected{Session: n, Injection: correlation.Injection{
				Kind: "context", BlockID: "1", Text: "<signet-memory>\n" + text + "\nNo.\n</signet-memory>\n\n"}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	says := func(s correlation.Session, answer string) []string {
		w.now = w.now.Add(time.Minute)
		turn := correlation.Turn{Session: s.ID, User: asks, Assistant: answer, Started: w.now, Ended: w.now,
			Stop: "end_turn"}
		if err := correlationtest.Save(ctx, w.journal, []correlation.Turn{turn}); err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(time.Minute)
		if err := w.Learn(ctx); err != nil {
			t.Fatal(err)
		}
		learned, err := sqlite.Collect(ctx, w.db, sqlite.One[string], `SELECT content FROM passages
			WHERE who = 'agent' AND turn = (SELECT max(id) FROM turns) ORDER BY position`)
		if err != nil {
			t.Fatal(err)
		}
		return learned
	}
	first, later := session("one", 0), session("two", 0)
	before := says(first, "> "+told+"\n\n"+own)
	given(first, told+"\n"+agreed)
	fork := session("fork", first.ID)
	forked := says(fork, told+"\n\n"+own)
	given(later, told)
	given(first, mast)
	for _, tt := range []struct {
		name      string
		got, want []string
	}{
		{"before it was given", before, []string{"> " + told, own}},
		{"quoted", says(first, "> "+told+"\n\n"+own), []string{own}},
		{"behind a tool", says(first, "I look.\f"+told+"\n"+own), []string{"I look.", own}},
		{"alone", says(first, told), nil},
		{"a few words", says(first, "No.\n"+own), []string{"No.\n" + own}},
		{"forked", forked, []string{own}},
		{"since it was forked", says(fork, mast), []string{mast}},
		{"another session", says(session("three", 0), told), []string{told}},
		{"the prompt", says(session("four", 0), "> "+asks+"\n"+own), []string{own}},
		{"another block", says(later, told+"\n"+own), []string{own}},
	} {
		if strings.Join(tt.got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s: learned %q, want %q", tt.name, tt.got, tt.want)
		}
	}
	// learning once more makes the same of the first turn, which comes before the block
	if _, err := w.db.Exec(`UPDATE turns SET learned = 0`); err != nil {
		t.Fatal(err)
	}
	if err := w.Learn(ctx); err != nil {
		t.Fatal(err)
	}
	if again, err := sqlite.Collect(ctx, w.db, sqlite.One[string], `SELECT content FROM passages WHERE turn = 1
		AND who = 'agent'`); err != nil || !slices.Equal(again, before) {
		t.Errorf("learned again: %q, %v", again, err)
	}
	says(fork, agreed+"\n\n"+own)
	turns, err := w.journal.Book().LastTurns(ctx, fork.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	last := Rounds(turns)[len(turns)-1]
	if len(last.Agreed) > 0 || !strings.Contains(last.Assistant, agreed) || strings.Contains(last.Result, "white") {
		t.Errorf("its brief: %+v", last)
	}
}
