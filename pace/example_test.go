package pace_test

import (
	"context"
	"fmt"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/pace"
)

// Work that nobody waits for has a tenth of a core.
func Example() {
	ctx := pace.Gently(context.Background())
	began := time.Now()
	// … some milliseconds of work …
	pace.Pause(ctx, began)
	fmt.Println(pace.Rest(2 * time.Millisecond))
	// Output: 18ms
}
