//go:build unix

package upstream_test

import (
	"fmt"
	"io"
	"os"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// A harness is started, spoken to, and ends with its client.
func ExampleStart() {
	p, err := upstream.Start(upstream.Options{Command: []string{"cat"}, Stderr: os.Stderr})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Fprintln(p.Stdin, `{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
	p.Hangup()
	said, err := io.ReadAll(p.Stdout)
	fmt.Print(string(said))
	fmt.Println(err, p.Wait().Status())
	// Output:
	// {"jsonrpc":"2.0","id":0,"method":"initialize"}
	// <nil> 0
}

func ExampleLookup() {
	p, ok := upstream.Lookup("gemini")
	fmt.Println(ok, p.Command)
	// Output: true [gemini --acp]
}
