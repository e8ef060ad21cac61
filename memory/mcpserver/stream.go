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

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine is the longest message, in bytes; a call of a tool is far smaller.
const maxLine = 8 << 20

// drainTime is how long a client that has closed its end still gets answers: a script sends everything at once and then
// reads to the end.
const drainTime = 10 * time.Second

// A lineReader passes on the lines that are messages. Any other line is answered with JSON-RPC's error and goes no
// further: the SDK would end the connection over it, and a harness starts a server only once. It reports the end of the
// stream only when every request is answered, because at the end the SDK drops those that are not.
type lineReader struct {
	in     io.Closer
	lines  *bufio.Reader
	answer *lineWriter
	rest   []byte        // of the line that is being passed on
	closed chan struct{} // closed by Close
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

// line returns the next line, with its end, if it is a message; nil if it is not.
func (r *lineReader) line() ([]byte, error) {
	var line, last []byte
	size := 0
	for {
		piece, err := r.lines.ReadSlice('\n')
		if size += len(piece); size <= maxLine {
			line = append(line, piece...)
		} else {
			last = append(last[max(0, len(last)-len(piece)):], piece...) // two pieces hold whatever stands at the end
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && len(bytes.TrimSpace(line)) == 0 {
			return nil, err
		}
		break // a last line without a line end counts
	}
	line = bytes.TrimSpace(line)
	switch {
	case size > maxLine:
		return nil, r.answer.refuse(idIn(line, last), jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("message of %d bytes; the maximum is %d", size, maxLine))
	case len(line) == 0:
		return nil, nil
	case !json.Valid(line):
		return nil, r.answer.refuse(idOf(nil), jsonrpc.CodeParseError, "a message must be JSON on one line")
	}
	m, err := decode(line)
	switch {
	case err != nil:
		return nil, r.answer.refuse(idOf(line), jsonrpc.CodeInvalidRequest, err.Error())
	case m == nil:
		return nil, nil
	}
	if id, asks := asks(m); asks {
		r.answer.expect(id)
	}
	return append(line, '\n'), nil
}

// drain waits until every request is answered, at most drainTime.
func (r *lineReader) drain() {
	limit := time.NewTimer(drainTime)
	defer limit.Stop()
	select {
	case <-r.answer.allAnswered():
	case <-limit.C:
	case <-r.closed:
	}
}

// Close ends reading and draining.
func (r *lineReader) Close() error {
	r.once.Do(func() { close(r.closed) })
	return r.in.Close()
}

// A lineWriter writes whole messages, those of the SDK and those of the lineReader, and counts which requests are still
// to be answered.
type lineWriter struct {
	mu       sync.Mutex
	out      io.WriteCloser
	expected map[jsonrpc.ID]int // requests without an answer, by id, which a client may use twice
	wait     chan struct{}      // closed when all is answered; nil while nobody waits
}

// Write writes one message. An answer is counted off.
func (w *lineWriter) Write(b []byte) (int, error) {
	m, _ := jsonrpc.DecodeMessage(b)
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(b)
	answer, ok := m.(*jsonrpc.Response)
	switch {
	case !ok:
	case w.expected[answer.ID] > 1:
		w.expected[answer.ID]--
	default: // an answer to no known request changes nothing
		delete(w.expected, answer.ID)
	}
	if len(w.expected) == 0 && w.wait != nil {
		close(w.wait)
		w.wait = nil
	}
	return n, err
}

// refuse answers a line that is no message. What has the same id still waits for its answer.
func (w *lineWriter) refuse(id json.RawMessage, code int, why string) error {
	text, err := json.Marshal(why)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = fmt.Fprintf(w.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", id, code, text)
	return err
}

// expect notes a request that was read.
func (w *lineWriter) expect(id jsonrpc.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.expected == nil {
		w.expected = map[jsonrpc.ID]int{}
	}
	w.expected[id]++
}

// allAnswered returns a channel that is closed once every request is answered.
func (w *lineWriter) allAnswered() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan struct{})
	if len(w.expected) == 0 {
		close(c)
	} else {
		w.wait = c
	}
	return c
}

func (w *lineWriter) Close() error { return w.out.Close() }
