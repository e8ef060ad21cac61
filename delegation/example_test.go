package delegation_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
)

// An agent asks another one. Asking twice is asking once, and an agent that nobody has configured is refused. Start,
// which would start the runner, only says here that it was called.
func ExampleService_Delegate() {
	ctx := context.Background()
	db, dir, remove := correlationtest.Open()
	defer remove()
	service := example(db, filepath.Join(dir, "live"))
	who := delegation.Caller{Key: "acp-1", Harness: "claude", Cwd: dir, Project: dir}
	request := delegation.Request{Agent: "codex", Task: "Review the parser.", Scope: "proxy/frame", Kept: "the release"}
	for range 2 {
		d, fresh, err := service.Delegate(ctx, who, request)
		fmt.Println(d.Agent, d.State, fresh, err)
	}
	request.Agent = "heron"
	_, _, err := service.Delegate(ctx, who, request)
	fmt.Println(err != nil)
	// Output:
	// started: Review the parser.
	// codex queued true <nil>
	// codex queued false <nil>
	// true
}

func example(db *sql.DB, live string) *delegation.Service {
	return &delegation.Service{
		Ledger: delegation.NewLedger(db, live, "/nowhere"),
		Known: func(context.Context) ([]delegation.Agent, error) {
			return []delegation.Agent{{ID: "codex", Bounds: delegation.BySystem}}, nil
		},
		Canonical: func(name string) string { return name },
		Start: func(_ delegation.Delegation, task string) error {
			fmt.Println("started:", task)
			return nil
		},
	}
}
