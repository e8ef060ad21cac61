package delivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// What became of each part is asked some minutes after the daemon has taken it, and nothing is posted again.
func TestBecame(t *testing.T) {
	for _, kind := range daemontest.All {
		for becomes, want := range map[string]correlation.JobState{
			daemontest.Completed: correlation.JobExtracted, daemontest.Dead: correlation.JobDead,
			daemontest.Waiting: correlation.JobPending, daemontest.Skipped: correlation.JobEmpty,
		} {
			if kind.Documented() && becomes == daemontest.Skipped {
				continue // it takes every transcript
			}
			t.Run(kind.Version()+" "+becomes, func(t *testing.T) { became(t, newPost(t, kind), becomes, want) })
		}
	}
}

func became(t *testing.T, p *post, becomes string, want correlation.JobState) {
	p.daemon.Extract(daemontest.Waiting)
	var turns []correlation.Turn
	for range 12 {
		turns = append(turns, turn(strings.Repeat("word ", 2000), "yes"))
	}
	s := p.say("one", turns...)
	p.work()
	states := func() (all []string) {
		rows, err := p.store.Book().DebtsOf(t.Context(), s.ID)
		check(t, err)
		for i, j := range rows[0].Jobs {
			all = append(all, fmt.Sprint(j.State, " ", len(j.Turns)))
			if want := fmt.Sprintf("%s.%d.%d", s.Key, rows[0].ID, i+1); j.Key != want || j.ID != p.daemon.Jobs()[i].ID {
				t.Errorf("%+v, want %s", j, want)
			}
		}
		return all
	}
	if diff := cmp.Diff([]string{"pending 6", "pending 6"}, states()); diff != "" {
		t.Error("before it was asked:", diff)
	}
	p.daemon.Extract(becomes)
	p.later(6 * time.Minute)
	p.daemon.Fail(daemontest.Fault{Path: "/api/sessions/summaries", Kind: daemontest.Status, Times: 2}) // with its retry
	p.work()
	p.work()
	if diff := cmp.Diff([]string{fmt.Sprint(want, " 6"), fmt.Sprint(want, " 6")}, states()); diff != "" {
		t.Error(diff)
	}
	if n := len(p.daemon.Jobs()); n != 2 {
		t.Errorf("%d jobs", n)
	}
	p.daemon.Extract(daemontest.Completed)
	p.later(2 * time.Hour)
	p.work()
	if want == correlation.JobPending {
		want = correlation.JobExtracted
	}
	if diff := cmp.Diff([]string{fmt.Sprint(want, " 6"), fmt.Sprint(want, " 6")}, states()); diff != "" {
		t.Error("later:", diff)
	}
}

// A key is freed at each daemon that holds it, whichever is configured now.
func TestKeysAtTheirAddresses(t *testing.T) {
	p := newPost(t, daemontest.Older)
	other := daemontest.Start(t, daemontest.Options{AgentsDir: p.dir, Now: p.clock})
	p.others = map[string]*daemontest.Daemon{other.URL(): other}
	ctx := t.Context()
	s, err := correlationtest.Session(ctx, p.store, correlation.OpenSession{Harness: "echo", ACPID: "one"})
	check(t, err)
	for _, url := range []string{"", other.URL()} {
		process, err := p.store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon", URL: url})
		check(t, err)
		check(t, correlationtest.Apply(ctx, p.store, process.ID(), correlation.KeyStarted{Key: s.Key}))
		check(t, process.End(ctx, "ended"))
	}
	p.later(time.Hour)
	other.Stop()
	p.work()
	check(t, other.Resume())
	p.work()
	p.work()
	for name, d := range map[string]*daemontest.Daemon{"the configured one": p.daemon, "the other": other} {
		if ends := d.Ends(s.Key); len(ends) != 1 || ends[0].Reason != "clear" {
			t.Errorf("%s: %+v", name, ends)
		}
	}
}
