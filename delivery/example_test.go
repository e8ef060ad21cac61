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
	o := delivery.Options{Store: store, Folder: filepath.Join(dir, "acp")}
	left, err := delivery.Run(ctx, o, delivery.OnePass)
	fmt.Println(left, err)
	// Output: {0 0} <nil>
}
