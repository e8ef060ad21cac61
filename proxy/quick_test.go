package proxy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// A weighed file of events knows how much text it is given before anybody waits for it.
type weighed struct {
	Events
	given, most int
}

func (w *weighed) Append(events ...correlation.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case correlation.UserSaid:
			w.given += len(e.Text)
		case correlation.AssistantSaid:
			w.given += len(e.Text)
		}
	}
	w.most = max(w.most, w.given)
	w.Events.Append(events...)
}

func (w *weighed) Flush(context.Context) error {
	w.given = 0
	return nil
}

// Of words that come faster than they can be written down nothing is lost: the file holds half a megabyte that the disk
// has not taken yet, and is waited for before it has that. A disk that hangs is waited for once a round.
func TestQuickWords(t *testing.T) {
	if testing.Short() {
		t.Skip("it has one goroutine")
	}
	q := newQuiet(t).opened()
	file := &weighed{Events: &q.events}
	q.file = file
	words := strings.TrimSpace(strings.Repeat("and so on, ", 2400))
	for n := range 100 {
		q.sends(t, promptOf(n, words))
		q.says(t, update("s1", saying(words+"\n")), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, n))
	}
	if got := q.recorded(); len(got) != 101 || got[99] != "user: "+words || len(got[100]) < 100*len(words) {
		t.Errorf("%d records", len(got))
	}
	if file.most >= 512<<10 || file.most < maxUnsaved {
		t.Errorf("the file was given %d bytes at a time", file.most)
	}
	r := q.recorder
	for _, step := range []struct{ unsaved, bytes, left int }{{maxUnsaved - 2, 1, maxUnsaved - 1}, {maxUnsaved - 2, 2, 0}} {
		r.unsaved = step.unsaved
		if r.waitForSpace(step.bytes); r.unsaved != step.left {
			t.Errorf("%d bytes and %d: %d are not saved", step.unsaved, step.bytes, r.unsaved)
		}
	}
}
