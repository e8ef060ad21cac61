package embedded

import (
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// The last line of a block says what else there is: of this project, and not of the session that asks.
func TestMore(t *testing.T) {
	w := newWorld(t)
	more := func(project string, keys ...string) string {
		t.Helper()
		got, err := w.more(t.Context(), Query{Project: project, keys: [2]string{append(keys, "")[0]}})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := more("/p"); got != "" {
		t.Errorf("of nothing %q", got)
	}
	w.said("/q", "other", "rewrite the heron nests", "Done.")
	key := ""
	for i, prompt := range []string{"fix the parser of the ledger", "why is the ledger slow?\n\nsecond: the ledger", "the parser drops " +
		"ferries", "add ferries to the invoices", "the ledger", "moorhen"} {
		w.now = w.now.Add(24 * time.Hour)
		key = w.said("/p", string(rune('a'+i)), prompt, "Done.", "and the moorhen", "Done.")
	}
	if got, want := more("/p"), "6 sessions since 2026-10-04, on ledger, ferries, parser"; got != want {
		t.Errorf("more is %q, want %q", got, want)
	}
	if got := more("/p", key); !strings.HasPrefix(got, "5 sessions since 2026-10-04") {
		t.Errorf("beside the session itself %q", got)
	}
	if got := more("/q"); got != "1 session of 2026-10-03" {
		t.Errorf("of one %q", got)
	}
	c, err := w.Recall(t.Context(), memory.Session{Key: "new", Project: "/p"}, "what about geese?", nil)
	if err != nil || !strings.HasPrefix(c.More, "6 sessions") || !c.Empty() {
		t.Errorf("beside nothing: %+v, %v", c, err)
	}
}
