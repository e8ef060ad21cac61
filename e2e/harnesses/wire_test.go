//go:build harnesses

package harnesses

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must come: one harness at a time answers within seconds, also on a busy
// machine.
const patience = 3 * time.Minute

// A wire is a client of ours at a harness, directly or through the proxy.
type wire struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr bytes.Buffer
	cancel context.CancelFunc
	frames chan []byte // what came, up to the end
	id     int
	// the request that was cancelled, which may be answered by an error
	cancelled int
	slowest   time.Duration // that the harness took to open a session

	mu   sync.Mutex
	sent [][]byte // also the answers to what the harness asked

	seen    []string // what came so far
	waiting map[int]json.RawMessage
}

// tapVariable names the file in which a copy of this program that stands in front of a harness notes what passes.
const tapVariable = "SIGNET_HARNESS_TAP"

// connect starts a harness, through the proxy or directly. tap, if it is not "", is the file for what passes at the
// harness.
func (s stage) connect(through bool, tap string) *wire {
	s.t.Helper()
	command, more := s.command, []string(nil)
	if tap != "" {
		self, err := os.Executable()
		if err != nil {
			s.t.Fatal(err)
		}
		command, more = append([]string{self}, command...), []string{tapVariable + "=" + tap}
	}
	if through {
		command = append([]string{s.proxy, "--agent", s.name, "--"}, command...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	w := &wire{t: s.t, cmd: s.Command(ctx, more, command...), cancel: cancel, frames: make(chan []byte, 10_000),
		waiting: map[int]json.RawMessage{}}
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	w.cmd.Stderr = &w.stderr
	if err := w.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(cancel)
	go func() {
		defer close(w.frames)
		for r := bufio.NewReaderSize(out, 1<<20); ; {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				w.frames <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return w
}

func (w *wire) send(frame map[string]any) {
	w.t.Helper()
	frame["jsonrpc"] = "2.0"
	line, err := json.Marshal(frame)
	if err != nil {
		w.t.Fatal(err)
	}
	line = append(line, '\n')
	w.mu.Lock()
	w.sent = append(w.sent, line)
	w.mu.Unlock()
	if _, err := w.in.Write(line); err != nil {
		w.t.Fatalf("%v\n%s", err, w.stderr.String())
	}
}

// begin sends a request.
func (w *wire) begin(method string, params map[string]any) (id int) {
	w.t.Helper()
	w.id++
	w.send(map[string]any{"id": w.id, "method": method, "params": params})
	return w.id
}

// call sends a request and returns its result; an error fails the test.
func (w *wire) call(method string, params map[string]any) json.RawMessage {
	w.t.Helper()
	return w.await(w.begin(method, params))
}

// await reads up to a response, and answers on the way what the harness asks.
func (w *wire) await(id int) json.RawMessage {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		if result, ok := w.waiting[id]; ok {
			delete(w.waiting, id)
			return result
		}
		select {
		case line, ok := <-w.frames:
			if !ok {
				w.t.Fatalf("the connection ended before the response to %d\n%s\n%s", id,
					strings.Join(w.seen, ""), w.stderr.String())
			}
			w.take(line)
		case <-deadline:
			w.t.Fatalf("no response to %d\n%s\n%s", id, strings.Join(w.seen, ""), w.stderr.String())
		}
	}
}

func (w *wire) take(line []byte) {
	w.t.Helper()
	w.seen = append(w.seen, string(line))
	var frame struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Options []struct{ OptionID, Kind string }
		}
		Result, Error json.RawMessage
	}
	if err := json.Unmarshal(line, &frame); err != nil {
		w.t.Fatalf("not a frame: %.500s (%v)", line, err)
	}
	switch {
	case frame.Method == "session/request_permission":
		option := frame.Params.Options[0].OptionID
		if i := slices.IndexFunc(frame.Params.Options,
			func(o struct{ OptionID, Kind string }) bool { return o.Kind == "allow_once" }); i >= 0 {
			option = frame.Params.Options[i].OptionID
		}
		w.send(map[string]any{"id": frame.ID,
			"result": map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}})
	case frame.Method != "" && frame.ID != nil:
		w.send(map[string]any{"id": frame.ID, "error": map[string]any{"code": -32601, "message": "not here"}})
	case frame.Method == "":
		var id int
		if err := json.Unmarshal(frame.ID, &id); err != nil {
			w.t.Fatalf("a response to nothing: %s", line)
		}
		if frame.Error != nil && id != w.cancelled {
			w.t.Fatalf("request %d: %s\n%s", id, frame.Error, w.stderr.String())
		}
		w.waiting[id] = frame.Result
	}
}

