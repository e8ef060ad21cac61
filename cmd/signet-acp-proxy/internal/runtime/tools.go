package runtime

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// ToolOptions returns the options of the memory tools' server, as configured. daemon is nil where none is used.
func ToolOptions(c *config.Config, log *logFile, daemon *signet.Client,
	store func(context.Context) (*embedded.Store, error)) mcpserver.Options {
	o := mcpserver.Options{Store: store, Daemon: daemon, OtherProjects: otherProjects(c),
		Rights:  delegation.Rights(os.Getenv),
		Private: privacy.FileAt(privateFile(c)), Exclude: c.Exclude, Version: Version, Log: log.Logger}
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

// NotedRefusal returns why a program was refused the memory tools last, since a time; "" for none.
func NotedRefusal(c *config.Config, since time.Time) (why string, at time.Time) {
	info, err := os.Lstat(refusalFile(c))
	if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(since) {
		return "", at
	}
	text, _ := os.ReadFile(refusalFile(c))
	return string(text), info.ModTime()
}

// The command line by which a harness connects to a relay's memory tools: MCPWord ConnectFlag SOCKET.
const (
	MCPWord     = "mcp"
	ConnectFlag = "--connect"
)
