package mcpserver_test

import (
	"context"
	"fmt"
	"os"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
)

// The memory tools on stdin and stdout, as `signet-acp-proxy mcp` has them.
func ExampleServer_Serve() {
	var store *embedded.Store // on a database that migrations.Open has opened
	server := mcpserver.New(mcpserver.Options{Store: func(context.Context) (*embedded.Store, error) {
		return store,
			nil
	}})
	defer server.Close()
	who := func() memory.Session { return memory.Session{Key: "acp-1", Project: "/boats"} }
	if err := server.Serve(context.Background(), who, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
