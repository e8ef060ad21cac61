package proxy

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// A world is a database that several proxies may share.
type world struct {
	t      *testing.T
	db     *sql.DB
	store  *correlation.Store
	path   string
	bubble bool // it has synctest's clock, and the limits that people have
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, path: filepath.Join(t.TempDir(), "acp", "sessions.db")}
	w.db, w.store = w.connect()
	t.Cleanup(func() { w.db.Close() })
	return w
}

// newBubble is newWorld for a test of synctest, whose clock stands still while anything works.
func newBubble(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.bubble = true
	return w
}

// connect opens the database once more, as another process would.
func (w *world) connect() (*sql.DB, *correlation.Store) {
	w.t.Helper()
	db, err := migrations.Open(context.Background(), w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	return db, correlation.New(db, correlation.Options{LiveDir: filepath.Join(filepath.Dir(w.path), "live")})
}

// session reads a session back.
func (w *world) session(harness, id string) correlation.Session {
	w.t.Helper()
	s, err := w.store.Find(context.Background(), harness, id)
	if err != nil {
		w.t.Fatalf("session %s: %v", id, err)
	}
	return s
}

// A source is a memory that says what a test wants.
type source struct {
	mu       sync.Mutex
	starts   []memory.Session
	recalls  []string
	context  memory.Context
	identity memory.Context
	recalled memory.Context
	err      error
	block    chan struct{} // if not nil, Start waits for it
}

func (s *source) Start(ctx context.Context, who memory.Session) (memory.Context, error) {
	s.mu.Lock()
	s.starts = append(s.starts, who)
	context, err, block := s.context, s.err, s.block
	s.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return memory.Context{}, memory.ErrUnavailable
		}
	}
	return context, err
}

func (s *source) Recall(_ context.Context, _ memory.Session, prompt string, _ []string) (memory.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recalls = append(s.recalls, prompt)
	return s.recalled, nil
}

func (s *source) Identity(memory.Session) memory.Context { return s.identity }

func (s *source) started() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.starts)
}

func newSource() *source {
	return &source{
		context: memory.Context{Source: "test", Identity: "You are Alto.",
			Items: []memory.Item{{ID: "m1", Text: "Robin prefers tabs."}}},
		identity: memory.Context{Source: "files", Identity: "You are Alto, says the file."},
	}
}

// An agent answers frames. It runs in one goroutine.
type agent func(f map[string]json.RawMessage, line []byte, say func(format string, args ...any))

// echo is an agent that opens sessions s1, s2, … and answers every prompt with end_turn.
func echo() agent {
	n := 0
	return func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		switch method(f) {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentInfo":{"name":"echo","version":"1"},`+
				`"agentCapabilities":{"loadSession":true}}}`, f["id"])
		case "session/new":
			n++
			say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s%d"}}`, f["id"], n)
		case "session/prompt":
			say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":`+
				`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"heard"}}}}`,
				param(f, "sessionId"))
			say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, f["id"])
		default:
			if f["id"] != nil && f["method"] != nil {
				say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, f["id"])
			}
		}
	}
}

func method(f map[string]json.RawMessage) string {
	var m string
	_ = json.Unmarshal(f["method"], &m)
	return m
}

func param(f map[string]json.RawMessage, name string) json.RawMessage {
	var p map[string]json.RawMessage
	_ = json.Unmarshal(f["params"], &p)
	return p[name]
}

