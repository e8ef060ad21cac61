package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// newStore opens a database and the store in it.
func newStore(t *testing.T) *embedded.Store {
	t.Helper()
	return storeAt(t, filepath.Join(t.TempDir(), "acp", "sessions.db"))
}

func storeAt(t *testing.T, path string) *embedded.Store {
	t.Helper()
	return storeIn(t, path, true)
}

// storeOf is newStore, and says whether other projects' memories are seen.
func storeOf(t *testing.T, otherProjects bool) *embedded.Store {
	t.Helper()
	return storeIn(t, filepath.Join(t.TempDir(), "acp", "sessions.db"), otherProjects)
}

func storeIn(t *testing.T, path string, otherProjects bool) *embedded.Store {
	t.Helper()
	db, err := migrations.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return embedded.New(db, embedded.Options{OtherProjects: otherProjects})
}

// robin is the session that tests call tools for.
func robin() memory.Session {
	return memory.Session{Key: "acp-1", Harness: "claude", Cwd: "/src/heron", Project: "/src/heron"}
}

// newServer makes a server that ends with the test.
func newServer(t *testing.T, store *embedded.Store, change ...func(*Options)) *Server {
	t.Helper()
	o := Options{Version: "test", Poll: 20 * time.Millisecond}
	if store != nil {
		o.Store = func(context.Context) (*embedded.Store, error) { return store, nil }
	}
	for _, f := range change {
		f(&o)
	}
	s := New(o)
	t.Cleanup(s.Close)
	return s
}

// withDaemon points a server at a stand-in.
func withDaemon(t *testing.T, d *daemontest.Daemon) func(*Options) {
	return func(o *Options) {
		c, err := signet.New(signet.Options{URL: d.URL(), Configured: true})
		if err != nil {
			t.Fatal(err)
		}
		o.Daemon = c
	}
}

// A client is the SDK's client at a session's socket.
type client struct {
	*mcp.ClientSession
	t       *testing.T
	changes chan struct{} // one for each list_changed
}

// connect reaches a server as a harness does: over the pipe to its socket.
func connect(t *testing.T, s *Server, who func() memory.Session) *client {
	t.Helper()
	path, err := s.Socket(who)
	if err != nil {
		t.Fatal(err)
	}
	return pipeTo(t, path)
}

func pipeTo(t *testing.T, path string) *client {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	piped := make(chan struct{})
	go func() {
		defer close(piped)
		// the client has gone
		if err := Pipe(path, fromClient, toClient); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("pipe: %v", err)
		}
		toClient.Close()
		fromClient.Close()
	}()
	t.Cleanup(func() { <-piped })
	return attach(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer})
}

func attach(t *testing.T, transport mcp.Transport) *client {
	t.Helper()
	c := &client{t: t, changes: make(chan struct{}, 64)}
	sdk := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.changes <- struct{}{} },
	})
	var err error
	if c.ClientSession, err = sdk.Connect(t.Context(), transport,
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// call calls a tool, and returns the text of its result and whether it is an error.
func (c *client) call(name string, arguments any) (words string, failed bool) {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	for _, content := range r.Content {
		words += content.(*mcp.TextContent).Text
	}
	return words, r.IsError
}

// ok calls a tool that must succeed, and reads its answer.
func (c *client) ok(name string, arguments any, into any) {
	c.t.Helper()
	words, failed := c.call(name, arguments)
	if failed {
		c.t.Fatalf("%s(%v): %s", name, arguments, words)
	}
	if err := json.Unmarshal([]byte(words), into); err != nil {
		c.t.Fatalf("%s: %v in %s", name, err, words)
	}
}

// names lists the tools.
func (c *client) names() []string {
	c.t.Helper()
	list, err := c.ListTools(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names
}

// until waits for the list of tools to hold a name, or not to, and for the word that it changed.
func (c *client) until(name string, there bool) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		if strings.Contains(strings.Join(c.names(), " ")+" ", name+" ") == there {
			return
		}
		select {
		case <-c.changes:
		case <-time.After(time.Until(deadline)):
			c.t.Fatalf("%s: %v, want %v", name, !there, there)
		}
	}
}

// A standIn is a daemon's /mcp: the memory tools and one more, which say what they were called with.
type standIn struct {
	handler http.Handler

	mu      sync.Mutex
	calls   []string
	headers []http.Header
	answer  func(name string) *mcp.CallToolResult // if not nil, in place of the usual one
}

func newStandIn() *standIn {
	d := &standIn{}
	server := mcp.NewServer(&mcp.Implementation{Name: "signet", Version: "0.1.0"}, nil)
	for _, t := range append(tools[:len(tools):len(tools)], tool{name: "agent_peers"}, tool{name: sessionSearch}) {
		described := t.describe()
		described.Annotations = nil
		server.AddTool(described, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.calls = append(d.calls, r.Params.Name+" "+string(r.Params.Arguments))
			d.headers = append(d.headers, r.Extra.Header)
			if d.answer != nil {
				return d.answer(r.Params.Name), nil
			}
			return textResult(`{"by":"daemon"}`), nil
		})
	}
	d.handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	return d
}

func (d *standIn) called() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.calls...)
}
