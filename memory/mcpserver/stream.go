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

// drainTime is how long a client that has hung up can still get answers: a script sends everything at once and reads
// until the end.
const drainTime = 10 * time.Second

// A lineReader passes on lines that are messages. Any other gets the error that JSON-RPC has for it and costs nothing
// more: the SDK would end the connection, and a harness starts a server once. The end of the stream comes when what
// was asked is answered, for with it the SDK drops what is not.
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
		break // a last line without an end is a line too
	}
	line = bytes.TrimSpace(line)
	switch {
	case size > maxLine:
		return nil, r.refuse(idIn(line, last), -32600,
			fmt.Sprintf("message of %d bytes; at most %d are read", size, maxLine))
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
	if m := headOf(line); m.asks() && !m.longLived() {
		r.answer.owe(m.id())
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

func (r *lineReader) refuse(id json.RawMessage, code int, why string) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	answer := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", id, code, why)
	if m := headOf(answer); m.answers() { // of its own, beside what else may have that id
		r.answer.owe(m.id())
	}
	_, err := r.answer.Write(answer)
	return err
}

// Close ends reading, and waiting for what is owed.
func (r *lineReader) Close() error {
	r.once.Do(func() { close(r.closed) })
	return r.in.Close()
}

// A lineWriter keeps messages whole, for the reader's answers stand between the SDK's, and knows what is still to be
// answered.
type lineWriter struct {
	mu   sync.Mutex
	out  io.WriteCloser
	owed map[string]int // requests without an answer, by id: a client may use one twice
	wait chan struct{}  // closed when nothing is owed; nil while nobody waits
}

// Write writes one message, or several whole ones.
func (w *lineWriter) Write(b []byte) (int, error) {
	m := headOf(b)
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(b)
	if m.answers() {
		w.settleLocked(m.id())
	}
	return n, err
}

// owe notes a request that was read.
func (w *lineWriter) owe(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owed == nil {
		w.owed = map[string]int{}
	}
	w.owed[id]++
}

// settleLocked notes an answer. One to a request that nobody waits for changes nothing.
func (w *lineWriter) settleLocked(id string) {
	if w.owed[id] > 1 {
		w.owed[id]--
		return
	}
	delete(w.owed, id)
	if len(w.owed) == 0 && w.wait != nil {
		close(w.wait)
		w.wait = nil
	}
}

// paid gives a channel that is closed once nothing is owed.
func (w *lineWriter) paid() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan struct{})
	if len(w.owed) == 0 {
		close(c)
	} else {
		w.wait = c
	}
	return c
}

func (w *lineWriter) Close() error { return w.out.Close() }