// A connection is one proxy process of a world, with a client and an agent at its ends.
type connection struct {
	t       *testing.T
	relay   *Relay
	events  *eventlog.Log
	in      io.WriteCloser // the client writes here
	out     *bufio.Reader
	clock   atomic.Int64 // how far the relay's clock is ahead
	talk    safeBuffer
	mu      sync.Mutex
	heard   [][]byte // lines that the agent got
	arrived *sync.Cond
	ended   chan error
	closed  bool
	ends    func() // the conversation
	close   func() // and lets go of everything
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// pipe is one of the system's, but in a bubble, whose clock a read of it would stop.
func (w *world) pipe() (io.ReadCloser, io.WriteCloser) {
	w.t.Helper()
	if w.bubble {
		r, wr := io.Pipe()
		return r, wr
	}
	r, wr, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	return r, wr
}

// A Memory is a source of memory and of the local identity files.
type Memory interface {
	memory.Source
	Identity(memory.Session) memory.Context
}

// start starts a relay between this test and an agent.
func (w *world) start(mem Memory, a agent, change ...func(*Options)) *connection {
	w.t.Helper()
	clientIn, clientWrite := w.pipe()
	clientRead, clientOut := w.pipe()
	agentRead, agentIn := w.pipe()
	agentOut, agentWrite := w.pipe()
	c := &connection{t: w.t, in: clientWrite, out: bufio.NewReader(clientRead), ended: make(chan error, 1)}
	c.arrived = sync.NewCond(&c.mu)

	db, store := w.connect()
	var hangup sync.Once
	o := Options{
		Client:   Client{In: clientIn, Out: clientOut, Stderr: &c.talk},
		Harness:  Harness{In: agentIn, Out: agentOut, Hangup: func() { hangup.Do(func() { agentIn.Close() }) }},
		Name:     "echo",
		Identity: mem.Identity,
		// there for slow machines, and here too long to matter
		HoldLimit: 2 * patience,
		Now:       func() time.Time { return time.Now().Add(time.Duration(c.clock.Load())) },
		Events: func(folded func(bool, []int)) (Events, error) {
			var err error
			c.events, err = eventlog.Open(eventlog.Options{
				Dir:     filepath.Join(filepath.Dir(w.path), "live"),
				Process: correlation.ProcessInfo{Kind: correlation.Relay},
				Folded:  folded,
			})
			return c.events, err
		},
		Open: func(ctx context.Context) (*Backend, error) {
			if err := (eventlog.Sweep{Store: store}).Run(ctx); err != nil {
				return nil, err
			}
			c.events.Attach(store)
			foldAll := func(ctx context.Context) {
				_ = eventlog.Sweep{Store: store, Living: true, Except: c.events.Process()}.Run(ctx)
			}
			return &Backend{Ledger: store, Memory: mem, FoldAll: foldAll, TakeIn: foldAll}, nil
		},
	}
	if w.bubble {
		o.HoldLimit, o.Now = 0, nil
	}
	for _, f := range change {
		f(&o)
	}
	agentDone := make(chan struct{})
	go func() {
		defer close(agentDone)
		defer agentWrite.Close()
		c.runAgent(agentRead, agentWrite, a)
	}()
	c.relay = New(o)
	go func() {
		err := c.relay.Run()
		clientOut.Close()
		c.ended <- err
	}()
	var ending sync.Once
	c.ends = func() {
		ending.Do(func() {
			clientWrite.Close()
			go func() { _, _ = io.Copy(io.Discard, c.out) }()
			select {
			case err := <-c.ended:
				if err != nil {
					w.t.Errorf("the relay ended with %v", err)
				}
			case <-time.After(patience):
				w.t.Error("the relay did not end")
			}
			<-agentDone
		})
	}
	c.close = func() {
		if c.closed {
			return
		}
		c.closed = true
		c.ends()
		for _, f := range []io.Closer{clientIn, clientRead, clientOut, agentRead, agentOut} {
			f.Close()
		}
		hangup.Do(func() { agentIn.Close() })
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		// what the database did not take in time; a busy machine may let it go late
		if err := (eventlog.Sweep{Store: store, Living: true}).Run(sqlite.WithLockWait(ctx, patience)); err != nil {
			w.t.Errorf("taking in what is left: %v", err)
		}
		db.Close()
	}
	w.t.Cleanup(c.close)
	return c
}

// know reads what a relay knows.
func (c *connection) know(f func(*session.Connection)) {
	c.relay.talk.Do(f)
}

// given is what a session was given.
func (c *connection) given(id string) (g session.Given) {
	c.know(func(all *session.Connection) { g = all.Given(id) })
	return g
}

func (c *connection) runAgent(in io.Reader, out io.Writer, a agent) {
	r := bufio.NewReader(in)
	say := func(format string, args ...any) {
		_, _ = fmt.Fprintf(out, format+"\n", args...)
	}
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			c.mu.Lock()
			c.heard = append(c.heard, line)
			c.arrived.Broadcast()
			c.mu.Unlock()
			var f map[string]json.RawMessage
			if json.Unmarshal(line, &f) == nil {
				a(f, line, say)
			}
		}
		if err != nil {
			return
		}
	}
}

