package delivery

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// A session that goes on hands over what it has: as a checkpoint where the daemon offers that, which leaves its turns
// owed to its end, and as an end where it does not.
func TestDeliverSoFar(t *testing.T) {
	for _, kind := range daemontest.All {
		t.Run(kind.Version(), func(t *testing.T) {
			p := newPost(t, kind)
			ctx := t.Context()
			process, err := p.store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon"})
			check(t, err)
			s, err := p.store.Open(ctx, correlation.OpenSession{Harness: "echo", ACPID: "one", Cwd: "/work",
				Project: "/work",
				Process: process.ID()})
			check(t, err)
			say := func(user string) {
				one := turn(user+long, "Yes. "+long)
				one.Session, one.Process, one.Started, one.Ended = s.ID, process.ID(), p.clock(), p.clock()
				check(t, p.store.SaveTurns(ctx, []correlation.Turn{one}))
				p.later(time.Second)
			}
			say("first ")
			owed, err := process.OweSoFar(ctx, s.Key)
			check(t, err)
			if !owed {
				t.Fatal("nothing is owed")
			}
			p.work()
			checkpoints := p.daemon.Checkpoints()
			if kind != daemontest.Newer {
				if len(checkpoints) != 0 || cmp.Diff([]string{daemontest.Queued}, p.outcomes()) != "" {
					t.Errorf("%d checkpoints, ends: %v", len(checkpoints), p.outcomes())
				}
				say("last ")
				check(t, process.End(ctx, "ended"))
				p.work()
				ends := p.daemon.Ends() // the last turn is no job by itself, and it waits for none
				if last := ends[len(ends)-1]; last.Outcome != daemontest.Queued ||
					!strings.Contains(last.Kept, "User: last ") {
					t.Errorf("%+v", ends)
				}
				return
			}
			if len(checkpoints) != 1 || checkpoints[0].JobID == "" || checkpoints[0].Project != "/work" ||
				!strings.HasPrefix(checkpoints[0].Transcript, "User: first ") || len(p.outcomes()) != 0 {
				t.Fatalf("%+v, ends: %v", checkpoints, p.outcomes())
			}
			if diff := cmp.Diff([]string{"delivered 1"}, p.states(s)); diff != "" {
				t.Error(diff)
			}
			say("second ")
			check(t, process.End(ctx, "ended"))
			p.work()
			ends := p.daemon.Ends()
			if len(ends) != 1 || ends[0].Outcome != daemontest.Queued ||
				!strings.Contains(ends[0].Kept, "User: first ") || !strings.Contains(ends[0].Kept, "User: second ") {
				t.Errorf("%+v", ends)
			}
		})
	}
}
