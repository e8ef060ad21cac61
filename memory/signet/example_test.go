package signet_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// A daemon that is not there is no reason to stop: there is the embedded store.
func ExampleClient_Start() {
	daemon, err := signet.New(signet.Options{URL: "http://127.0.0.1:1", Configured: true}) // nobody listens there
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = daemon.Start(context.Background(), memory.Session{Key: "acp-1", Harness: "acp"})
	fmt.Println(errors.Is(err, memory.ErrUnavailable))
	// Output: true
}
