package correlation_test

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/migrations/migrationstest"
)

// A process claims the first prompt of a session; nobody else may put a context in then.
func ExampleStore_Claim() {
	ctx := context.Background()
	db, dir, remove := migrationstest.Open()
	defer remove()
	store := correlation.New(db, correlation.Options{LiveDir: filepath.Join(dir, "acp", "live")})
	process, err := store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "auto"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer process.End(ctx, "done")
	s, err := store.Open(ctx, correlation.OpenSession{Harness: "claude", ACPID: "s", New: true, Process: process.ID()})
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
	next, became, ok := correlation.InFlight.On(correlation.Event{Name: correlation.Refused, From: correlation.Armed})
	fmt.Println(next, became, ok)
	_, _, ok = correlation.Armed.On(correlation.Event{Name: correlation.Answered})
	fmt.Println(ok)
	// Output:
	// armed refused true
	// false
}
