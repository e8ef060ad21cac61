package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// raw is what a program without an SDK sends.
const raw = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"script","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":"list","method":"tools/list"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":{"content":"The avocet wades."}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_list"}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"avocet"}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"memory_get","arguments":{"id":"nobody"}}}
{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"memory_modify","arguments":{"id":"nobody","reason":"y"}}}
{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"memory_forget","arguments":{"id":"x","reason":"y"}}}
{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_feedback","arguments":{"session_key":"x","ratings":{"x":1}}}}
{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"memory_dream","arguments":{}}}
this is no JSON
{"jsonrpc":"2.0","id":9,"method":"ping"} {"jsonrpc":"2.0","id":10,"method":"ping"}

{"jsonrpc":"2.0","id":11,"method":"ping"}`

// A listener that has no more files for a moment is listened on again.
type scarce struct {
	net.Listener
	errs []error
}

func (l *scarce) Accept() (net.Conn, error) {
	if len(l.errs) == 0 {
		return l.Listener.Accept()
	}
	err := l.errs[0]
	l.errs = l.errs[1:]
	return nil, &net.OpError{Op: "accept", Err: err}
}

func TestNoMoreFiles(t *testing.T) {
	s := newServer(t, newStore(t))
	address, err := s.Socket(robin)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(filepath.Dir(address), socketName)
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	s.run(func() { s.sockets.accept(&scarce{l, []error{syscall.ENFILE, syscall.EMFILE, syscall.ENOMEM}}) })
	var out bytes.Buffer
	if err := Pipe(address, strings.NewReader(ping+"\n"), &out); err != nil ||
		!strings.Contains(out.String(), `"id":9`) {
		t.Errorf("%v, %s", err, &out)
	}
}

// A raw script that sends everything at once and hangs up gets every answer, and what is no message costs only itself.
func TestRawScript(t *testing.T) {
	s := newServer(t, newStore(t))
	path, err := s.Socket(robin)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Pipe(path, strings.NewReader(raw), &out); err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID            json.RawMessage
			Error, Result json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("%v in %s", err, line)
		}
		answers[string(m.ID)] += string(m.Error) + string(m.Result)
	}
	for id, want := range map[string]string{
		`0`: `"protocolVersion":"2025-06-18"`, `"list"`: `"memory_search"`, `1`: `stored`, `2`: `memories`, `3`: `results`,
		`4`: `"isError":true`, `5`: `"isError":true`,
		`6`: `"isError":true`, `7`: `recorded`, `8`: `-32602`, `null`: `-32700`, `11`: `{}`,
	} {
		if !strings.Contains(answers[id], want) {
			t.Errorf("%s: %q, want %s", id, answers[id], want)
		}
	}
	if n := strings.Count(answers["null"], "-32700"); n != 2 {
		t.Errorf("%d parse errors, want 2: %s", n, answers["null"])
	}
}

// A line longer than any message is refused, whatever it holds, to whoever waits for an answer, and the next one is
// read.
func TestLongLine(t *testing.T) {
	for _, c := range []struct{ before, after, id string }{
		{`{"a":"`, `"}`, "null"},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"`, `"}}`, "7"},
		{`{"jsonrpc":"2.0","params":{"id":8,"a":"`, `"},"id":"seven\"s","method":"tools/call"}`, `"seven\"s"`},
		{`{"params":{"a":"`, `"},"method":"tools/call","id":-7}`, "-7"},
		{`{"method":"notifications/x","params":{"id":8,"a":"`, `","id":9}}`, "null"},
		{`["`, `",{"id":7}]`, "null"},
		{`"`, `"`, "null"},
	} {
		in := io.MultiReader(strings.NewReader(c.before), io.LimitReader(letters{}, maxLine),
			strings.NewReader(c.after+"\n"+ping+"\n"))
		var refused buffer
		r := newLineReader(io.NopCloser(in), &lineWriter{out: &refused})
		got := make([]byte, len(ping)+1)
		_, err := io.ReadFull(r, got)
		r.Close() // nobody answers the ping
		if err != nil || string(got) != ping+"\n" || !strings.Contains(refused.String(), `"code":-32600`) ||
			!strings.Contains(refused.String(), `"id":`+c.id+`,`) {
			t.Errorf("%.60s: read %.60q (%v), refused %s", c.before, got, err, &refused)
		}
	}
}

