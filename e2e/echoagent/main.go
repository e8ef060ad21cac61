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
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	acp "github.com/coder/acp-go-sdk"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "echoagent:", err)
		os.Exit(1)
	}
}

func run() error {
	var can capabilities
	name := flag.String("name", "echoagent", "agentInfo.name of the initialize response")
	flag.BoolVar(&can.noLoad, "no-load", false, "do not advertise session/load")
	flag.BoolVar(&can.resume, "resume", false, "advertise session/resume")
	flag.BoolVar(&can.list, "list", false, "advertise session/list")
	flag.BoolVar(&can.fork, "fork", false, "advertise session/fork")
	flag.BoolVar(&can.close, "close", false, "advertise session/close")
	flag.BoolVar(&can.delete, "delete", false, "advertise session/delete")
	flag.Parse()

	dir := os.Getenv("ECHOAGENT_DIR")
	if dir == "" {
		return errors.New("ECHOAGENT_DIR must name the folder of the sessions")
	}
	sessions, err := openSessions(dir)
	if err != nil {
		return err
	}
	faults, err := faultsFrom(os.Getenv)
	if err != nil {
		return err
	}
	a := &agent{name: *name, can: can, sessions: sessions, faults: faults}
	a.conn = acp.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	a.conn.SetLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	<-a.conn.Done()
	return nil
}
