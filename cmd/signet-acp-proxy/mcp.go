package main

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

func newMCP(p program) *cobra.Command {
	var connect string
	cmd := &cobra.Command{
		Use: runtime.MCPWord, Short: "Serve the memory tools as an MCP server on stdio.",
		RunE: func(*cobra.Command, []string) error { return p.serveMCP(connect) },
	}
	cmd.Flags().StringVar(&connect, "connect", "", "Only connect stdin and stdout to this `SOCKET` of a relay.")
	complete(cmd, "connect", paths)
	return cmd
}

// serveMCP serves the memory tools over stdin and stdout, as an MCP server.
func (p program) serveMCP(connect string) error {
	if connect != "" {
		return mcpserver.Pipe(connect, p.std.In, p.std.Out)
	}
	c, err := config.Load(*p.flags)
	if err != nil {
		return err
	}
	if c.Memory == "off" {
		return errors.New("memory is off, so there are no memory tools (see signet-acp-proxy config show)")
	}
	if p.std.Interactive() {
		p.std.Say("waiting for an MCP client on stdin; Ctrl-D ends it")
	}
	log := runtime.NewLog(c, p.std)
	defer log.Close()
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	who := memory.Session{Harness: os.Getenv("SIGNET_HARNESS"), Cwd: cwd, Project: memory.Project(cwd),
		AgentID: c.AgentID}
	open := sync.OnceValues(func() (*sql.DB, error) { // at the first call: the harness waits for the tools' list
		return migrations.Open(context.Background(), c.DB)
	})
	store := sync.OnceValues(func() (*embedded.Store, error) {
		db, err := open()
		if err != nil {
			return nil, err
		}
		return runtime.NewStore(c, db, log), nil
	})
	var daemon *signet.Client
	if c.Memory != "embedded" {
		if daemon, err = runtime.NewDaemon(c, config.Token(), log.Logger); err != nil {
			return err
		}
		defer daemon.Close()
	}
	o := runtime.ToolOptions(c, log, daemon, func(context.Context) (*embedded.Store, error) { return store() })
	database := func(context.Context) (*sql.DB, error) { return open() }
	extras, done, err := runtime.ExtraTools(c, log, who.Harness, database)
	if err != nil {
		return err
	}
	defer done()
	o.Extras = extras
	server := mcpserver.New(o)
	defer server.Close()
	return server.Serve(context.Background(), func() memory.Session { return who }, p.std.In, nopCloser{p.std.Out})
}

// nopCloser is a writer that Close leaves open, because it is not ours to close.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// connectPipe is `mcp --connect SOCKET` without parsing the command line: harnesses wait for it.
func connectPipe(socket string, std term.Streams) int {
	if err := mcpserver.Pipe(socket, std.In, std.Out); err != nil {
		std.Say("%v", err)
		return exitFailed
	}
	return 0
}
