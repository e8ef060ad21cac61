package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An mcpEntry is an element of mcpServers.
type mcpEntry struct {
	Type, Name, URL, Command string
	Headers                  []struct{ Name, Value string }
	Args                     []string
	Env                      *[]struct{ Name, Value string }
}

// A toolSession is a session with a script for a harness, which has been given our MCP server.
type toolSession struct {
	*scripted
	entries []mcpEntry
}

// openTools opens a session whose client has no servers; agent is what the harness calls itself.
func (b *box) openTools(agent string, flags ...string) toolSession {
	b.t.Helper()
	named := exchange{initialized.up, strings.Replace(initialized.down, `"scripted"`, fmt.Sprintf("%q", agent), 1)}
	s := b.startConversation(flags, named, opening(b.Work, "scripted-0123456789"))
	received, err := os.ReadFile(s.record)
	if err != nil {
		b.t.Fatal(err)
	}
	var frame struct {
		Params struct{ McpServers []mcpEntry }
	}
	// what came before is an earlier session's
	opened := received[bytes.LastIndex(received, []byte(`{"jsonrpc":"2.0","id":1,"method":"session/new"`)):]
	if err := json.NewDecoder(bytes.NewReader(opened)).Decode(&frame); err != nil {
		b.t.Fatal(err)
	}
	return toolSession{s, frame.Params.McpServers}
}

// startTools runs an entry's command as a harness does, with nothing in its environment, and speaks to it.
func (b *box) startTools(command ...string) *mcp.ClientSession {
	b.t.Helper()
	return b.speak(b.toolsCommand(command...))
}

func (b *box) toolsCommand(command ...string) mcp.Transport {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = b.Dir, []string{"LANG=C"}
	return &mcp.CommandTransport{Command: cmd}
}

func (b *box) speak(transport mcp.Transport) *mcp.ClientSession { return b.speakAs(transport, nil) }

func (b *box) speakAs(transport mcp.Transport, o *mcp.ClientOptions) *mcp.ClientSession {
	b.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "harness", Version: "1"}, o)
	session, err := client.Connect(b.t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { session.Close() })
	return session
}

// tool calls a tool and returns its text.
func (b *box) tool(session *mcp.ClientSession, name string, arguments map[string]any) string {
	b.t.Helper()
	r, err := session.CallTool(b.t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil || r.IsError {
		b.t.Fatalf("%s: %v %+v", name, err, r)
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// The harness is given a command that needs nothing but its arguments, and what one session stores the next one finds.
func TestMCPInjected(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	first := b.openTools("scripted", "--memory", "embedded")
	if len(first.entries) != 1 {
		t.Fatalf("entries: %+v", first.entries)
	}
	e := first.entries[0]
	socket := e.Args[len(e.Args)-1]
	if e.Name != "signet" || e.Type != "" || e.Command != proxyBin ||
		!slices.Equal(e.Args, []string{"mcp", "--connect", socket}) || e.Env == nil || len(*e.Env) != 0 {
		t.Errorf("entry: %+v", e)
	}
	if info, err := os.Stat(filepath.Dir(socket)); err != nil || info.Mode().Perm() != 0o700 || len(socket) > 103 {
		t.Errorf("socket %s: %v %v", socket, info, err)
	}
	session := b.startTools(append([]string{e.Command}, e.Args...)...)
	b.wait("the session's key", func() bool {
		_, err := os.Stat(b.database()) // which is made beside the conversation
		return err == nil && len(b.query(`SELECT 1 FROM sqlite_master WHERE name = 'sessions'`)) == 1 &&
			len(b.query(`SELECT key FROM sessions`)) == 1
	})
	b.tool(session, "memory_store", map[string]any{"content": "The mast of the Curlew is 11.42 metres long."})
	var key string
	for _, row := range b.query(`SELECT m.key, m.harness, m.project, m.source, s.acp_id FROM memories m
		JOIN sessions s ON s.key = m.key`) {
		key = row[0]
		work, err := filepath.EvalSymlinks(b.Work)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"scripted", work, "memory_store", "scripted-0123456789"}, row[1:]); diff != "" {
			t.Errorf("provenance (-want +got):\n%s", diff)
		}
	}
	if key == "" {
		t.Error("the memory names no session")
	}
	first.end()
	if _, err := os.Stat(filepath.Dir(socket)); !os.IsNotExist(err) {
		t.Errorf("the socket's folder is left: %v", err)
	}
	if r := b.try(e.Command, "mcp", "--connect", socket); r.Code != 1 ||
		!strings.Contains(r.Stderr, "start the agent again") {
		t.Errorf("after the relay: %+v", r)
	}

	second := b.openTools("scripted", "--memory", "embedded")
	session = b.startTools(append([]string{second.entries[0].Command}, second.entries[0].Args...)...)
	if got := b.tool(session, "memory_search",
		map[string]any{"query": "How long is the mast of the Curlew?"}); !strings.Contains(got, "11.42") {
		t.Errorf("found %s", got)
	}
	second.end()
}

// A harness that starts no program is given a loopback address and a token that stands nowhere else.
func TestMCPOverHTTP(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.openTools("copilot", "--memory", "embedded", "--log-level", "trace")
	if len(s.entries) != 1 || s.entries[0].Type != "http" || len(s.entries[0].Headers) != 1 ||
		!strings.HasPrefix(s.entries[0].URL, "http://127.0.0.1:") {
		t.Fatalf("entries: %+v", s.entries)
	}
	header := s.entries[0].Headers[0]
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	session := b.speak(&mcp.StreamableClientTransport{
		Endpoint: s.entries[0].URL, DisableStandaloneSSE: true, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: withHeader{transport, header.Name, header.Value}},
	})
	b.tool(session, "memory_store", map[string]any{"content": "The Curlew has two sails."})
	if got := b.tool(session, "memory_list", nil); !strings.Contains(got, "two sails") {
		t.Errorf("listed %s", got)
	}
	session.Close()
	s.end()
	token := strings.TrimPrefix(header.Value, "Bearer ")
	err := filepath.WalkDir(b.Signet, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), token) {
			t.Errorf("the token stands in %s", path)
		}
		if strings.HasSuffix(path, ".log") && strings.Contains(string(text), "two sails") {
			t.Errorf("a memory stands in %s", path)
		}
		return err
	})
	if err != nil || strings.Contains(s.stderr.String(), token) {
		t.Errorf("the token: %v, %s", err, s.stderr.String())
	}
}

type withHeader struct {
	http.RoundTripper
	name, value string
}

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(h.name, h.value)
	return h.RoundTripper.RoundTrip(r)
}
