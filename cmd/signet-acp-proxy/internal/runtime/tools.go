package runtime

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// ToolOptions returns the options of the memory tools' server, as configured. daemon is nil where none is used.
func ToolOptions(c *config.Config, log *logFile, daemon *signet.Client,
	store func(context.Context) (*embedded.Store, error)) mcpserver.Options {
	o := mcpserver.Options{Store: store, Daemon: daemon, OtherProjects: otherProjects(c),
		Rights:  delegation.Rights(os.Getenv),
		Private: privacy.FileAt(privateFile(c)), Exclude: c.Exclude, Version: Version, Log: log.Logger()}
	if daemon != nil {
		o.ToolCache = filepath.Join(c.Dir(), "tools.json")
	}
	if c.Memory == "daemon" {
		o.Store = nil
	}
	return o
}

// otherProjects reports whether sessions see the memories of other projects. A delegation's child never does.
func otherProjects(c *config.Config) bool {
	return c.OtherProjects && delegation.Inside(os.Getenv) == ""
}

// memoryTools returns each session of a relay its MCP server.
type memoryTools struct {
	c      *config.Config
	name   string // what the harness was started as
	log    *logFile
	server *mcpserver.Server
}

// newMemoryTools makes the tools of a relay.
func newMemoryTools(c *config.Config, name string, log *logFile, o mcpserver.Options) *memoryTools {
	return &memoryTools{c: c, name: name, log: log, server: mcpserver.New(o)}
}

// noteRefusal leaves for doctor why a program was refused.
func noteRefusal(c *config.Config, log *logFile, why string) {
	if err := files.ReplaceText(refusalFile(c), 0o600, []byte(why)); err != nil {
		log.warn(err).Msg("noting who was refused the memory tools")
	}
}

// NotedRefusal returns the last one since a time, "" for none.
func NotedRefusal(c *config.Config, since time.Time) (why string, at time.Time) {
	info, err := os.Lstat(refusalFile(c))
	if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(since) {
		return "", at
	}
	text, _ := os.ReadFile(refusalFile(c))
	return string(text), info.ModTime()
}

// A serverEntry is an element of mcpServers as ACP version 1 has it: for stdio without a type, and with env even if
// that is empty.
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

// entry returns the mcpServers element for a session, nil if its harness is to get none, and a function that releases
// it.
func (t *memoryTools) entry(agent string, who func() memory.Session) (text []byte, release func()) {
	entry := serverEntry{Name: memory.ServerName}
	var err error
	var address string // at our server
	switch t.c.MCPFor(agent, t.name) {
	case upstream.MCPStdio:
		if address, err = t.listen(who); err != nil {
			break
		}
		entry.Args, entry.Env = &[]string{MCPWord, ConnectFlag, address}, &[]variable{}
		entry.Command, err = os.Executable()
	case upstream.MCPHTTP:
		entry.Type = "http"
		entry.URL, address, err = t.server.HTTP(who)
		entry.Headers = []variable{{"Authorization", address}}
	default:
		return nil, nil
	}
	if err == nil {
		text, err = json.Marshal(entry)
	}
	if err != nil {
		t.log.warn(err).Msg("a session goes without the memory tools")
		if address != "" {
			t.server.Release(address)
		}
		return nil, nil
	}
	return text, func() { t.server.Release(address) }
}

// listen returns an address at which our server serves a session.
func (t *memoryTools) listen(who func() memory.Session) (string, error) {
	if t.c.Pipes != "" {
		return t.server.Pipes(t.c.Pipes, who)
	}
	return t.server.Socket(who)
}

// The command line by which a harness connects to a relay's memory tools: MCPWord ConnectFlag SOCKET.
const (
	MCPWord     = "mcp"
	ConnectFlag = "--connect"
)

func (t *memoryTools) close() { t.server.Close() }