// send writes a line as the client.
func (c *connection) send(format string, args ...any) {
	c.t.Helper()
	line := format
	if len(args) > 0 {
		line = fmt.Sprintf(format, args...)
	}
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// read returns the next line that the client gets.
func (c *connection) read() string {
	c.t.Helper()
	type result struct {
		line string
		err  error
	}
	got := make(chan result, 1)
	go func() {
		line, err := c.out.ReadString('\n')
		got <- result{line, err}
	}()
	select {
	case r := <-got:
		if r.err != nil && (!errors.Is(r.err, io.EOF) || r.line == "") {
			c.t.Fatalf("reading: %v; said: %s", r.err, c.talk.String())
		}
		return strings.TrimSuffix(r.line, "\n")
	case <-time.After(3 * patience): // a line of 64 MB, with the race detector on a busy machine
		c.t.Fatalf("nothing to read; said: %s", c.talk.String())
		return ""
	}
}

// until reads lines until one holds text, and returns them all.
func (c *connection) until(text string) []string {
	c.t.Helper()
	var all []string
	for {
		line := c.read()
		all = append(all, line)
		if strings.Contains(line, text) {
			return all
		}
	}
}

// call sends a request and reads up to its response.
func (c *connection) call(id int, method, params string) string {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
	lines := c.until(fmt.Sprintf(`"id":%d,`, id))
	return lines[len(lines)-1]
}

// open does what every client does first.
func (c *connection) open() {
	c.t.Helper()
	c.call(0, "initialize", `{"protocolVersion":1,"clientInfo":{"name":"tester","version":"1"}}`)
}

// prompt sends a plain prompt and reads the turn.
func (c *connection) prompt(id int, session, text string) string {
	c.t.Helper()
	return c.call(id, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session,
		text))
}

// sendPrompt sends a prompt, and does not wait for its response.
func (c *connection) sendPrompt(id int, session, text string) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text",`+
		`"text":%q}]}}`, id, session, text)
}

// got returns the lines that reached the agent and hold text.
func (c *connection) got(text string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, line := range c.heard {
		if bytes.Contains(line, []byte(text)) {
			all = append(all, string(line))
		}
	}
	return all
}

// blocks returns the texts of the blocks of the n-th prompt that the agent got.
func (c *connection) blocks(n int) []string {
	c.t.Helper()
	prompts := c.got(`"session/prompt"`)
	if len(prompts) <= n {
		c.t.Fatalf("the agent got %d prompts", len(prompts))
	}
	var f struct {
		Params struct {
			Prompt []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(prompts[n]), &f); err != nil {
		c.t.Fatal(err)
	}
	var texts []string
	for _, b := range f.Params.Prompt {
		texts = append(texts, b.Text)
	}
	return texts
}

func clip(s string) string { return s[:min(len(s), 60)] }

// await waits for a session to reach a state in the ledger.
func (w *world) await(id string, state correlation.State) {
	w.t.Helper()
	var s correlation.Session
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if s, _ = w.store.Find(w.t.Context(), "echo", id); s.State == state {
			return
		}
	}
	w.t.Fatalf("state of %s is %q, want %q", id, s.State, state)
}

// awaitFetch waits until a session's fetch has ended.
func (w *world) awaitFetch(c *connection, id string) {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		done := false
		c.know(func(all *session.Connection) {
			s := all.Given(id).Session
			done = s != nil && s.Fetched()
		})
		if done {
			return
		}
	}
	w.t.Fatal("the fetch did not end")
}

func textBlock(text string) string {
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"text","text":%s}`, quoted)
}
