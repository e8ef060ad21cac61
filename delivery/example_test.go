package delivery_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// One pass over what is due, as `signet-acp-proxy deliver --once` makes it.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := migrations.Open(ctx, filepath.Join(dir, "acp", "sessions.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	store := correlation.New(db, correlation.Options{LiveDir: filepath.Join(dir, "acp", "live")})
	info := correlation.ProcessInfo{Kind: correlation.Worker, Memory: "auto"}
	o := delivery.Options{Store: store, Dir: filepath.Join(dir, "acp", "transcripts")}
	left, err := delivery.Run(ctx, o, info, delivery.Retention{}, delivery.UntilPassed)
	fmt.Println(left, err)
	// Output: {0 0} <nil>
}
