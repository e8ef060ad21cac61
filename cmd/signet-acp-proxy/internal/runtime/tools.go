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

// serve returns the mcpServers element for a session of the relay, nil if its harness is to get none, and a function
// that releases it.
func (b *backend) serve(agent string, who func() memory.Session) (text []byte, release func()) {
	entry := serverEntry{Name: memory.ServerName}
	var err error
	var address string // at our server
	switch b.c.MCPFor(agent, b.harness.Name) {
	case upstream.MCPStdio:
		if address, err = b.listen(who); err != nil {
			break
		}
		entry.Args, entry.Env = &[]string{MCPWord, ConnectFlag, address}, &[]variable{}
		entry.Command, err = os.Executable()
	case upstream.MCPHTTP:
		entry.Type = "http"
		entry.URL, address, err = b.tools.HTTP(who)
		entry.Headers = []variable{{"Authorization", address}}
	default:
		return nil, nil
	}
	if err == nil {
		text, err = json.Marshal(entry)
	}
	if err != nil {
		b.log.warn(err).Msg("a session goes without the memory tools")
		if address != "" {
			b.tools.Release(address)
		}
		return nil, nil
	}
	return text, func() { b.tools.Release(address) }
}

// listen returns an address at which our server serves a session.
func (b *backend) listen(who func() memory.Session) (string, error) {
	if b.c.Pipes != "" {
		return b.tools.Pipes(b.c.Pipes, who)
	}
	return b.tools.Socket(who)
}

// The command line by which a harness connects to a relay's memory tools: MCPWord ConnectFlag SOCKET.
const (
	MCPWord     = "mcp"
	ConnectFlag = "--connect"
)
