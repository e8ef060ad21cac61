package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A model is a harness with a memory of its own, which outlives its processes and which several of them share. It
// speaks as the real ones do (docs/facts/harnesses.md).
type model struct {
	glue  string // how it shows the blocks of a user's turn: "chunks", or joined by this
	echo  bool   // it shows a prompt again while it answers
	keeps bool   // a failed prompt stays in the history
	// what it keeps of a cancelled prompt, as far as the relay is told; where that is nothing, it keeps it
	cancelled session.Cancelled
	forks     bool                   // it shows a fork's history before it answers
	silent    bool                   // it shows nothing on load
	old       bool                   // it tells of an old compaction on load
	lists     func(id string) string // under which id it lists a session, which it loads by both; nil: its own

	mu       sync.Mutex
	sessions map[string]*history
	made     int
	prompts  map[string]bool // ids of the prompts that were dealt with
	dealt    *sync.Cond
}

// history is what a model has of a session.
type history struct {
	turns [][]string // the blocks of each of the user's turns
	doubt bool       // context was in a prompt that failed: it may stand there twice
}

func newModel() *model {
	h := &model{glue: "chunks", sessions: map[string]*history{}, prompts: map[string]bool{}}
	h.dealt = sync.NewCond(&h.mu)
	return h
}

// awaitPrompt waits until a prompt was dealt with.
func (h *model) awaitPrompt(id int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for !h.prompts[fmt.Sprint(id)] {
		h.dealt.Wait()
	}
}

// A outcome says what becomes of a prompt.
type outcome string

const (
	succeed outcome = `"result":{"stopReason":"end_turn"}`
	cancel  outcome = `"result":{"stopReason":"cancelled"}`
	refuse  outcome = `"error":{"code":-32602,"message":"no"}`
	fail    outcome = `"error":{"code":-32603,"message":"boom"}`
	hang    outcome = "" // none
)

// traits is what the relay knows of the model.
func (h *model) traits(string) session.Traits {
	return session.Traits{KeepsFailed: h.keeps, Cancelled: h.cancelled}
}

// remembers reports whether a prompt that ends so stays in the history.
func (h *model) remembers(o outcome) bool {
	switch o {
	case refuse:
		return false
	case fail, hang:
		return h.keeps
	case cancel:
		return h.cancelled != session.CancelledForgot
	}
	return true
}

// modelProcess is one process of a model.
type modelProcess struct {
	model *model
	open  map[string]bool
	next  atomic.Value // outcome: to the next prompts
	extra atomic.Value // string: said while a prompt is answered
}

func (h *model) process() *modelProcess {
	r := &modelProcess{model: h, open: map[string]bool{}}
	r.next.Store(succeed)
	return r
}

// agent answers as the model does.
func (r *modelProcess) agent(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
	h := r.model
	h.mu.Lock()
	defer h.mu.Unlock()
	var id string
	_ = json.Unmarshal(param(f, "sessionId"), &id)
	s := h.session(id)
	reply := func(format string, args ...any) {
		say(`{"jsonrpc":"2.0","id":%s,%s}`, f["id"], fmt.Sprintf(format, args...))
	}
	switch method(f) {
	case "initialize":
		reply(`"result":{"protocolVersion":1,"agentInfo":{"name":"model","version":"1"}}`)
	case "session/new":
		id = h.make(r, nil)
		reply(`"result":{"sessionId":%q}`, id)
		say("%s",
			update(id,
				`{"sessionUpdate":"available_commands_update","availableCommands":`+
					`[{"name":"compact"},{"name":"clear"},{"name":"review/all"}]}`))
	case "session/fork":
		if s == nil {
			reply(`"error":{"code":-32002,"message":"Resource not found"}`)
			return
		}
		child := h.make(r, s)
		if h.forks {
			h.replay(child, say)
		}
		reply(`"result":{"sessionId":%q}`, child)
	case "session/load", "session/resume":
		if s == nil {
			reply(`"error":{"code":-32002,"message":"Resource not found"}`)
			return
		}
		r.open[id] = true
		if method(f) == "session/load" && !h.silent {
			h.replay(id, say)
		}
		if h.old {
			say("%s", compactedUpdate(id, "completed"))
		}
		reply(`"result":{}`)
	case "session/list":
		var all []string
		for id, s := range h.sessions {
			title := ""
			if len(s.turns) > 0 {
				title = strings.Join(s.turns[0], "\n")
			}
			quoted, _ := json.Marshal(title)
			all = append(all, fmt.Sprintf(`{"sessionId":%q,"cwd":"/tmp/x","title":%s}`, h.listed(id), quoted))
		}
		reply(`"result":{"sessions":[%s]}`, strings.Join(all, ","))
	case "session/close":
		delete(r.open, id)
		reply(`"result":{}`)
	case "session/prompt":
		if s == nil || !r.open[id] {
			reply(`"error":{"code":-32002,"message":"Resource not found"}`)
			return
		}
		h.prompt(r, id, line, say, reply)
		h.prompts[string(f["id"])] = true
		h.dealt.Broadcast()
	default:
		if f["id"] != nil && f["method"] != nil {
			reply(`"result":{}`)
		}
	}
}

