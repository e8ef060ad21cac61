package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxLine bounds a message, in bytes. What a tool can be given is far smaller.
const maxLine = 8 << 20

// drainTime is how long a client that has hung up can still get answers: a script sends everything at once and reads until the end.
const drainTime = 10 * time.Second

// A lineReader passes on lines that are messages. Any other gets the error that JSON-RPC has for it and costs nothing more: the SDK would end the
// connection, and a harness starts a server once. The end of the stream comes when what was asked is answered, for with it the SDK drops what is not.
type lineReader struct {
	in     io.Closer
	lines  *bufio.Reader
	answer *lineWriter
	rest   []byte        // of a line that is being read
	closed chan struct{} // by Close
	once   sync.Once
}

func newLineReader(in io.ReadCloser, answer *lineWriter) *lineReader {
	return &lineReader{in: in, lines: bufio.NewReaderSize(in, 8<<10), answer: answer, closed: make(chan struct{})}
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.line()
		if err != nil {
			r.drain()
			return 0, err
		}
		r.rest = line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line gives the next line that is a message, with its end; nil for one that is not.
func (r *lineReader) line() ([]byte, error) {
	var line []byte
	size := 0
	for {
		piece, err := r.lines.ReadSlice('\n')
		if size += len(piece); size <= maxLine {
			line = append(line, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && len(bytes.TrimSpace(line)) == 0 {
			return nil, err
		}
		break // a last line without an end is a line too
	}
	line = bytes.TrimSpace(line)
	switch {
	case size > maxLine:
		return nil, r.refuse(nil, -32600, fmt.Sprintf("message of %d bytes; at most %d are read", size, maxLine))
	case len(line) == 0:
		return nil, nil
	case !json.Valid(line):
		return nil, r.refuse(nil, -32700, "a message must be JSON on one line")
	}
	if id, why := misformed(line); why != "" {
		return nil, r.refuse(id, -32600, why)
	}
	if isStray(line) {
		return nil, nil
	}
	if isRequest(line) {
		r.answer.owe(1)
	}
	return append(line, '\n'), nil
}

// drain waits until nothing is owed.
func (r *lineReader) drain() {
	limit := time.NewTimer(drainTime)
	defer limit.Stop()
	select {
	case <-r.answer.paid():
	case <-limit.C:
	case <-r.closed:
	}
}

// isRequest reports whether a message asks for an answer, isAnswer whether it is one.
func isRequest(line []byte) bool { id, method := head(line); return id && method }
func isAnswer(line []byte) bool  { id, method := head(line); return id && !method }

// isStray reports whether a message answers nothing: to what could not be read, an answer has no id.
func isStray(line []byte) bool { id, method := head(line); return !id && !method }

func head(line []byte) (id, method bool) {
	var m struct{ ID, Method json.RawMessage }
	err := json.Unmarshal(line, &m)
	return err == nil && len(m.ID) > 0 && string(m.ID) != "null", err == nil && len(m.Method) > 0
}

// misformed says why JSON is no message, and gives the id to say it to, where there is one. Keys count in their exact case, as in the SDK.
func misformed(line []byte) (id json.RawMessage, why string) {
	var m map[string]json.RawMessage
	switch {
	case line[0] == '[':
		return nil, "send one message a line; batches are not taken"
	case line[0] != '{' || json.Unmarshal(line, &m) != nil:
		return nil, "a message is an object"
	}
	id, hasID := m["id"]
	if hasID && !isID(id) {
		return nil, "an id is a string or a whole number"
	}
	method, hasMethod := m["method"]
	_, hasResult := m["result"]
	fault, hasError := m["error"]
	switch {
	case string(m["jsonrpc"]) != `"2.0"`:
		return id, `a message has "jsonrpc":"2.0"`
	case hasMethod && method[0] != '"':
		return id, "a method is a string"
	case !hasMethod && !hasResult && !hasError:
		return id, "a message has a method, a result or an error"
	case !hasMethod && hasError && !isError(fault):
		return id, "an error is an object with a code and a message"
	}
	return id, ""
}

// isID reports whether a JSON value can be an id that the SDK reads.
func isID(id json.RawMessage) bool {
	var n float64
	return id[0] == '"' || string(id) == "null" || json.Unmarshal(id, &n) == nil
}

// isError reports whether a JSON value can be an error that the SDK reads.
func isError(fault json.RawMessage) bool {
	var e struct {
		Code    int64
		Message string
	}
	return json.Unmarshal(fault, &e) == nil
}

func (r *lineReader) refuse(id json.RawMessage, code int, why string) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	answer := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", id, code, why)
	if isAnswer(answer) {
		r.answer.owe(1)
	}
	_, err := r.answer.Write(answer)
	return err
}

func (r *lineReader) Close() error {
	r.once.Do(func() { close(r.closed) })
	return r.in.Close()
}

// A lineWriter keeps messages whole, for the reader's answers stand between the SDK's, and counts what is still to be answered.
type lineWriter struct {
	mu   sync.Mutex
	out  io.WriteCloser
	owed int
	wait chan struct{} // closed when nothing is owed; nil while nobody waits
}

// Write writes one message, or several whole ones.
func (w *lineWriter) Write(b []byte) (int, error) {
	answer := isAnswer(b)
	w.mu.Lock()
	n, err := w.out.Write(b)
	w.mu.Unlock()
	if answer {
		w.owe(-1)
	}
	return n, err
}

func (w *lineWriter) owe(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owed += n; w.owed <= 0 && w.wait != nil {
		close(w.wait)
		w.wait = nil
	}
}

// paid gives a channel that is closed once nothing is owed.
func (w *lineWriter) paid() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan struct{})
	if w.owed <= 0 {
		close(c)
	} else {
		w.wait = c
	}
	return c
}

func (w *lineWriter) Close() error { return w.out.Close() }
