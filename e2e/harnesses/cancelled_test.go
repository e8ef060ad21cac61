//go:build harnesses

package harnesses

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// A first prompt is cancelled, as soon as the harness has it or while the model thinks: the next one of the session
// reaches the model with the context in front of one of the two. It stands there twice at most, and that only where
// what the harness keeps depends on how far it was.
func TestCancelledFirst(t *testing.T) {
	for _, h := range harnesses {
		for _, when := range []string{"early", "late"} {
			t.Run(h.name+" "+when, func(t *testing.T) {
				thinking := newThinker()
				s := h.stage(t, thinking.reply)
				t.Cleanup(func() { close(thinking.over) }) // before the model is closed, which waits for its last answer
				tap := filepath.Join(t.TempDir(), "tap")
				w := s.connect(true, tap)
				_, session := w.open(s.Work, "")
				turn := w.prompting(session, think)
				if when == "late" {
					thinking.await(t)
				} else {
					awaitInFile(t, tap, `"session/prompt"`)
				}
				w.send(map[string]any{"method": "session/cancel", "params": map[string]any{"sessionId": session}})
				w.cancelled = turn
				if result := w.await(turn); result != nil { // opencode may answer by an error
					stop := stopOf(t, result)
					s.check("cancelled turn", stop == "cancelled", "it ended with %q", stop)
				}
				const question = "How long is the mast of the Curlew?"
				w.prompt(session, question)
				w.hangUp()
				most := 2
				if p, _ := upstream.Lookup(h.name); p.Cancelled != upstream.CancelledBegun {
					most = 1
				}
				last := asked(s.model, question)
				n := strings.Count(last, mark)
				t.Logf("the cancelled prompt is there: %t; contexts: %d", strings.Contains(last, think), n)
				row := "context after a cancelled first prompt, early"
				if when == "late" {
					row = lateCancel
				}
				s.check(row, 1 <= n && n <= most,
					"%d contexts, want 1 to %d, in\n%s", n, most, last)
				s.alone()
			})
		}
	}
}

const lateCancel = "… cancelled late"

// awaitInFile waits until a file holds a text.
func awaitInFile(t *testing.T, file, text string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if held, err := os.ReadFile(file); err == nil && strings.Contains(string(held), text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not hold %s", file, text)
		}
	}
}
