package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// converseOnce has one turn with an agent and gives all that it says.
func (b *box) converseOnce(agent, words string) string {
	b.t.Helper()
	_, reply := b.turnWith(agent, "", words)
	return reply
}

// turnWith has one turn with an agent, in a session that is loaded, or "" in a new one, and gives its id and all that
// the agent says then. It allows whatever it is asked for.
func (b *box) turnWith(agent, session, words string) (id, reply string) {
	b.t.Helper()
	cmd := b.Command(b.t.Context(), nil, proxyBin, "--agent", agent)
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	read := newLines(out)
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`+"\n")
	read.until(b, `"id":0`)
	if session == "" {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+
			"\n", b.Work)
		_, session, _ = strings.Cut(read.until(b, `"id":1`), `"sessionId":"`)
		session, _, _ = strings.Cut(session, `"`)
	} else {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":%q,"cwd":%q,`+
			`"mcpServers":[]}}`+"\n", session, b.Work)
		read.until(b, `"id":1`)
	}
	fmt.Fprintf(in,
		`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text",`+
			`"text":%q}]}}`+"\n", session, words)
	reply = read.until(b, `"id":2`, func(line string) {
		var ask struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal([]byte(line), &ask) == nil && ask.Method == "session/request_permission" {
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"allow"}}}`+"\n", ask.ID)
		}
	})
	return session, reply
}

// lines are what an agent says.
type lines struct{ read *bufio.Reader }

func newLines(r io.Reader) lines { return lines{bufio.NewReaderSize(r, 1<<20)} }

// until reads to the line that has text, and gives all up to there; each line before it is heard.
func (l lines) until(b *box, text string, hear ...func(line string)) string {
	b.t.Helper()
	var all strings.Builder
	for {
		line, err := l.read.ReadString('\n')
		all.WriteString(line)
		if err != nil {
			b.t.Fatalf("waiting for %s: %v\n%s", text, err, all.String())
		}
		if strings.Contains(line, text) {
			return all.String()
		}
		for _, heard := range hear {
			heard(line)
		}
	}
}
