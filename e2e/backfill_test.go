package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// dialogues are what two people said to each other: the first of them begins each session as the user.
var dialogues = [][]string{
	{"We keep the Curlew in Falmouth. Her keel is lead.", "How much does the keel weigh?",
		"It weighs 1,730 kg.\n\nAnd I prefer spruce for the mast.", "Spruce it is. Mr. Penrose has some, e.g. for topmasts."},
	{"The Bittern was sold in March.", "To whom was she sold?", "To a doctor in Truro, who sails her on Sundays.",
		"Then the mooring is free.", "We decided to give it to the Heron.", "I have noted that."},
}

// Dialogues that are written out as transcripts of Claude's and taken in by --watch leave the same passages, and tell a
// first prompt the same, as those that are held through the relay.
func TestBackfillIsAsGoodAsTheRelay(t *testing.T) {
	t.Parallel()
	held := newBox(t)
	held.set("SIGNET_ACP_MEMORY=embedded")
	for n, said := range dialogues {
		held.hold(fmt.Sprintf("talk-d-%03d-0123456789", n), said)
	}

	written := newBox(t)
	written.set("SIGNET_ACP_MEMORY=embedded")
	type utterance struct {
		Who  string `json:"who"`
		Text string `json:"text"`
		At   string `json:"at"`
	}
	type session struct {
		N     int         `json:"n"`
		Turns []utterance `json:"turns"`
	}
	var sessions []session
	for n, said := range dialogues {
		s := session{N: n}
		for i, text := range said {
			for _, part := range strings.Split(text, "\n\n") { // one after the other is one turn
				at := fmt.Sprintf("2026-03-0%dT08:%02d:00Z", n+1, i)
				s.Turns = append(s.Turns, utterance{[]string{"Ann", "Bob"}[i%2], part, at})
			}
		}
		sessions = append(sessions, s)
	}
	text, err := json.Marshal(map[string]any{"name": "d", "speakers": []string{"Ann", "Bob"}, "sessions": sessions})
	must(written, err)
	file := filepath.Join(written.Dir, "d.json")
	must(written, os.WriteFile(file, text, 0o600))
	written.run(transcriptsBin, written.Home, written.Work, file)
	watch, err := written.start(t, nil, proxyBin, "memory", "backfill", "--watch", "claude")
	must(written, err)
	if line := watch.until("imported"); !strings.Contains(line, "2 conversations, 5 turns") {
		t.Error(line)
	}
	must(written, watch.cmd.Process.Signal(os.Interrupt))
	if code := watch.code(); code != 0 {
		t.Errorf("interrupted: exit %d\n%s", code, watch.said())
	}

	if diff := cmp.Diff(held.passages(), written.passages()); diff != "" {
		t.Errorf("passages (-relay +backfill):\n%s", diff)
	}
	for _, prompt := range []string{"How much does the keel of the Curlew weigh?", "Who bought the Bittern?",
		"Which wood is for the mast?", "Good morning."} {
		diff := cmp.Diff(held.toldOf(prompt), written.toldOf(prompt))
		if diff != "" {
			t.Errorf("%s (-relay +backfill):\n%s", prompt, diff)
		}
	}
	told := written.toldOf("How much does the keel of the Curlew weigh?")
	if !strings.Contains(fmt.Sprint(told), "1,730 kg") {
		t.Errorf("a first prompt is told %q", told)
	}
}

// With backfill: auto a first prompt starts a sweep, which takes in what agents have written outside of the proxy, and
// leaves what may still be written.
func TestFirstPromptStartsASweep(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.set("SIGNET_ACP_MEMORY=embedded", "SIGNET_ACP_BACKFILL=auto")
	for id, age := range map[string]time.Duration{"old": time.Hour, "fresh": 0} {
		file := filepath.Join(b.Home, ".claude", "projects", "-w", id+".jsonl")
		must(b, os.MkdirAll(filepath.Dir(file), 0o700))
		line := `{"type":%q,"sessionId":%q,"timestamp":"2026-03-01T08:00:00Z","message":{"content":"of the %s one"}}` + "\n"
		must(b, os.WriteFile(file, []byte(fmt.Sprintf(line+line, "user", id, id, "assistant", id, id)), 0o600))
		must(b, os.Chtimes(file, time.Time{}, time.Now().Add(-age)))
	}
	c := b.connect(nil, echoBin)
	c.say(c.open(), "Good morning.")
	b.wait("the sweep's end", func() bool {
		done, err := os.Stat(filepath.Join(filepath.Dir(b.database()), "backfill.lock"))
		return err == nil && done.Size() > 0
	})
	c.end()
	want := [][2]string{{"assistant", "of the old one"}, {"user", "of the old one"}}
	got := slices.DeleteFunc(b.passages(), func(p [2]string) bool { return !strings.HasPrefix(p[1], "of the") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// hold holds a conversation through the relay.
func (b *box) hold(session string, said []string) {
	b.t.Helper()
	all := []exchange{initialized, opening(b.Work, session)}
	for i := 0; i < len(said); i += 2 {
		all = append(all, turn(2+i, session, said[i], said[i+1]))
	}
	b.converse(nil, all...)
}

// passages are what the memory has of conversations, by whom it was said.
func (b *box) passages() (all [][2]string) {
	b.t.Helper()
	var rows []struct{ Content, Origin string }
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "memory", "list", "--said", "--json", "--limit", "1000")), &rows))
	for _, r := range rows {
		all = append(all, [2]string{r.Origin, r.Content})
	}
	slices.SortFunc(all, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	return all
}

// toldOf is what a first prompt would be told.
func (b *box) toldOf(prompt string) (items [][2]string) {
	b.t.Helper()
	var p struct {
		Items []struct{ Content, Why string }
	}
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "preview", "--json", "--prompt", prompt)), &p))
	for _, it := range p.Items {
		items = append(items, [2]string{it.Why, it.Content})
	}
	return items
}
