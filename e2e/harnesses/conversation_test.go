//go:build harnesses

package harnesses

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// How much later than without us a harness may be gone, on any machine: measured it is below 100 ms. It is more after a
// load, which is looked at once; and gemini, which does not go by itself where it has an MCP server, is given a second.
const (
	slower          = 500 * time.Millisecond
	slowerAfterLoad = 2 * time.Second
	geminisSecond   = time.Second
)

// looks is how many ends of each kind are looked at: the middle one counts.
const looks = 5

// A thinker is a model that says nothing to "Think it over." until it is told to.
type thinker struct {
	asked chan struct{}
	over  chan struct{}
}

const think = "Think it over."

func newThinker() *thinker {
	return &thinker{asked: make(chan struct{}, 1000), over: make(chan struct{})}
}

func (m *thinker) reply(r fakemodel.Request) fakemodel.Reply {
	if n := len(r.User); n > 0 && strings.HasSuffix(strings.TrimSpace(r.User[n-1]), think) {
		m.asked <- struct{}{}
		<-m.over
	}
	return fakemodel.Reply{Text: "ok"}
}

// await waits until the model has been asked.
func (m *thinker) await(t *testing.T) {
	t.Helper()
	select {
	case <-m.asked:
	case <-time.After(patience):
		t.Fatal("the model was not asked")
	}
}

// The same conversation directly and through the proxy: a turn, a cancelled one, one after it, the end; the session
// loaded in a new process, its titles, a turn, the end. Then a proxy that is killed in the turn.
func TestConversation(t *testing.T) {
	for _, h := range harnesses {
		t.Run(h.name, func(t *testing.T) {
			var ends [2][2]time.Duration // direct and through, at the end and after a load
			for i, way := range []string{"direct", "through us"} {
				t.Run(way, func(t *testing.T) {
					tap := ""
					if i == 1 && os.Getenv("SIGNET_RECORD") != "" {
						tap = filepath.Join(t.TempDir(), "tap")
					}
					thinking := newThinker()
					s := h.stage(t, thinking.reply)
					t.Cleanup(func() { close(thinking.over) }) // before the model is closed, which waits for its last answer
					ends[i] = s.converse(thinking, i == 1, tap)
					all := []time.Duration{ends[i][0]}
					for len(all) < looks {
						all = append(all, s.shortly(i == 1))
					}
					slices.Sort(all)
					ends[i][0] = all[looks/2]
					t.Logf("ends: %v", all)
					for at, what := range []string{"end, ", "end after a load, "} {
						h.note(what+way, ends[i][at].Round(time.Millisecond).String())
					}
					if i == 1 {
						s.killed(thinking)
					}
				})
			}
			for i, limit := range []time.Duration{slower, slowerAfterLoad} {
				if h.name == "gemini" {
					limit += geminisSecond
				}
				if late := ends[1][i] - ends[0][i]; late > limit {
					t.Errorf("end %d: %v, and directly %v", i, ends[1][i], ends[0][i])
				}
			}
		})
	}
}

// converse holds the conversation and says how long the harness took to go, twice.
func (s stage) converse(thinking *thinker, through bool, tap string) (ends [2]time.Duration) {
	t := s.t
	w := s.connect(through, tap)
	initialized, session := w.open(s.Work, "")
	var about struct {
		AgentInfo         struct{ Version string }
		AgentCapabilities struct {
			SessionCapabilities struct{ List map[string]any }
		}
	}
	if err := json.Unmarshal(initialized, &about); err != nil {
		t.Fatal(err)
	}
	s.note("version", about.AgentInfo.Version)
	const question = "How long is the mast of the Curlew?"
	w.prompt(session, question)
	turn := w.prompting(session, think)
	thinking.await(t)
	w.send(map[string]any{"method": "session/cancel", "params": map[string]any{"sessionId": session}})
	stop := stopOf(t, w.await(turn))
	s.check("cancelled turn", stop == "cancelled", "it ended with %q", stop)
	w.prompt(session, "Go on.")
	ends[0] = s.end(w)
	shown, sent := strings.Join(w.seen, ""), w.sent

	s.aged()
	w = s.connect(through, tap)
	w.open(s.Work, session)
	if about.AgentCapabilities.SessionCapabilities.List != nil {
		w.call("session/list", map[string]any{"cwd": s.Work})
	}
	w.prompt(session, "And its boom?")
	ends[1] = s.end(w)
	replayed := strings.Join(w.seen, "") // some go on with the history behind the response
	shown += replayed
	if tap != "" {
		s.record(tap, about.AgentInfo.Version, append(sent, w.sent...))
	}
	last := asked(s.model, "And its boom?")
	s.check("session loaded in a new process", strings.Contains(last, question), "the model was asked\n%s", last)
	if through {
		s.check("history and titles without our block", strings.Contains(replayed, "mast of the Curlew") &&
			!strings.Contains(shown, mark[1:len(mark)-1]) && !strings.Contains(shown, "Halyard"),
			"shown was\n%s\nof\n%.2000s", lines(shown, "signet-memory", "Halyard"), replayed)
		s.check("… once, also in the next process", strings.Count(last, mark) == 1, "%d contexts:\n%s",
			strings.Count(last, mark), last)
	}
	s.alone()
	return ends
}

// shortly has one turn and says how long the harness took to go.
func (s stage) shortly(through bool) time.Duration {
	w := s.connect(through, "")
	_, session := w.open(s.Work, "")
	w.prompt(session, "And its rudder?")
	return s.end(w)
}

// end ends a conversation and says how long that took, whatever else keeps the machine busy.
func (s stage) end(w *wire) time.Duration {
	defer s.ahead()()
	return w.hangUp()
}

// lines are those with one of the words.
func lines(text string, words ...string) string {
	var found []string
	for line := range strings.Lines(text) {
		for _, word := range words {
			if strings.Contains(line, word) {
				found = append(found, fmt.Sprintf("%.2000s", line))
				break
			}
		}
	}
	return strings.Join(found, "")
}

// killed kills the proxy in a turn: the harness goes too, and what was said is there.
func (s stage) killed(thinking *thinker) {
	t := s.t
	w := s.connect(true, "")
	_, session := w.open(s.Work, "")
	w.prompting(session, think)
	thinking.await(t)
	w.kill()
	s.alone()
	var rows []struct {
		ID    string `json:"acpxSessionId"`
		Turns int
	}
	text := s.run(s.proxy, "sessions", "--json")
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	kept := false
	for _, row := range rows {
		kept = kept || row.ID == session && row.Turns == 1
	}
	s.check("proxy killed in a turn: the turn is kept", kept, "of session %s:\n%s", session, text)
}
