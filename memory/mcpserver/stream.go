package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxLine bounds a message, in bytes. What a tool can be given is far smaller.
const maxLine = 8 << 20

// A lineReader passes on lines that are JSON. Any other gets the error that JSON-RPC has for it and costs nothing more: the SDK would end the
// connection, and a harness starts a server once.
type lineReader struct {
	in     io.Closer
	lines  *bufio.Reader
	answer io.Writer
	rest   []byte // of a line that is being read
}

func newLineReader(in io.ReadCloser, answer io.Writer) *lineReader {
	return &lineReader{in: in, lines: bufio.NewReaderSize(in, 8<<10), answer: answer}
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.line()
		if err != nil {
			return 0, err
		}
		r.rest = line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line gives the next line that is JSON, with its end; nil for one that is not.
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
		return nil, r.refuse(-32600, fmt.Sprintf("message of %d bytes; at most %d are read", size, maxLine))
	case len(line) == 0:
		return nil, nil
	case !json.Valid(line):
		return nil, r.refuse(-32700, "a message must be JSON on one line")
	}
	return append(line, '\n'), nil
}

func (r *lineReader) refuse(code int, why string) error {
	_, err := fmt.Fprintf(r.answer, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, why)
	return err
}

func (r *lineReader) Close() error { return r.in.Close() }

// A lineWriter keeps messages whole: the reader's answers stand between the SDK's.
type lineWriter struct {
	mu  sync.Mutex
	out io.WriteCloser
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}

func (w *lineWriter) Close() error { return w.out.Close() }
