// Command signet-acp-proxy gives any ACP agent a memory: it stands between
// an ACP client and the agent that it starts, and changes nothing about the
// conversation but that the agent is told who its user is and what it learned before.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
)

// version is set by the release build; others take it from the module.
var version = ""

func main() {
	if len(os.Args) > 1 && os.Args[1] == delivery.DetachWord {
		if delivery.Detach(os.Args[2:]) != nil {
			os.Exit(exitNotStarted)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == bounds.Word {
		err := bounds.Launch(os.Args[2:])
		fmt.Fprintln(os.Stderr, "signet-acp-proxy:", err)
		os.Exit(exitNotStarted)
	}
	runtime.Version = versionName()
	std := term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	if len(os.Args) == 4 && os.Args[1] == runtime.MCPWord && os.Args[2] == runtime.ConnectFlag {
		os.Exit(connectPipe(os.Args[3], std))
	}
	cobra.EnableCommandSorting = false // grammar has them in a useful order
	os.Exit(run(os.Args[1:], std))
}

// versionName is the release's version, or that of the Go module if it was built by its path.
func versionName() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
