package runtime

import (
	"encoding/json"
	"os"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

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
		if b.c.Pipes != "" {
			address, err = b.tools.Pipes(b.c.Pipes, who)
		} else {
			address, err = b.tools.Socket(who)
		}
		if err != nil {
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
		b.log.Warn().Err(err).Msg("a session goes without the memory tools")
		if address != "" {
			b.tools.Release(address)
		}
		return nil, nil
	}
	return text, func() { b.tools.Release(address) }
}
