package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A script is a harness that answers by heart: it keeps every byte that it is sent, and says its next reply once it has
// had so many lines more. The test binary itself plays it.
type script struct {
	Record string // the file of what it was sent; it is added to
	Steps  []step
}

type step struct {
	Lines int
	Reply []byte
}

const scriptVariable = "SIGNET_E2E_SCRIPT"

func playScript(file string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		return 3
	}
	var s script
	if err := json.Unmarshal(text, &s); err != nil {
		return 3
	}
	record, err := os.OpenFile(s.Record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 3
	}
	in := bufio.NewReaderSize(io.TeeReader(os.Stdin, record), 1<<16)
	for _, step := range s.Steps {
		for range step.Lines {
			for {
				_, err := in.ReadSlice('\n')
				if err == nil {
					break
				}
				if err != bufio.ErrBufferFull {
					return 4 // the client went before the script was over
				}
			}
		}
		if _, err := os.Stdout.Write(filled(step.Reply, s.Record)); err != nil {
			return 5
		}
	}
	io.Copy(io.Discard, in)
	return 0
}

// filled puts the block that the record holds into a reply, in the places that say so (trace_test.go).
func filled(reply []byte, record string) []byte {
	if !bytes.Contains(reply, []byte("{{")) {
		return reply
	}
	text, err := os.ReadFile(record)
	if err != nil {
		return reply
	}
	_, tail, _ := bytes.Cut(text, []byte(`{"type":"text","text":"`+blockMark))
	tail = append([]byte(blockMark), tail...)
	end := 0
	for end < len(tail) && tail[end] != '"' {
		if tail[end] == '\\' {
			end++
		}
		end++
	}
	block := bytes.TrimRight(tail[:min(end, len(tail))], `\n`) // escaped: its empty lines at the end
	_, id, _ := bytes.Cut(block, []byte(`id=\"`))
	id, _, _ = bytes.Cut(id, []byte(`\"`))
	folded := strings.Join(strings.Fields(strings.ReplaceAll(string(block), `\n`, " ")), " ")
	return []byte(strings.NewReplacer("{{block}}", string(block), "{{folded}}", folded, "{{id}}",
		string(id)).Replace(string(reply)))
}

// A scripted is the proxy in front of a script, seen from the client's side.
type scripted struct {
	*client
	record string
	heard  strings.Builder // what the client was sent
}

// startScript starts the proxy with flags in front of a script.
func (b *box) startScript(flags []string, steps ...step) *scripted {
	b.t.Helper()
	s := &scripted{record: filepath.Join(b.Dir, "received")}
	if !b.goesOn {
		if err := os.Remove(s.record); err != nil && !os.IsNotExist(err) {
			b.t.Fatal(err)
		}
	}
	file := filepath.Join(b.Dir, "script.json")
	text, err := json.Marshal(script{s.record, steps})
	must(b, err)
	must(b, os.WriteFile(file, text, 0o600))
	s.client, err = b.start(b.t, []string{scriptVariable + "=" + file}, slices.Concat(b.wrap,
		[]string{b.program(), "--agent", "scripted"}, flags, []string{"--", self})...)
	must(b, err)
	return s
}

func (s *scripted) send(lines string) {
	s.t.Helper()
	if err := s.write(lines); err != nil {
		s.t.Fatalf("%v\n%s", err, s.said())
	}
}

// hear reads so many bytes.
func (s *scripted) hear(n int) {
	s.t.Helper()
	must(s.box, s.out.SetReadDeadline(time.Now().Add(patience)))
	if _, err := io.CopyN(&s.heard, s.read, int64(n)); err != nil {
		s.t.Fatalf("%v behind\n%.2000s\n%s", err, s.heard.String(), s.said())
	}
}

// end hangs up, waits for the proxy and returns what the harness was sent.
func (s *scripted) end() string {
	s.t.Helper()
	s.hangUp()
	s.heard.WriteString(s.rest())
	if code := s.code(); code != 0 {
		s.t.Fatalf("exit %d\n%s", code, s.said())
	}
	received, err := os.ReadFile(s.record)
	must(s.box, err)
	return string(received)
}

// An exchange is what a client sends, and what the harness answers to it: lines.
type exchange struct{ up, down string }

// The least of a conversation.
var (
	initialized = exchange{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n",
		`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"scripted","version":"1"},` +
			`"agentCapabilities":{}}}` + "\n"}
	opened = opening("/srv", "scripted-0123456789", `{"name":"signet","command":"/bin/true","args":[],"env":[]}`)
)

// opening is a session/new with MCP servers of the client's, and its answer.
func opening(cwd, session string, servers ...string) exchange {
	return exchange{fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[%s]}}`+
		"\n", cwd, strings.Join(servers, ",")),
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":%q}}`+"\n", session)}
}

// turn is a prompt, what the harness says to it, unless that is nothing, and the end of the turn.
func turn(id int, session, asked, said string) exchange {
	var down string
	if said != "" {
		down = fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":`+
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`+"\n", session, said)
	}
	return exchange{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,`+
		`"prompt":[{"type":"text","text":%q}]}}`+"\n", id, session, asked),
		down + fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`+"\n", id)}
}

// startConversation goes through a conversation, exchange by exchange. The client must get what the harness said.
func (b *box) startConversation(flags []string, all ...exchange) *scripted {
	b.t.Helper()
	var steps []step
	for _, one := range all {
		steps = append(steps, step{strings.Count(one.up, "\n"), []byte(one.down)})
	}
	s := b.startScript(flags, steps...)
	want := ""
	for _, one := range all {
		s.send(one.up)
		want += one.down
		s.hear(len(one.down))
	}
	if got := s.heard.String(); got != want {
		b.t.Errorf("the client was sent\n%.2000s\nwant\n%.2000s", got, want)
	}
	return s
}

// converse has a conversation to its end, and returns what the harness was sent and what people were told.
func (b *box) converse(flags []string, all ...exchange) (received, told string) {
	b.t.Helper()
	return b.startConversation(flags, all...).finish()
}

// finish is converse's end.
func (s *scripted) finish() (received, told string) {
	s.t.Helper()
	before := s.heard.Len()
	received = s.end()
	if more := s.heard.String()[before:]; more != "" {
		s.t.Errorf("the client was sent in the end\n%.2000s", more)
	}
	return received, s.stderr.String()
}

// withoutBlock takes our block out of what a harness was sent: the first element of the prompt after the given text.
func withoutBlock(t *testing.T, received, before string) string {
	t.Helper()
	head, tail, found := strings.Cut(received, before)
	if !found {
		t.Fatalf("the harness was not sent %q:\n%.2000s", before, received)
	}
	d := json.NewDecoder(strings.NewReader(tail))
	var inserted struct {
		Type, Text  string
		Annotations struct{ Audience []string }
	}
	if err := d.Decode(&inserted); err != nil {
		t.Fatal(err)
	}
	if inserted.Type != "text" || !strings.HasPrefix(inserted.Text, blockMark) ||
		!strings.HasSuffix(inserted.Text, "\n\n") {
		t.Fatalf("the first element is not our block: %.2000s", tail)
	}
	rest, found := strings.CutPrefix(tail[d.InputOffset():], ",")
	if !found {
		t.Fatalf("no comma after our block: %.2000s", tail)
	}
	return head + before + rest
}
