//go:build harnesses

package harnesses

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// cancelledAfter are the moments at which a turn is cancelled, counted from when its prompt has reached the harness.
var cancelledAfter = []time.Duration{0, 15 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second}

// onceAfter is from which of them on the model has the block once; with an earlier one what the harness keeps cannot be
// told, and it may have it twice. Missing: never twice.
var onceAfter = map[string]time.Duration{
	"claude": time.Second, "codex": time.Second, "copilot": time.Second, "qwen": time.Second,
}

// silently are those that do not show that they have come to a prompt: on a busy machine they have to have had it for as
// long as they took to open a session.
var silently = []string{"claude", "qwen"}

// mast begins the second prompt of a session.
const mast = "How long is the mast of "

// slowly is how long a slow model thinks: it answers between the last two moments.
const slowly = 2 * time.Second

// A first prompt is cancelled, early and late, while the model is silent or slow, or once it has answered: the next
// reaches the model with the block in front of one of the two. -count 3 does it three times.
func TestCancelledFirst(t *testing.T) {
	for _, h := range slices.Concat(harnesses, others) {
		for _, model := range []string{"silent", "slow", "quick"} {
			t.Run(h.name+"/"+model, func(t *testing.T) {
				over := make(chan struct{})
				s := h.stage(t, func(r fakemodel.Request) fakemodel.Reply {
					if said := strings.Join(r.User, "\n"); strings.Contains(said, think) && !strings.Contains(said, mast) {
						switch model {
						case "silent":
							<-over
						case "slow":
							time.Sleep(slowly)
						}
					}
					return fakemodel.Reply{Text: "ok"}
				})
				t.Cleanup(func() { close(over) }) // before the model is closed, which waits for its last answer
				tap := filepath.Join(t.TempDir(), "tap")
				w := s.connect(true, tap)
				_, session := w.open(s.Work, "")
				first := rand.IntN(len(cancelledAfter)) // a process is slowest with its first prompt
				for i := range cancelledAfter {
					if i > 0 {
						session = w.session(s.Work)
					}
					s.cancelFirst(w, session, tap, model, cancelledAfter[(first+i)%len(cancelledAfter)])
				}
				w.hangUp()
				s.alone()
			})
		}
	}
}

// cancelFirst cancels the first prompt of a session, and counts what the model gets with the next.
func (s stage) cancelFirst(w *wire, session, tap, model string, after time.Duration) {
	t := s.t
	first := fmt.Sprintf("In %s: %s", session, think)
	turn, from := w.prompting(session, first), len(w.seen)
	awaitInFile(t, tap, first)
	time.Sleep(after)
	w.send(map[string]any{"method": "session/cancel", "params": map[string]any{"sessionId": session}})
	w.cancelled = turn
	stop := "an error"
	if result := w.await(turn); result != nil { // opencode may answer by one
		stop = stopOf(t, result)
		s.check("cancelled turn", stop == "cancelled" || model != "silent", "it ended with %q", stop)
	}
	signs := lines(strings.Join(w.seen[from:], ""), session)
	question := mast + session + "?"
	w.prompt(session, question)
	last := asked(s.model, question)
	n, most := strings.Count(last, mark), 1
	if from, ok := onceAfter[s.name]; ok && (after < from || slices.Contains(silently, s.name) && after < w.slowest) {
		most = 2
	}
	t.Logf("%s, %s model, after %v: %s, the prompt is there: %t, blocks: %d", s.name, model, after, stop,
		strings.Contains(last, first), n)
	row := fmt.Sprintf("blocks after a first prompt cancelled after %v", after)
	if n < 1 || n > most {
		s.check(row, false, "%d blocks, want 1 to %d, in\n%s\nafter\n%s", n, most, last, signs)
		return
	}
	if n == 2 || s.noted(row) == "twice" { // now and then
		s.note(row, "twice")
	} else {
		s.note(row, "once")
	}
}

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
