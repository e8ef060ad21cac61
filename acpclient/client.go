// Package acpclient is the client's side of an ACP connection, as far as this program needs one: sessions, prompts, and
// requests for permission that a rule answers. It reads from and writes to the pipes of whatever speaks ACP: agents
// that get delegations, those that init tries, and those that doctor looks at.
//
// What is sent has the Go SDK's types. What is read is decoded into what is looked at alone, so that an unknown kind
// does not make an answer unreadable; and it is not built on the SDK's connection, whose limits a talkative agent can
// reach: that one closes when more than 1,024 updates wait, takes no line of more than 10 MB, and answers a request for
// permission before it has shown the call that it is about (docs/facts/acp.md, "The Go SDK on the wire"). Here one
// goroutine reads and decides, in the order in which messages come.
package acpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	acp "github.com/coder/acp-go-sdk"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// Errors of a Call beside the agent's own.
var (
	ErrEnded  = errors.New("the agent ended")
	ErrUnread = fmt.Errorf("%w: it closed its stdin", ErrEnded)
)

// The protocol's codes of errors.
const (
	codeAuthRequired   = -32000
	codeMethodNotFound = -32601
)

const maxNoise = 1 << 10 // bytes of a line that is no message

// maxLine is the longest frame that is read, in bytes; a longer one is passed over.
const maxLine = 16 << 20

// An Error is an agent's error response.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string {
	text := chars.Cut(e.Message, 300)
	if len(e.Data) > 0 && string(e.Data) != "null" {
		text += " " + chars.Cut(string(e.Data), 300)
	}
	return fmt.Sprintf("%s (%d)", text, e.Code)
}

// NeedsLogin reports whether the agent wants a person to log in first.
func NeedsLogin(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Code == codeAuthRequired
}

// A Handler is called with what the agent says, in order, from one goroutine. It must not block.
type Handler interface {
	Update(u Update)
	// Allow decides whether a tool may do what it asks for. It calls answer once, at once or later.
	Allow(call ToolCall, answer func(allowed bool))
}

// A Conn is a connection. Its methods may be called from several goroutines.
type Conn struct {
	out     io.Writer
	handler Handler
	writing sync.Mutex
	tasks   guard.Group // requests that are being written

	mu      sync.Mutex // guards what follows
	next    int
	waiting map[string]chan answer // for responses, by request id
	ended   bool
	noise   string // the first line that is no message
}

type answer struct {
	result json.RawMessage
	err    error
}

// New makes a connection that writes to out. Calls are answered only while Read runs.
func New(out io.Writer, h Handler) *Conn {
	return &Conn{out: out, handler: h, waiting: map[string]chan answer{}}
}

// A frame is any JSON-RPC message.
type frame struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Read reads what the agent says until it ends. Lines that are no messages are passed over.
func (c *Conn) Read(in io.Reader) {
	lines := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	for {
		part, err := lines.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) <= maxLine {
			c.dispatch(bytes.TrimSpace(line))
		}
		if line = line[:0]; cap(line) > 1<<20 {
			line = nil
		}
		if err != nil {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for id, wait := range c.waiting {
		wait <- answer{err: ErrEnded}
		delete(c.waiting, id)
	}
}

// dispatch handles one message.
func (c *Conn) dispatch(line []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if len(line) == 0 {
		return
	}
	if line[0] != '{' || json.Unmarshal(line, &m) != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.noise == "" {
			c.noise = chars.Cut(string(line), maxNoise)
		}
		return
	}
	switch {
	case m.Method == acp.ClientMethodSessionUpdate:
		var n struct{ Update Update }
		if json.Unmarshal(m.Params, &n) == nil {
			c.handler.Update(n.Update)
		}
	case m.Method != "" && len(m.ID) > 0:
		c.serve(m.ID, m.Method, m.Params)
	case m.Method == "":
		c.mu.Lock()
		wait := c.waiting[string(m.ID)]
		delete(c.waiting, string(m.ID))
		c.mu.Unlock()
		if wait != nil {
			wait <- newAnswer(m.Result, m.Error)
		}
	}
}

func newAnswer(result, failed json.RawMessage) answer {
	if len(failed) == 0 || string(failed) == "null" {
		return answer{result: result}
	}
	refused := &Error{}
	if json.Unmarshal(failed, refused) != nil {
		refused.Message = chars.Cut(string(failed), 300)
	}
	return answer{err: refused}
}

// serve answers a request of the agent.
func (c *Conn) serve(id json.RawMessage, method string, params json.RawMessage) {
	reply := frame{ID: id, Error: &Error{Code: codeMethodNotFound, Message: "method not found"}}
	if method == acp.ClientMethodSessionRequestPermission {
		var p permission
		if json.Unmarshal(params, &p) == nil {
			c.handler.Allow(p.ToolCall, func(allowed bool) { _ = c.write(frame{ID: id, Result: p.answer(allowed)}) })
			return
		}
	}
	_ = c.write(reply) // an agent that cannot be written to is ending
}

func (c *Conn) write(f frame) error {
	f.JSONRPC = "2.0"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(b.Bytes())
	return err
}

// Noise returns the beginning of the first line that was no message, "" for none.
func (c *Conn) Noise() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.noise
}

// WaitWrites waits for requests that are still being written. It is to be called once out is closed.
func (c *Conn) WaitWrites() { c.tasks.Wait() }

// call sends a request and decodes the response into result, if not nil. Errors: *Error, ErrEnded, ctx's.
func (c *Conn) call(ctx context.Context, method string, params, result any) error {
	wait := make(chan answer, 1)
	c.mu.Lock()
	c.next++
	id := strconv.Itoa(c.next)
	ended := c.ended
	if !ended {
		c.waiting[id] = wait
	}
	c.mu.Unlock()
	if ended {
		return ErrEnded
	}
	sent := make(chan error, 1) // written in a goroutine, because an agent may not read
	c.tasks.Go("request", func() {
		sent <- c.write(frame{ID: json.RawMessage(id), Method: method, Params: params})
	})
	for {
		select {
		case err := <-sent:
			if err != nil {
				return ErrUnread
			}
			sent = nil
		case a := <-wait:
			if a.err != nil || result == nil || len(a.result) == 0 {
				return a.err
			}
			if err := json.Unmarshal(a.result, result); err != nil {
				return fmt.Errorf("reading the agent's answer to %s: %w", method, err)
			}
			return nil
		case <-ctx.Done():
			c.mu.Lock()
			delete(c.waiting, id)
			c.mu.Unlock()
			return ctx.Err()
		}
	}
}
