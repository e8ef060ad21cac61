package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/proxy"
)

// Without a backend a relay is a byte pump.
func ExampleRelay() {
	in, out := io.Pipe() // a harness that says what it hears
	var client bytes.Buffer
	relay := proxy.New(proxy.Options{
		Client: proxy.Client{In: strings.NewReader("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}\n"),
			Out: &client, Stderr: io.Discard},
		Harness: proxy.Harness{In: out, Out: in, Hangup: func() { out.Close() }},
	})
	err := relay.Run()
	fmt.Print(client.String())
	fmt.Println(err)
	// Output:
	// {"jsonrpc":"2.0","id":0,"method":"initialize"}
	// <nil>
}
