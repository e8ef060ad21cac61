package embedded

import (
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A prompt that goes on with something is told the digest of that session; one that names nothing those of the last
// two; any other none.
func TestDigestByPrompt(t *testing.T) {
	w := newWorld(t)
	for _, session := range [][]string{
		{"ledger", "Move the ledger to Postgres.", "Where?", "let's store it in the heron schema", "The ledger is moved."},
		{"mast", "Paint the mast of the Curlew green.", "It is green."},
		{"boat", "Repair the hull of the dinghy.", "Next steps:\n- sand it"},
	} {
		w.said("/p", session[0], session[1:]...)
		w.now = w.now.Add(time.Hour)
	}
	for prompt, want := range map[string][]string{
		"continue with the ledger in Postgres": {"Move the ledger to Postgres. / decided: let's store it in the heron schema"},
		"continue":                             {"Repair the hull", "Paint the mast"},
		"hi":                                   nil,
		"what colour has the mast of the Curlew?": nil,
	} {
		c, err := w.Recall(t.Context(), memory.Session{Key: "new", Project: "/p"}, prompt, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range c.Items {
			if strings.HasPrefix(it.Text, "began with: ") {
				got = append(got, it.Text)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%q is told %q", prompt, got)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("%q is told %q, want %q", prompt, got[i], want[i])
			}
		}
	}
}
