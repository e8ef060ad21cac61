package delivery_test

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
)

// One pass over what is due, as `signet-acp-proxy deliver --once` makes it.
func ExampleRun() {
	ctx := context.Background()
	db, dir, remove := correlationtest.Open()
	defer remove()
	store := correlation.New(db, correlation.Options{LiveDir: filepath.Join(dir, "acp", "live")})
	info := correlation.ProcessInfo{Kind: correlation.Worker, Memory: "auto"}
	o := delivery.Options{Store: store, Dir: filepath.Join(dir, "acp", "transcripts")}
	left, err := delivery.Run(ctx, o, info, delivery.Retention{}, delivery.OnePass)
	fmt.Println(left, err)
	// Output: {0 0} <nil>
}
