package delivery

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// What a tool stored while the daemon was away is there once it is back, and there once, whatever becomes of a post.
func TestDeliverMemory(t *testing.T) {
	const path = "/api/memory/remember"
	lost, unsearched := daemontest.Fault{Path: path, Kind: daemontest.DropAfter},
		daemontest.Fault{Path: "/api/memory/recall", Kind: daemontest.Drop}
	for name, faults := range map[string][]daemontest.Fault{
		"taken": nil, "no answer": {lost}, "not found by search": {unsearched},
		"no answer, and then not found": {lost, unsearched},
	} {
		for _, g := range kinds() {
			p := newPost(t, g)
			ctx := t.Context()
			s := p.say("one", turn("hello", "hello"))
			process, err := p.store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay,
				Memory: "auto", SignetPath: p.dir})
			check(t, err)
			if owed, err := process.OweMemory(ctx, s.Key, `{"content":"x"}`); owed || err != nil {
				t.Errorf("owed %v, though no daemon was ever there (%v)", owed, err)
			}
			check(t, correlationtest.Apply(ctx, p.store, process.ID(),
				correlation.DaemonAnswered{SignetPath: p.dir, URL: p.daemon.URL(), Version: g.Version()}))
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
			for _, fault := range faults {
				p.daemon.Fail(fault)
				p.work()
				p.daemon.Heal()
				p.later(time.Hour)
			}
			for range 2 {
				p.later(time.Hour)
				p.work()
			}
			if asked := p.daemon.Requests("/api/memory/recall"); len(asked) == 0 || !strings.Contains(string(asked[0].Body), `"limit":20`) {
				t.Errorf("%s %s: it is looked for by %+v", name, g.Version(), asked)
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
	for _, kind := range kinds() {
		t.Run(kind.Version(), func(t *testing.T) { deliverCompaction(t, newPost(t, kind)) })
	}
}

func deliverCompaction(t *testing.T, p *post) {
	ctx := t.Context()
	s := p.say("one", turn("hello", "hello"))
	process, err := p.store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon"})
	check(t, err)
	n, err := correlationtest.Number(ctx, p.store, process.ID(), s.ID)
	check(t, err)
	check(t, correlationtest.Apply(ctx, p.store, process.ID(),
		correlation.Summarised{Session: n, Text: "What was said <private>x</private>so far."}))
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

// What becomes of a memory by what it says and what the daemon answers.
func TestMemoryOutcomes(t *testing.T) {
	for name, tt := range map[string]struct {
		payload string
		reply   Reply
		err     error
		want    string // state, attempts, what is said of it, and whose memory the daemon got
	}{
		"taken":       {`{"content":"x"}`, Reply{Note: "kept"}, nil, "delivered 1 kept alto x"},
		"of another":  {`{"content":"x","agentId":"bass"}`, Reply{Note: "kept"}, nil, "delivered 1 kept bass x"},
		"with secret": {`{"content":"password=hunter2hunter2"}`, Reply{}, nil, "delivered 1  alto password=[redacted:password]"},
		"no JSON":     {`x`, Reply{}, nil, "dropped 0 it cannot be read "},
		"nothing":     {`{"type":"fact"}`, Reply{}, nil, "dropped 0 it cannot be read "},
		"refused":     {`{"content":"x"}`, Reply{Dropped: true, Why: "bad"}, nil, "dropped 1 bad alto x"},
		"an error":    {`{"content":"x"}`, Reply{}, errors.New("no"), "owed 1 no alto x"},
	} {
		b := newBench(t)
		got := ""
		b.daemon.keeps = func(m signet.Note) (Reply, error) {
			got = m.AgentID + " " + m.Content
			return tt.reply, tt.err
		}
		p := b.process(toDaemon)
		s, err := correlationtest.Session(t.Context(), b.Store, correlation.OpenSession{Harness: "echo", ACPID: "one",
			AgentID: "alto", Process: p.ID()})
		check(t, err)
		_, err = p.OweMemory(t.Context(), s.Key, tt.payload)
		check(t, errors.Join(err, p.End(t.Context(), "ended")))
		b.work()
		d := b.only(s)
		if have := fmt.Sprint(d.State, " ", d.Attempts, " ", d.Reply+d.Error, " ", got); have != tt.want {
			t.Errorf("%s: %s, want %s", name, have, tt.want)
		}
	}
}
