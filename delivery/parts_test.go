package delivery

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
	"github.com/google/go-cmp/cmp"
)

// deliverNews says something, and more later.
func deliverNews(t *testing.T, p *post) {
	s := p.say("one", turn("first "+long, "one"))
	p.work()
	p.say("one", turn("second "+long, "two"))
	p.work()
	if diff := cmp.Diff([]string{"delivered 1", "owed 0"}, p.states(s)); diff != "" {
		t.Error(diff)
	}
	p.later(25 * time.Hour)
	p.work()
	jobs := p.daemon.Jobs()
	if len(jobs) != 2 || !strings.HasPrefix(jobs[0].Text, "User: first") ||
		!strings.HasPrefix(jobs[1].Text, "User: second") || jobs[1].Key == jobs[0].Key {
		t.Errorf("%+v", jobs)
	}
}

// Daemons keep the first 100,000 characters, so over 95,000 they get parts.
func TestDeliverParts(t *testing.T) {
	var turns []correlation.Turn
	for i := range 40 {
		turns = append(turns, turn(fmt.Sprintf("question %d ", i)+strings.Repeat("ü😀 ", 900),
			fmt.Sprintf("answer %d ", i)+long+long))
	}
	turns[20].Assistant = "answer 20 " + strings.Repeat("word ", 60000) // 300,000 characters of one turn
	for _, g := range daemontest.All {
		t.Run(g.Version(), func(t *testing.T) {
			p := newPost(t, g)
			s := p.say("one", slices.Clone(turns)...)
			p.work()
			if states := p.states(s); !strings.HasPrefix(states[0], "delivered ") {
				t.Error(states)
			}
			var all strings.Builder
			for i, e := range p.daemon.Jobs() {
				if len(utf16.Encode([]rune(e.Text))) > 95000 {
					t.Errorf("part %d: %d bytes", i, len(e.Text))
				}
				all.WriteString(e.Text)
			}
			if n := len(p.daemon.Jobs()); n < 5 {
				t.Errorf("%d parts", n)
			}
			for i := range turns {
				for _, want := range []string{fmt.Sprintf("User: question %d ", i),
					fmt.Sprintf("Assistant: answer %d ", i)} {
					if strings.Count(all.String(), want) != 1 {
						t.Errorf("%q stands there %d times", want, strings.Count(all.String(), want))
					}
				}
			}
			if n := strings.Count(all.String(), "word"); n != 60000 {
				t.Errorf("%d words of the long answer", n)
			}
		})
	}
}

// A failure in the midst of the parts repeats none that was answered.
func TestDeliverPartsInterrupted(t *testing.T) {
	p := newPost(t, daemontest.Older)
	var turns []correlation.Turn
	for i := range 30 {
		turns = append(turns, turn(fmt.Sprintf("question %d ", i)+strings.Repeat("word ", 2000), "yes"))
	}
	s := p.say("one", turns...)
	p.daemon.Fail(daemontest.Fault{Path: endPath, Kind: daemontest.Slow, Times: 2})
	p.daemon.Fail(daemontest.Fault{Path: endPath, Kind: daemontest.Status})
	p.work()
	if diff := cmp.Diff([]string{"owed 3"}, p.states(s)); diff != "" {
		t.Error(diff)
	}
	p.daemon.Heal()
	p.later(time.Minute)
	p.work()
	seen := map[string]int{}
	for _, e := range p.daemon.Jobs() {
		for i := range turns {
			if name := fmt.Sprintf("User: question %d ", i); strings.Contains(e.Text, name) {
				seen[name]++
			}
		}
	}
	if len(seen) != len(turns) {
		t.Errorf("%d of %d turns arrived: %v", len(seen), len(turns), p.states(s))
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%q arrived %d times", name, n)
		}
	}
}
