// Command signet-acp-proxy gives any ACP agent a memory: it stands between
// an ACP client and the agent that it starts, and changes nothing about the
// conversation but that the agent is told who its user is and what it learned before.
package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the release build; others take it from the module.
var version = ""

func main() {
	if len(os.Args) > 1 && os.Args[1] == detachWord {
		os.Exit(detach(os.Args[2:]))
	}
	std := stdio{os.Stdin, os.Stdout, os.Stderr}
	if len(os.Args) == 4 && os.Args[1] == mcpWord && os.Args[2] == connectFlag {
		os.Exit(connectPipe(os.Args[3], std))
	}
	cobra.EnableCommandSorting = false // they stand in an order
	os.Exit(run(os.Args[1:], std))
}

// versionName is what --version prints.
func versionName() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
