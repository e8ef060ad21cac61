// Command echoagent is an ACP agent that answers with what it was given, block by block. It is what `make run` and
// the tests put behind the proxy: its sessions lie on disk, so that what reached it can be read there and
// session/load works in a new process, and it can be told to fail in the ways that real harnesses fail in. It holds
// no model.
//
//	ECHOAGENT_DIR=/tmp/echo echoagent -resume -list
//
// It exits when its standard input ends.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/Signet-AI/signet-acp-proxy/e2e/echoagent/agent"
)

func main() {
	var o agent.Options
	flag.StringVar(&o.Name, "name", "echoagent", "agentInfo.name of the initialize response")
	flag.BoolVar(&o.NoLoad, "no-load", false, "do not advertise session/load")
	flag.BoolVar(&o.Resume, "resume", false, "advertise session/resume")
	flag.BoolVar(&o.List, "list", false, "advertise session/list")
	flag.BoolVar(&o.Close, "close", false, "advertise session/close")
	flag.Parse()
	if err := agent.Run(o); err != nil {
		fmt.Fprintln(os.Stderr, "echoagent:", err)
		os.Exit(1)
	}
}
