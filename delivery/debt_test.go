package delivery

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// What a tool stored while the daemon was away is there once it is back, and there once, whatever becomes of a post.
func TestDeliverMemory(t *testing.T) {
	const path = "/api/memory/remember"
	for name, fault := range map[string]*daemontest.Fault{
		"taken": nil, "500": {Path: path, Kind: daemontest.Status}, "no answer": {Path: path, Kind: daemontest.DropAfter},
		"black hole":          {Path: path, Kind: daemontest.BlackHole},
		"not found by search": {Path: "/api/memory/recall", Kind: daemontest.Drop},
	} {
		for _, g := range daemontest.All {
			p := newPost(t, g)
			ctx := t.Context()
			s := p.say("one", turn("hello", "hello"))
			process, err := p.store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay,
				Memory: "auto", SignetPath: p.dir})
			check(t, err)
			if owed, err := process.OweMemory(ctx, s.Key, `{"content":"x"}`); owed || err != nil {
				t.Errorf("owed %v, though no daemon was ever there (%v)", owed, err)
			}
			check(t, p.store.Batch(ctx, process.ID(), func(b *correlation.Batch) error {
				return b.SawDaemon(p.dir, p.daemon.URL(), g.Version())
			}))
			owed, err := process.OweMemory(ctx, s.Key,
				`{"content":"Robin rows on the lake.","type":"fact","importance":0.5,"tags":"sport"}`)
			if check(t, err); !owed {
				t.Fatal("nothing is owed")
			}
			if _, err := process.OweMemory(ctx, "nobody's", `{"content":"x"}`); !errors.Is(err,
				correlation.ErrNotFound) {
				t.Errorf("under a key that nobody has: %v", err)
			}
			check(t, process.End(ctx, "ended"))
			if fault != nil {
				p.daemon.Fail(*fault)
			}
			p.workFor(500 * time.Millisecond)
			p.daemon.Heal()
			for range 2 {
				p.later(time.Hour)
				p.work()
			}
			all := p.daemon.Memories()
			if len(all) != 1 || all[0].Content != "Robin rows on the lake." || all[0].Type != "fact" ||
				all[0].Importance != 0.5 || all[0].Tags != "sport" {
				t.Errorf("%s %s: the daemon has %+v", name, g.Version(), all)
			}
		}
	}
}

// A harness's own summary is handed over once, without what is private, also where the daemon fails first.
func TestDeliverCompaction(t *testing.T) {
	for _, kind := range daemontest.All {
		t.Run(kind.Version(), func(t *testing.T) { deliverCompaction(t, newPost(t, kind)) })
	}
}

func deliverCompaction(t *testing.T, p *post) {
	ctx := t.Context()
	s := p.say("one", turn("hello", "hello"))
	process, err := p.store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon"})
	check(t, err)
	check(t, p.store.Batch(ctx, process.ID(), func(b *correlation.Batch) error {
		return b.Owe(correlation.Debt{Session: s.ID, Kind: correlation.KindCompaction,
			Payload: "What was said <private>x</private>so far."})
	}))
	check(t, process.End(ctx, "ended"))
	p.daemon.Fail(daemontest.Fault{Path: "/api/hooks/compaction-complete", Kind: daemontest.Status, Times: 1})
	p.work()
	p.later(time.Minute)
	p.work()
	got := p.daemon.Compactions()
	if len(got) != 1 || got[0].Key != s.Key || got[0].Summary != "What was said so far." {
		t.Errorf("%+v", got)
	}
}

// The daemon makes no summary of what was said in the folder for temporary files: it gets it all the same, and the row
// says so.
func TestDeliverTemporary(t *testing.T) {
	for _, kind := range daemontest.All {
		for folder, temporary := range map[string]bool{os.TempDir(): true, filepath.Join(os.TempDir(), "work"): true,
			os.TempDir() + "ing": false, "": false} {
			p := newPost(t, kind)
			process, err := p.store.Register(t.Context(), correlation.ProcessInfo{Kind: correlation.Relay,
				Memory: "daemon"})
			check(t, err)
			s, err := correlationtest.Session(t.Context(), p.store, correlation.OpenSession{Harness: "echo", ACPID: "one", Cwd: folder,
				Project: folder, Process: process.ID()})
			check(t, err)
			one := turn(long, long)
			one.Session, one.Process, one.Started, one.Ended = s.ID, process.ID(), p.clock(), p.clock()
			check(t, errors.Join(correlationtest.Save(t.Context(), p.store, []correlation.Turn{one}),
				process.End(t.Context(), "ended")))
			p.work()
			rows, err := p.store.Deliveries(t.Context(), s.ID)
			check(t, err)
			if len(rows) != 1 || rows[0].State != correlation.Delivered || len(p.daemon.Ends()) != 1 ||
				strings.Contains(rows[0].Reply, "temporary") != temporary {
				t.Errorf("%s, %q: %+v", kind.Version(), folder, rows)
			}
		}
	}
}
