package delivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
