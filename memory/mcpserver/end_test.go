package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// meta is what every request of MCP 2026-07-28 carries.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// listening is what Claude Code says first: the last request is answered only when one of the two ends.
const listening = `{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{` + meta + `}}
{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}
{"jsonrpc":"2.0","id":"listen:0","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}
`

// atOnce is far below drainTime, which is what an end took that waited for an answer which never comes, and far above
// what a busy machine needs.
const atOnce = drainTime / 2

// listen connects a client that keeps a request open, and has read the word that it is.
func listen(t *testing.T, s *Server) (net.Conn, *bufio.Reader) {
	t.Helper()
	address, err := s.Socket(robin)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := dial(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, listening); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("before the subscription stands: %v", err)
		}
		if strings.Contains(line, "subscriptions/acknowledged") {
			return conn, lines
		}
		if strings.Contains(line, `"error"`) {
			t.Fatal(line)
		}
	}
}

// A client that hangs up while it keeps a request open is let go at once: no answer to that is owed.
func TestHangUpListening(t *testing.T) {
	s := newServer(t, newStore(t))
	conn, lines := listen(t, s)
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	conn.SetReadDeadline(time.Now().Add(atOnce))
	if rest, err := io.ReadAll(lines); err != nil {
		t.Errorf("the connection stays open: %v, %s", err, rest)
	}
}

// A server that ends waits neither for a client that keeps a request open nor for one that has hung up and is still
// owed an answer.
func TestCloseListening(t *testing.T) {
	asked := make(chan struct{}, 1)
	s := newServer(t, nil, func(o *Options) {
		o.Store = func(ctx context.Context) (*embedded.Store, error) {
			asked <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	listen(t, s)
	owed, _ := listen(t, s)
	fmt.Fprintf(owed, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_list",%s}}`+"\n", meta)
	<-asked
	if err := owed.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		s.Close()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(atOnce):
		t.Error("Close waits")
	}
	<-ended
}

// Answers pay for requests by id, however the id is spelt; what nobody waits for pays for nothing.
// Answers pay for requests by id, however the id is spelt; what nobody waits for pays for nothing.
func TestOwed(t *testing.T) {
	w := &lineWriter{out: &buffer{}}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, `{"jsonrpc":"2.0","id":"\u0061","method":"ping"}`,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`,
		`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	} {
		if _, err := io.ReadAll(io.LimitReader(newLineReader(io.NopCloser(strings.NewReader(line+"\n")), w),
			int64(len(line)))); err != nil {
			t.Fatal(err)
		}
	}
	for _, answer := range []string{`"id":2,"result":{}`, `"id":"1","result":{}`, `"id":"a","result":{}`,
		`"method":"x"`, `"id":1,"result":{}`} {
		if len(w.expected) == 0 {
			t.Errorf("paid before %s", answer)
		}
		if _, err := w.Write([]byte(`{"jsonrpc":"2.0",` + answer + `}`)); err != nil {
			t.Fatal(err)
		}
	}
	a, err := jsonrpc.MakeID("a")
	if err != nil || len(w.expected) != 1 || w.expected[a] != 1 {
		t.Errorf("owed: %v", w.expected)
	}
	waiting := w.allAnswered()
	if _, err := w.Write([]byte(`{"jsonrpc":"2.0","id":"a","error":{}}`)); err != nil {
		t.Fatal(err)
	}
	<-waiting
}
