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
	p.say("one", turn("second", "two"))
	p.work()
	if diff := cmp.Diff([]string{"delivered 1", "owed 0"}, p.states(s)); diff != "" {
		t.Error(diff)
	}
	p.later(25 * time.Hour)
	p.work()
	ends := p.daemon.Ends()
	if last := len(ends) - 1; last < 1 || ends[last].Outcome != daemontest.Queued ||
		!strings.HasPrefix(ends[last].Transcript, "User: first") ||
		!strings.Contains(ends[last].Transcript, "User: second\nAssistant: two\n") {
		t.Errorf("%+v", ends)
	}
}

// Over 95,000 characters an older daemon, which keeps the first 100,000, gets parts; a newer one gets all at once.
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
			if diff := cmp.Diff([]string{"delivered 1"}, p.states(s)); g == daemontest.Newer && diff != "" {
				t.Error(diff)
			}
			var all strings.Builder
			queued := 0
			for i, e := range p.daemon.Ends() {
				if e.Outcome == daemontest.Duplicate { // the key is said to go on, and the part is posted again
					continue
				}
				queued++
				if e.Outcome != daemontest.Queued || e.Kept != e.Transcript ||
					g != daemontest.Newer && len(utf16.Encode([]rune(e.Transcript))) > 95000 {
					t.Errorf("part %d: %s, %d bytes", i, e.Outcome, len(e.Transcript))
				}
				all.WriteString(e.Transcript)
			}
			if (queued == 1) != (g == daemontest.Newer) {
				t.Errorf("%d parts", queued)
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
	for _, e := range p.daemon.Ends() {
		for i := range turns {
			if name := fmt.Sprintf("User: question %d ", i); strings.Contains(e.Transcript, name) {
				seen[name]++
			}
		}
	}
	if len(seen) != len(turns) {
		t.Errorf("%d of %d turns arrived: %v", len(seen), len(turns), p.states(s))
	}
	twice := 0
	for _, n := range seen {
		twice += n - 1
	}
	if twice > 4 { // as lead-in
		t.Errorf("%d turns arrived again", twice)
	}
}