// listed is the id under which it lists a session.
func (h *model) listed(id string) string {
	if h.lists == nil {
		return id
	}
	return h.lists(id)
}

// session returns a session by either id, nil for none.
func (h *model) session(id string) *history {
	if s := h.sessions[id]; s != nil {
		return s
	}
	for own, s := range h.sessions {
		if h.listed(own) == id {
			return s
		}
	}
	return nil
}

func (h *model) make(r *modelProcess, parent *history) string {
	h.made++
	id := fmt.Sprintf("model-session-%04d", h.made)
	h.sessions[id] = &history{}
	if parent != nil {
		h.sessions[id].turns, h.sessions[id].doubt = slices.Clone(parent.turns), parent.doubt
	}
	r.open[id] = true
	return id
}

func (h *model) prompt(r *modelProcess, id string, line []byte, say, reply func(string, ...any)) {
	s, next := h.session(id), r.next.Load().(outcome)
	var p struct {
		Params struct{ Prompt []struct{ Text string } }
	}
	if err := json.Unmarshal(line, &p); err != nil {
		panic(err)
	}
	var blocks []string
	for _, b := range p.Params.Prompt {
		blocks = append(blocks, b.Text)
	}
	if h.remembers(next) {
		s.turns = append(s.turns, blocks)
	}
	if len(blocks) > 1 && (next == fail || next == hang || next == cancel && h.cancelled == "") {
		s.doubt = true
	}
	if h.echo {
		h.show(id, blocks, say)
	}
	if extra, _ := r.extra.Load().(string); extra != "" {
		say("%s", extra)
	}
	if next != hang {
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":`+
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"heard"}}}}`, id)
		reply("%s", string(next))
	}
}

func (h *model) replay(id string, say func(string, ...any)) {
	for _, blocks := range h.session(id).turns {
		h.show(id, blocks, say)
	}
}

func (h *model) show(id string, blocks []string, say func(string, ...any)) {
	if h.glue != "chunks" {
		blocks = []string{strings.Join(blocks, h.glue)}
	}
	for _, text := range blocks {
		say("%s", userChunk(id, text))
	}
}

// userChunk is a frame that shows a user's words, in the escapes that Go's encoder uses: \u003c.
func userChunk(id, text string) string {
	quoted, _ := json.Marshal(text)
	return update(id, `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":`+string(quoted)+`}}`)
}

func update(id, what string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, id, what)
}

func compactedUpdate(id, status string) string {
	return update(id, `{"sessionUpdate":"compaction_update","compactionId":"c1","status":"`+status+`"}`)
}

// contexts counts how often the context stands in a session's history.
func (h *model) contexts(id string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, blocks := range h.sessions[id].turns {
		if len(blocks) > 1 && strings.HasPrefix(blocks[0], session.OpenMark) &&
			strings.Contains(blocks[0], "You are Alto") {
			n++
		}
	}
	return n
}

func (h *model) inDoubt(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id].doubt
}

func (h *model) ids() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.sessions))
}

// longLimits makes the limits that are there for slow machines too long to matter.
func longLimits(o *Options) {
	o.Name = "model"
	o.HoldLimit = 2 * patience
}

// killable is the file of events of a process that can be killed: nothing reaches it afterwards.
type killable struct {
	Events
	dead *atomic.Bool
}

func (m killable) Append(e ...correlation.Event) {
	if !m.dead.Load() {
		m.Events.Append(e...)
	}
}

func (m killable) AppendWait(ctx context.Context, e correlation.Event) error {
	if m.dead.Load() {
		return eventlog.ErrNotWritten
	}
	return m.Events.AppendWait(ctx, e)
}

// startKillable starts a relay whose process can be killed.
func (w *world) startKillable(mem Memory, r *modelProcess, change ...func(*Options)) (c *connection, kill func()) {
	w.t.Helper()
	var dead atomic.Bool
	c = w.start(mem, r.agent, append([]func(*Options){longLimits, func(o *Options) {
		begin := o.Events
		o.Events = func(folded func(bool, []int)) (Events, error) {
			events, err := begin(folded)
			return killable{events, &dead}, err
		}
	}}, change...)...)
	kill = func() {
		dead.Store(true)
		_ = os.Remove(filepath.Join(filepath.Dir(w.path), "live", c.events.Process()+".lock"))
		c.close()
	}
	return c, kill
}

// synced waits until the relay has looked at all that has passed, and the database has all that it knows.
func (c *connection) synced() {
	c.t.Helper()
	c.call(-1, "_ping", "{}")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var all []*session.Session
	c.know(func(known *session.Connection) { all = known.Sessions() })
	for _, s := range all {
		c.relay.settled(s, patience)
	}
	if c.relay.database.ready(ctx) == nil {
		c.t.Fatal("the database did not open")
	}
	c.relay.recorder.flush()
	if err := c.events.Folded(ctx); err != nil {
		c.t.Fatalf("the database: %v", err)
	}
}
