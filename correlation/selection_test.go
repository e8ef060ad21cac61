package correlation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// What a delivery holds. a is a turn that an earlier delivery took, s while the session went on, d one that it dropped,
// n a new one of 100 characters, N of 500, o an open one.
func TestSelect(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		turns  string
		kind   string
		reason string
		age    time.Duration // of the turns
		posted int           // how many of the turns were there when a post was made that was not answered
		parts  int           // or of which one part was taken: 1
		want   string        // indexes
		first  bool
		wait   time.Duration // of the 24 hours from the oldest new turn on
	}{
		{turns: "n", want: "0", first: true},
		{turns: "nn", want: "01", first: true},
		{turns: "no", want: "0", first: true},
		{turns: "o", want: ""},
		{turns: "", want: ""},
		{turns: "aaa", want: ""},
		{turns: "dn", want: "01", first: true},
		{turns: "ad", want: "1", wait: day},
		{turns: "an", want: "1", wait: day},
		{turns: "an", age: time.Hour, want: "1", wait: 23 * time.Hour},
		{turns: "an", age: day, want: "1"},
		{turns: "an", kind: KindHook, want: "1"},
		{turns: "sn", want: "1"}, // the first end may be the last thing that is said
		{turns: "sn", reason: SoFar, want: "1", wait: day},
		{turns: "sn", reason: SoFar, kind: KindHook, want: "1"},
		{turns: "aNNNN", want: "1234", wait: day},
		{turns: "aNNNNN", want: "12345"},
		{turns: "annnn", want: "1234", wait: day},
		{turns: "annnnn", want: "12345"},
		{turns: "attttt", want: "12345", wait: day}, // five turns, too short
		{turns: "aaaaaannnnn", want: "6789A"},
		{turns: "aanaannnn", want: "25678"},
		{turns: "nn", posted: 1, want: "0", first: true}, // what is in doubt is posted as it was
		{turns: "annn", posted: 3, want: "12"},
		{turns: "annn", posted: 3, parts: 1, want: "12"}, // and so is what is left of parts
	} {
		t.Run(fmt.Sprintf("%s %s %s %d %d %v", tt.turns, tt.kind, tt.reason, tt.posted, tt.parts, tt.age), func(t *testing.T) {
			b := newBench(t)
			if tt.kind == "" {
				tt.kind = KindDaemon
			}
			p := b.register(ProcessInfo{})
			v := b.open(OpenSession{ACPID: "s"})
			taken := map[rune]int64{}
			for what, state := range map[rune]DebtState{'a': Delivered, 's': Delivered, 'd': Dropped} {
				if !strings.ContainsRune(tt.turns, what) {
					continue
				}
				r, err := b.db.ExecContext(t.Context(), `INSERT INTO debts (session, key, kind, reason, state,
					created, owed, due, done) VALUES (?, ?, ?, ?, ?, 1, 1, 1, 1)`,
					v.ID, v.Key, tt.kind, map[rune]string{'s': SoFar}[what], state)
				check(t, err)
				taken[what] = must(r.LastInsertId())(t)
			}
			index := make(map[int64]int)
			for i, what := range tt.turns {
				size := map[rune]int{'N': 500, 't': 10, 'a': 300}[what]
				if size == 0 {
					size = 100
				}
				say := b.turn
				if what == 'o' {
					say = b.openTurn
				}
				id := say(v.ID, p.ID(), strings.Repeat("u", size/2), strings.Repeat("a", size-size/2))
				index[id] = i
				_, err := b.db.ExecContext(t.Context(), `UPDATE turns SET daemon_delivery = ?1, hook_delivery = ?1
					WHERE id = ?2`, taken[what], id)
				check(t, err)
			}
			b.clock.Advance(tt.age)
			d := Debt{Key: v.Key, Kind: tt.kind, Reason: tt.reason, Session: v.ID}
			for id, i := range index {
				if i != tt.posted-1 {
					continue
				}
				_, err := b.db.ExecContext(t.Context(), `INSERT INTO debts (session, key, kind, reason, state,
					created, owed, due, unanswered, parts, posted_to) VALUES (?, ?, ?, '', ?, 1, 1, 1, ?, ?, ?)`,
					v.ID, v.Key, tt.kind, Unknown, 1-tt.parts, tt.parts, id)
				check(t, err)
				all := must(b.Book().DebtsOf(t.Context(), v.ID))(t)
				d = all[len(all)-1]
			}
			post := must(b.Debts().Select(t.Context(), d))(t)
			got := ""
			for _, turn := range post.Turns {
				got += fmt.Sprintf("%X", index[turn.ID])
			}
			if got != tt.want || post.First != tt.first {
				t.Errorf("holds %q, first %v; want %q, %v", got, post.First, tt.want, tt.first)
			}
			wait := time.Duration(0)
			if !post.Wait.IsZero() {
				wait = post.Wait.Sub(b.clock.Now())
			}
			if wait != tt.wait {
				t.Errorf("wait %v, want %v", wait, tt.wait)
			}
		})
	}
}
