package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// mcpCommand serves the memory tools over stdin and stdout: what harnesses start as their MCP server.
type mcpCommand struct{ connect string }

func newMCP(f *Flags, std stdio) *cobra.Command {
	var m mcpCommand
	cmd := &cobra.Command{
		Use: mcpWord, Short: "Serve the memory tools over stdin and stdout, as an MCP server.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return m.run(f, std) },
	}
	cmd.Flags().StringVar(&m.connect, "connect", "", "Only carry stdin and stdout to this `SOCKET` of a relay.")
	complete(cmd, "connect", paths)
	return cmd
}

func (m mcpCommand) run(f *Flags, std stdio) error {
	if m.connect != "" {
		return mcpserver.Pipe(m.connect, std.in, std.out)
	}
	c, err := loadConfig(f)
	if err != nil {
		return err
	}
	if c.Memory == "off" {
		return errors.New("memory is off, so there are no memory tools (see signet-acp-proxy config show)")
	}
	log := newLogFile(c, std)
	defer log.close()
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	who := memory.Session{Harness: os.Getenv("SIGNET_HARNESS"), Cwd: cwd, Project: memory.Project(cwd), AgentID: c.AgentID}
	open := sync.OnceValues(func() (*embedded.Store, error) { // with the first call: a harness waits for the list of tools
		db, err := migrations.Open(context.Background(), c.DB)
		if err != nil {
			return nil, err
		}
		return embedded.New(db, embedded.Options{SignetPath: c.SignetPath, OtherProjects: c.OtherProjects, Log: log.logger()}), nil
	})
	o, err := toolOptions(c, log, func(context.Context) (*embedded.Store, error) { return open() })
	if err != nil {
		return err
	}
	server := mcpserver.New(o)
	defer server.Close()
	return server.Serve(context.Background(), func() memory.Session { return who }, std.in, unclosed{std.out})
}

// unclosed keeps a writer open that is not ours to close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// connectPipe is `mcp --connect SOCKET` in front of the command line: harnesses wait for it.
func connectPipe(socket string, std stdio) int {
	if err := mcpserver.Pipe(socket, std.in, std.out); err != nil {
		std.say("%v", err)
		return exitFailed
	}
	return 0
}

// toolOptions are those of the server of the memory tools, as configured.
func toolOptions(c *Config, log *logFile, store func(context.Context) (*embedded.Store, error)) (mcpserver.Options, error) {
	o := mcpserver.Options{Store: store, Configured: c.daemonConfigured, Exclude: c.Exclude, Version: versionName(), Log: log.logger()}
	if c.Memory == "embedded" {
		return o, nil
	}
	var err error
	if o.Daemon, err = newDaemon(c, daemonToken(), o.Log); err != nil {
		return o, err
	}
	if c.Memory == "daemon" {
		o.Store = nil
	}
	return o, nil
}

// memoryTools gives each session of a relay its MCP server.
type memoryTools struct {
	c      *Config
	name   string // what the harness was started as
	log    *logFile
	server *mcpserver.Server

	command []string    // mcp_command, which is used in place of ours while the daemon is there
	healthy atomic.Bool // the daemon was there when we started
	tasks   sync.WaitGroup
}

// newMemoryTools makes the tools of a relay.
func newMemoryTools(c *Config, name string, log *logFile, store func(context.Context) (*embedded.Store, error)) (*memoryTools, error) {
	o, err := toolOptions(c, log, store)
	if err != nil {
		return nil, err
	}
	t := &memoryTools{c: c, name: name, log: log, server: mcpserver.New(o)}
	if len(c.MCPCommand) > 0 && o.Daemon != nil {
		if path, err := exec.LookPath(c.MCPCommand[0]); err == nil {
			path, err = filepath.Abs(path)
			if err == nil {
				t.command = append([]string{path}, c.MCPCommand[1:]...)
			}
		}
	}
	if t.command != nil {
		t.tasks.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			health, err := o.Daemon.Health(ctx)
			t.healthy.Store(err == nil && (health.Ours || c.daemonConfigured))
		})
	}
	return t, nil
}

// A serverEntry is an element of mcpServers in the shapes of ACP's version 1: stdio has no type, and env even where it is empty.
type serverEntry struct {
	Type    string      `json:"type,omitempty"`
	Name    string      `json:"name"`
	URL     string      `json:"url,omitempty"`
	Headers []variable  `json:"headers,omitempty"`
	Command string      `json:"command,omitempty"`
	Args    *[]string   `json:"args,omitempty"`
	Env     *[]variable `json:"env,omitempty"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// entry gives the mcpServers element of a session, nil where its harness is to get none.
func (t *memoryTools) entry(agent string, who func() memory.Session) []byte {
	entry := serverEntry{Name: mcpserver.Name}
	var err error
	switch t.c.mcpFor(agent, t.name) {
	case upstream.MCPStdio:
		env := []variable{}
		command := t.command
		if command != nil && t.healthy.Load() {
			env = append(env, variable{"SIGNET_DAEMON_URL", t.c.DaemonURL}, variable{"SIGNET_HARNESS", who().Harness}, variable{"SIGNET_WORKSPACE", who().Cwd})
		} else if command, err = t.pipe(who); err != nil {
			break
		}
		args := append([]string{}, command[1:]...)
		entry.Command, entry.Args, entry.Env = command[0], &args, &env
	case upstream.MCPHTTP:
		var authorization string
		entry.Type = "http"
		entry.URL, authorization, err = t.server.HTTP(who)
		entry.Headers = []variable{{"Authorization", authorization}}
	default:
		return nil
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(entry)
	}
	if err != nil {
		log := t.log.logger()
		log.Warn().Err(err).Msg("a session goes without the memory tools")
		return nil
	}
	return text
}

// pipe gives the command line that reaches this relay.
func (t *memoryTools) pipe(who func() memory.Session) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	socket, err := t.server.Socket(who)
	if err != nil {
		return nil, err
	}
	return []string{self, mcpWord, connectFlag, socket}, nil
}

const (
	mcpWord     = "mcp"
	connectFlag = "--connect"
)

func (t *memoryTools) close() {
	t.tasks.Wait()
	t.server.Close()
}

// mcpFor says how a harness, by its own name or the one that it was started by, gets the memory tools: upstream.MCPStdio, upstream.MCPHTTP or "off".
func (c *Config) mcpFor(agent, name string) string {
	profile, known := profileOf(agent, name)
	mode := c.agent(name).MCP
	if mode == "" && known {
		mode = c.agent(profile.Name).MCP
	}
	if mode == "" {
		mode = c.MCP
	}
	if mode != "auto" {
		return mode
	}
	switch profile.MCP {
	case "":
		return upstream.MCPStdio
	case upstream.MCPNone:
		return "off"
	}
	return profile.MCP
}
