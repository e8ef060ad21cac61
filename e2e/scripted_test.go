package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
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
	*box
	cmd    *exec.Cmd
	in     io.WriteCloser
	record string
	stderr bytes.Buffer

	mu  sync.Mutex
	out bytes.Buffer
}

// startScript starts the proxy with flags in front of a script.
func (b *box) startScript(flags []string, steps ...step) *scripted {
	b.t.Helper()
	s := &scripted{box: b, record: filepath.Join(b.Dir, "received")}
	if !b.goesOn {
		if err := os.Remove(s.record); err != nil && !os.IsNotExist(err) {
			b.t.Fatal(err)
		}
	}
	file := filepath.Join(b.Dir, "script.json")
	text, err := json.Marshal(script{s.record, steps})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	b.t.Cleanup(cancel)
	command := append(append([]string{proxyBin, "--agent", "scripted"}, flags...), "--", self)
	s.cmd = b.Command(ctx, []string{scriptVariable + "=" + file}, command...)
	s.cmd.Stderr = &s.stderr
	s.cmd.Stdout = (*scriptedOut)(s)
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		b.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	return s
}

// scriptedOut collects what the client is sent.
type scriptedOut scripted

func (o *scriptedOut) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(p)
}

func (s *scripted) sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func (s *scripted) send(bytes string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, bytes); err != nil {
		s.t.Fatalf("%v\n%s", err, s.stderr.String())
	}
}

// end hangs up, waits for the proxy and returns what the harness was sent.
func (s *scripted) end() string {
	s.t.Helper()
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		s.t.Fatalf("%v\n%s", err, s.stderr.String())
	}
	received, err := os.ReadFile(s.record)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(received)
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
