package correlation_test

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
)

// A process claims the first prompt of a session; nobody else may put a context in then.
func ExampleStore_Claim() {
	ctx := context.Background()
	db, dir, remove := correlationtest.Open()
	defer remove()
	store := correlation.New(db, correlation.Options{LiveDir: filepath.Join(dir, "acp", "live")})
	process, err := store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "auto"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer process.End(ctx, "done")
	err = store.Batch(ctx, process.ID(), func(b *correlation.Batch) error {
		return b.Apply(correlation.Opened{Session: 1,
			Open: correlation.OpenSession{Harness: "claude", ACPID: "s", New: true}})
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := store.Find(ctx, "claude", "s")
	if err != nil {
		fmt.Println(err)
		return
	}
	block := correlation.Injection{Kind: "context", BlockID: "c1e7cd74e7d7", Text: "…", Source: "embedded"}
	for range 2 {
		_, err = store.Claim(ctx, s.ID, []correlation.State{correlation.Armed}, process.ID(), block)
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// claiming a session: the state has changed: it is "in flight"
}

// The table of states is a function.
func ExampleState_On() {
	next, became, ok := correlation.InFlight.On(correlation.Step{Name: correlation.Refused, From: correlation.Armed})
	fmt.Println(next, became, ok)
	_, _, ok = correlation.Armed.On(correlation.Step{Name: correlation.Answered})
	fmt.Println(ok)
	// Output:
	// armed refused true
	// false
}