const ping = `{"jsonrpc":"2.0","id":9,"method":"ping"}`

// What is JSON and no message is refused, and costs neither the connection nor the answer to what came before.
func TestNoMessage(t *testing.T) {
	for _, c := range []struct{ line, id, say string }{
		{`[]`, "null", "batches"}, {`[` + ping + `]`, "null", "batches"}, {`1`, "null", "object"}, {`null`, "null", "object"}, {`"x"`, "null", "object"},
		{`{}`, "null", "version"}, {`{"jsonrpc":"2.0"}`, "null", "invalid request"}, {`{"jsonrpc":"1.0","id":5,"method":"ping"}`, "5", "version"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", "ID"}, {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, "null", "ID"},
		{`{"jsonrpc":"2.0","id":"five","method":5}`, `"five"`, "unmarshaling"}, {`{"jsonrpc":"2.0","id":5,"error":7}`, "5", "unmarshaling"},
	} {
		var refused buffer
		w := &lineWriter{out: &refused}
		got, err := io.ReadAll(newLineReader(io.NopCloser(strings.NewReader(c.line+"\n")), w))
		var m struct {
			ID    json.RawMessage
			Error struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal(refused.Bytes(), &m); err != nil {
			t.Errorf("%s: %v in %s", c.line, err, &refused)
		}
		if err != nil || len(got) > 0 || string(m.ID) != c.id || m.Error.Code != -32600 ||
			!strings.Contains(m.Error.Message, c.say) || len(w.expected) != 0 {
			t.Errorf("%s: passed %q (%v), said %s, owes %v", c.line, got, err, &refused, w.expected)
		}

		var out buffer
		talk := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":{"content":"Herons wade."}}}
` + c.line + "\n" + `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}` + "\n" + ping + "\n"
		if err := newServer(t, newStore(t)).Serve(t.Context(), robin,
			io.NopCloser(strings.NewReader(talk)), &out); err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
		for _, want := range []string{`"id":1,"result"`, `"id":9,"result"`, `-32600`} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %s in %s", c.line, want, &out)
			}
		}
	}
}

type buffer struct{ bytes.Buffer }

func (*buffer) Close() error { return nil }

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte("x"), len(p)))
	return len(p), nil
}

// FuzzLines: what is passed on is messages, a line each, and nothing else of the input is.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{raw, "", "\n", "{}", "{}\r\n", "{\n}", "\x00", "[1]\n\n\"x\"", ping,
		"{} {}\nnull\n\xff\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newLineReader(io.NopCloser(bytes.NewReader(b)), &lineWriter{out: &buffer{}})
		r.Close() // nobody answers here
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for line := range bytes.SplitSeq(b, []byte("\n")) {
			if line = bytes.TrimSpace(line); json.Valid(line) && message(line) {
				want = append(append(want, line...), '\n')
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("read %q, want %q", got, want)
		}
	})
}

func message(line []byte) bool {
	m, err := decode(line)
	return err == nil && m != nil
}

// Each session has an address of its own at one socket, in a folder that nobody else can enter, on a path that fits
// everywhere. All of it goes with the server.
func TestSockets(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 90))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	t.Setenv("XDG_RUNTIME_DIR", "")
	s := newServer(t, newStore(t))
	var paths []string
	for n := range 3 {
		path, err := s.Socket(func() memory.Session { return memory.Session{Key: fmt.Sprint(n)} })
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if info, err := os.Stat(filepath.Dir(paths[0])); err != nil || info.Mode().Perm() != 0o700 ||
		len(paths[0]) > 103 || !filepath.IsAbs(paths[0]) {
		t.Errorf("%s: %v (%v)", paths[0], info.Mode(), err)
	}
	if token, err := os.Stat(paths[0]); err != nil || token.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v", paths[0], err)
	}
	var m embedded.Memory
	for n := range 3 {
		var stored struct{ ID string }
		c := pipeTo(t, paths[n])
		c.ok("memory_store", map[string]any{"content": fmt.Sprintf("Number %d.", n)}, &stored)
		if c.ok("memory_get", map[string]any{"id": stored.ID},
			&m); m.Session != fmt.Sprint(n) || m.Harness != "tester" {
			t.Errorf("socket %d: stored for %q by %q", n, m.Session, m.Harness)
		}
	}
	sweep() // leaves what is in use
	pipeTo(t, paths[0])
	if named, err := os.ReadDir(filepath.Dir(paths[0])); err != nil || len(named) != 5 { // the lock, the one socket, and the sessions' tokens
		t.Errorf("%v (%v)", named, err)
	}
	s.Release(paths[2])
	for _, wrong := range []string{paths[2], filepath.Join(filepath.Dir(paths[0]), "4")} {
		if err := Pipe(wrong, strings.NewReader(raw), io.Discard); err == nil ||
			!strings.Contains(err.Error(), "start the agent again") {
			t.Errorf("%s, which is no session's: %v", wrong, err)
		}
	}
	s.Close()
	if _, err := os.Stat(filepath.Dir(paths[0])); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
	if err := Pipe(paths[0], strings.NewReader(raw), io.Discard); err == nil ||
		!strings.Contains(err.Error(), "start the agent again") {
		t.Errorf("a server that has ended: %v", err)
	}
	if _, err := s.Socket(robin); err == nil {
		t.Error("a socket of a server that has ended")
	}
}

// What a killed relay left is removed by a later one; one that is being made, and anything else in the temp folder, stays.
func TestSweep(t *testing.T) {
	temp, err := os.MkdirTemp("/tmp", "sweep-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	t.Setenv("TMPDIR", temp)
	folder := func(name string, files ...string) string {
		dir := filepath.Join(temp, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	dead := folder(folderPrefix+"1", lockName, socketName)
	fresh, young := folder(folderPrefix+"2"), folder(folderPrefix+"3", lockName)
	foreign := folder("other", lockName)
	for _, old := range []string{dead, foreign} {
		made := time.Now().Add(-2 * youngTime)
		if err := os.Chtimes(filepath.Join(old, lockName), made, made); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("a dead one is left: %v", err)
	}
	for _, dir := range []string{fresh, young, foreign} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s is gone: %v", dir, err)
		}
	}
}

// A client that hangs up, or is still there at the end, leaves nothing running (goleak), and a call that waits ends.
func TestHangUp(t *testing.T) {
	waits := make(chan struct{}, 1)
	s := newServer(t, nil, func(o *Options) {
		o.Store = func(ctx context.Context) (*embedded.Store, error) {
			waits <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	path, err := s.Socket(robin)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(conn, strings.Join(strings.Split(raw, "\n")[:4], "\n"))
	<-waits
	go s.Close()
	if _, err := io.ReadAll(bufio.NewReader(conn)); err != nil {
		t.Logf("reading: %v", err)
	}
	conn.Close()
	s.Close()
}

// Over HTTP a session's token opens its tools, and nothing else does.
func TestHTTP(t *testing.T) {
	s := newServer(t, newStore(t))
	url, authorization, err := s.HTTP(robin)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := s.HTTP(func() memory.Session { return memory.Session{Key: "other"} })
	if err != nil || other == authorization || !strings.HasPrefix(other, "Bearer ") || len(other) < 30 {
		t.Fatalf("%s, %v", other, err)
	}
	_, released, err := s.HTTP(robin)
	if err != nil {
		t.Fatal(err)
	}
	s.Release(released)
	for _, wrong := range []string{"", "Bearer", "Bearer x", strings.TrimPrefix(authorization, "Bearer "),
		strings.ToLower(authorization), released} {
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", wrong)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q: %s", wrong, res.Status)
		}
	}
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	var m embedded.Memory
	for token, key := range map[string]string{authorization: "acp-1", other: "other"} {
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		c := attach(t, &mcp.StreamableClientTransport{Endpoint: url,
			HTTPClient: &http.Client{Transport: withToken{transport, token}}, MaxRetries: -1})
		if diff := cmp.Diff(ourNames, c.names()); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
		var stored struct{ ID string }
		c.ok("memory_store", map[string]any{"content": "For " + key}, &stored)
		if c.ok("memory_get", map[string]any{"id": stored.ID}, &m); m.Session != key {
			t.Errorf("stored for %q, want %q", m.Session, key)
		}
	}
	s.Close()
}

type withToken struct {
	http.RoundTripper
	token string
}

func (t withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", t.token)
	return t.RoundTripper.RoundTrip(r)
}
