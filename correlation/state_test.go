package correlation_test

import (
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

func TestSmoke(t *testing.T) {
	b := newBench(t)
	p := b.register(correlation.ProcessInfo{Memory: "daemon", Hook: true})
	v := b.open(correlation.OpenSession{ACPID: "s1", Process: p.ID(), Record: "r", Cwd: "/x", New: true})
	inj := must(b.Claim(b.ctx(), v.ID, []correlation.State{correlation.Armed}, p.ID(), correlation.Injection{Key: v.Key, Kind: "context", Text: "x", Items: []string{"a"}}))(t)
	check(t, b.Settle(b.ctx(), v.ID, p.ID(), correlation.Done))
	b.turn(v.ID, p.ID(), "hello", "hi")
	l := must(b.Injections(b.ctx(), v.ID))(t)
	if len(l) != 1 || l[0].ID != inj || l[0].Outcome != "kept" {
		t.Fatal(l)
	}
	r := must(b.Resolve(b.ctx(), "r"))(t)
	if !r.Live || r.Turns != 1 {
		t.Fatalf("%+v", r)
	}
	check(t, p.End(b.ctx(), "eof"))
	w := b.register(correlation.ProcessInfo{Kind: correlation.Worker})
	for range 2 {
		d := must(b.Lease(b.ctx(), w))(t)
		sel := must(b.Select(b.ctx(), d, true))(t)
		check(t, b.Attempt(b.ctx(), d, sel, "/f"))
		check(t, b.Delivered(b.ctx(), d, sel, "ok"))
	}
	if _, n, err := b.Due(b.ctx()); err != nil || n != 0 {
		t.Fatal(n, err)
	}
	f := must(b.Forget(b.ctx(), v.ID, nil))(t)
	if f.Turns != 1 {
		t.Fatal(f)
	}
	must(b.SweepDead(b.ctx()))(t)
}
