package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/files"
)

// toolCache is the path of a file with the tools that daemons had, by their URL; with "" nothing is kept. Several
// processes may write it at once: the last one wins.
type toolCache string

type cachedTools struct {
	Version string      `json:"version"`
	Tools   []*mcp.Tool `json:"tools"`
}

// maxCached is the largest file that is read, in bytes: 57 tools take about 60 KB.
const maxCached = 4 << 20

// read returns the tools that the daemon at a URL had; none where nothing is cached, or the file is not as we write it.
func (r toolCache) read(url string) (version string, tools []*mcp.Tool) {
	known := r.all()[url]
	for _, t := range known.Tools {
		if t == nil || !showable(t) {
			return "", nil
		}
	}
	return known.Version, known.Tools
}

func (r toolCache) all() (all map[string]cachedTools) {
	if r == "" {
		return nil
	}
	if info, err := os.Stat(string(r)); err != nil || info.Size() > maxCached {
		return nil
	}
	text, err := os.ReadFile(string(r))
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// write keeps the tools of the daemon at a URL.
func (r toolCache) write(url, version string, tools []*mcp.Tool) (err error) {
	if r == "" {
		return nil
	}
	all := r.all()
	before, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if all == nil {
		all = map[string]cachedTools{}
	}
	all[url] = cachedTools{version, tools}
	text, err := json.Marshal(all)
	if err != nil || bytes.Equal(before, text) {
		return err
	}
	return files.ReplaceText(string(r), 0o600, text)
}

// showable reports whether the SDK accepts a tool: it panics about one that it does not.
func showable(t *mcp.Tool) bool {
	schema, ok := t.InputSchema.(map[string]any)
	if !ok || schema["type"] != "object" || t.Name == "" {
		return false
	}
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	mcp.NewServer(&mcp.Implementation{}, nil).AddTool(t,
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	return ok
}