// open greets and opens a session, or loads one.
func (w *wire) open(cwd, session string) (initialized json.RawMessage, id string) {
	w.t.Helper()
	initialized = w.call("initialize", map[string]any{"protocolVersion": 1,
		"clientInfo": map[string]any{"name": "tester", "version": "1"}, "clientCapabilities": map[string]any{}})
	if session != "" {
		w.call("session/load", map[string]any{"sessionId": session, "cwd": cwd, "mcpServers": []any{}})
		return initialized, session
	}
	return initialized, w.session(cwd)
}

// session opens a new session.
func (w *wire) session(cwd string) (id string) {
	w.t.Helper()
	began := time.Now()
	defer func() { w.slowest = max(w.slowest, time.Since(began)) }()
	var opened struct{ SessionID string }
	if err := json.Unmarshal(w.call("session/new",
		map[string]any{"cwd": cwd, "mcpServers": []any{}}), &opened); err != nil {
		w.t.Fatal(err)
	}
	return opened.SessionID
}

func (w *wire) prompting(session, text string) (id int) {
	w.t.Helper()
	return w.begin("session/prompt", map[string]any{"sessionId": session,
		"prompt": []any{map[string]any{"type": "text", "text": text}}})
}

// prompt has a turn and returns how it ended.
func (w *wire) prompt(session, text string) (stop string) {
	w.t.Helper()
	return stopOf(w.t, w.await(w.prompting(session, text)))
}

func stopOf(t *testing.T, result json.RawMessage) string {
	t.Helper()
	var ended struct{ StopReason string }
	if err := json.Unmarshal(result, &ended); err != nil {
		t.Fatal(err)
	}
	return ended.StopReason
}

// hangUp closes the connection and says how long the other end took to go.
func (w *wire) hangUp() time.Duration {
	w.t.Helper()
	began := time.Now()
	w.in.Close()
	for line := range w.frames {
		w.seen = append(w.seen, string(line))
	}
	err := w.cmd.Wait()
	took := time.Since(began)
	if err != nil {
		w.t.Logf("ended with %v: %s", err, w.stderr.String())
	}
	w.cancel()
	return took
}

// kill ends the process that we started, and that alone, as kill -9 does.
func (w *wire) kill() {
	w.cmd.Process.Kill()
	w.in.Close()
	for range w.frames {
	}
	w.cmd.Wait() // killed
	w.cancel()
}

// tap is the copy of this program that runs a harness and notes each line that passes.
func tap(file string, command []string) int {
	log, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 3
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return 3
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 3
	}
	if err := cmd.Start(); err != nil {
		return 3
	}
	fmt.Fprintln(log, "start -")
	var mu sync.Mutex
	pass := func(direction string, from io.Reader, to io.WriteCloser) {
		defer to.Close()
		for r := bufio.NewReaderSize(from, 1<<20); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			mu.Lock()
			fmt.Fprintf(log, "%s %s", direction, line)
			mu.Unlock()
			if _, err := to.Write(line); err != nil {
				return
			}
		}
	}
	go pass("up", os.Stdin, in)
	pass("down", out, os.Stdout)
	if cmd.Wait() != nil {
		return 1
	}
	return 0
}
