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
func ExampleWorker() {
	ctx := context.Background()
	db, dir, remove := correlationtest.Open()
	defer remove()
	store := correlation.New(db, correlation.Options{LiveDir: filepath.Join(dir, "acp", "live")})
	w := delivery.Worker{Store: store, Folder: filepath.Join(dir, "acp")}
	left, err := w.Run(ctx, delivery.OnePass)
	fmt.Println(left, err)
	// Output: {0 0} <nil>
}
