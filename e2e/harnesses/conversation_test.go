//go:build harnesses

package harnesses

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// slower is how much later than without us a harness may be gone: gemini does not go by itself where it has an MCP
// server and is given a second.
const slower = 2 * time.Second

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
	proxy, clients, modules := programs(t)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "harness\tversion\tcancel\tload\ttitles\tkill -9\tend direct\tthrough\tend after load direct\tthrough")
	for _, h := range harnesses {
		t.Run(h.name, func(t *testing.T) {
			r := conversed{}
			t.Run("direct", func(t *testing.T) {
				thinking := newThinker()
				s := h.stage(t, proxy, clients, modules, fakemodel.Start(thinking.reply))
				t.Cleanup(func() { close(thinking.over) }) // before the model is closed, which waits for its last answer
				r.direct = s.converse(thinking, false, "")
			})
			t.Run("through", func(t *testing.T) {
				tap := ""
				if os.Getenv("SIGNET_RECORD") != "" {
					tap = filepath.Join(t.TempDir(), "tap")
				}
				thinking := newThinker()
				s := h.stage(t, proxy, clients, modules, fakemodel.Start(thinking.reply))
				t.Cleanup(func() { close(thinking.over) })
				r.through = s.converse(thinking, true, tap)
				r.killed = s.killed(thinking)
			})
			for i, through := range r.through.ends {
				if late := through - r.direct.ends[i]; late > slower {
					t.Errorf("end %d: %v, and directly %v", i, through, r.direct.ends[i])
				}
			}
			short := func(d time.Duration) string { return d.Round(time.Millisecond).String() }
			fmt.Fprintln(w, strings.Join([]string{h.name, r.through.version, r.through.cancel, r.through.loaded,
				r.through.titles, r.killed,
				short(r.direct.ends[0]), short(r.through.ends[0]), short(r.direct.ends[1]), short(r.through.ends[1])}, "\t"))
		})
	}
	w.Flush()
}

type conversed struct {
	direct, through conversation
	killed          string
}

type conversation struct {
	version, cancel, loaded, titles string
	ends                            [2]time.Duration
}

func (s stage) converse(thinking *thinker, through bool, tap string) (c conversation) {
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
	c.version = about.AgentInfo.Version
	const question = "How long is the mast of the Curlew?"
	w.prompt(session, question)
	turn := w.prompting(session, think)
	thinking.await(t)
	w.send(map[string]any{"method": "session/cancel", "params": map[string]any{"sessionId": session}})
	stop := stopOf(t, w.await(turn))
	c.cancel = check(t, stop == "cancelled", "the cancelled turn ended with %q", stop)
	w.prompt(session, "Go on.")
	c.ends[0] = w.hangUp()
	shown, sent := strings.Join(w.seen, ""), w.sent

	w = s.connect(through, tap)
	if s.fickle {
		_, session = w.open(s.Work, "")
		w.prompt(session, question)
	} else {
		w.open(s.Work, session)
	}
	loaded := strings.Join(w.seen, "")
	if about.AgentCapabilities.SessionCapabilities.List != nil {
		w.call("session/list", map[string]any{"cwd": s.Work})
	}
	w.prompt(session, "And its boom?")
	c.ends[1] = w.hangUp()
	shown += strings.Join(w.seen, "")
	if tap != "" {
		s.record(tap, c.version, append(sent, w.sent...))
	}
	last := asked(s.model, "And its boom?")
	if s.fickle {
		c.loaded = "-"
	} else {
		c.loaded = check(t, strings.Contains(last, question),
			"the session was not loaded: the model was asked\n%s", last)
	}
	if through && !s.fickle {
		c.loaded = worse(c.loaded, check(t, strings.Contains(loaded, "mast of the Curlew"),
			"the history is not shown:\n%s", loaded))
	}
	if through {
		c.loaded = worse(c.loaded, check(t, strings.Count(last, mark) == 1, "%d contexts:\n%s",
			strings.Count(last, mark), last))
		c.titles = check(t, !strings.Contains(shown, mark[1:len(mark)-1]) && !strings.Contains(shown, "Halyard"),
			"our block is shown:\n%s", lines(shown, "signet-memory", "Halyard"))
	}
	if left := s.alone(); left == "NO" {
		c.loaded = left
	}
	return c
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
func (s stage) killed(thinking *thinker) string {
	t := s.t
	w := s.connect(true, "")
	_, session := w.open(s.Work, "")
	w.prompting(session, think)
	thinking.await(t)
	w.kill()
	gone := s.alone()
	result, err := s.Run(t.Context(), nil, s.proxy, "sessions", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		ID    string `json:"acpxSessionId"`
		Turns int
	}
	if err := json.Unmarshal([]byte(result.Stdout), &rows); err != nil {
		t.Fatalf("%v\n%s%s", err, result.Stdout, result.Stderr)
	}
	for _, row := range rows {
		if row.ID == session {
			return worse(gone, check(t, row.Turns == 1,
				"%d turns are kept of the session whose proxy was killed, want 1", row.Turns))
		}
	}
	return check(t, false, "the session is not there:\n%s", result.Stdout)
}
