package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// A stage plays everything around a connection: client, harness, ledger and memory, step by step, with a clock of its
// own (synctest). What is to be done is done at once, unless a test says that it comes late.
type stage struct {
	*testing.T
	o      Options
	traits Traits
	n      int // keys, ids and requests so far
	id     string

	// memory
	got      memory.Context
	identity memory.Context
	found    memory.Context
	err      error
	keys     map[string]bool // under which something was fetched
	late     bool            // what is fetched has not come
	slow     bool            // nor what is found

	// the harness
	kept     map[string][]string // what it keeps of what the user said, our blocks included
	keeps    bool                // failed prompts too
	silent   bool                // it shows nothing on load
	old      bool                // it tells of an old compaction on load
	tools    int                 // calls in the next turn
	says     []string            // ids of messages in the next turn
	compacts string              // the status of a compaction in the next turn
	usage    []Usage
	shown    []string          // a history that nobody here knows
	seen     func(*Connection) // in the next turn
	version2 bool              // it speaks that
	rows     map[string]*row
	dumb     bool // the ledger does not answer yet
	asked    []*Lookup
	claims   []error       // its next answers to claims; none: by the row
	lateBy   time.Duration // for that it takes so long
	still    bool          // nothing follows from what happens

	mu      sync.Mutex          // guards what follows
	effects map[string][]string // what has happened, by kind

	processes int

	*side
	sides   []*side
	other   *side
	carried string
}

// A side is one proxy, and what is beside it.
type side struct {
	*stage
	*Owner
	process int
	dead    bool
	rows    map[int]*row // by the session's number
	late    []fetchJob
	events  []correlation.Event
}

// A row is what the ledger has of a session.
type row struct {
	correlation.Session
	parent *row
	blocks []correlation.Injection // oldest first
	by     *side                   // who has claimed it
	from   correlation.State
	key    string // of a context that is stored
	stored []byte
}

var (
	whole    = "identity+memories"
	ofMemory = memory.Context{Source: "test", Identity: "You are Alto.",
		Items: []memory.Item{{ID: "m1", Text: "Robin prefers tabs."}}}
	fromFiles = memory.Context{Source: "files", Identity: "You are Alto, says the file."}
)

// onStage runs a test on a stage.
func onStage(t *testing.T, f func(*stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newStage(t)
		defer func() {
			time.Sleep(time.Minute) // until what is late has come
			for _, s := range p.sides {
				s.End()
			}
		}()
		f(p)
	})
}

func newStage(t *testing.T) *stage {
	p := &stage{T: t, got: ofMemory, identity: fromFiles, effects: map[string][]string{},
		keys: map[string]bool{}, kept: map[string][]string{}, rows: map[string]*row{}}
	p.o = Options{
		Now:     func() time.Time { return time.Now().UTC() },
		Harness: "model", Continues: "acpx",
		Hold:    1500 * time.Millisecond,
		Project: func(cwd string) string { return cwd },
		NewKey:  func() string { p.n++; return fmt.Sprintf("key-%d", p.n) },
	}
	return p
}

func (p *stage) start() {
	p.o.Traits = p.traits
	p.processes++
	p.carried = ""
	p.side = &side{stage: p, process: p.processes, rows: map[int]*row{}}
	p.side.Owner = Own(p.o, p.side)
	p.sides = append(p.sides, p.side)
	p.do(func(c *Connection) {
		c.ClientGreeted(Program{Name: "tester"}, "0", "initialize")
		c.Answered("0")
		c.AgentGreeted(Program{Name: "model"}, p.traits)
	})
}

// do has the goroutine do something, and all that follows from it be done.
func (p *stage) do(f func(*Connection)) {
	p.Helper()
	before := p.TurnChanges()
	p.Do(f)
	synctest.Wait()
	if p.TurnChanges() < before {
		p.Error("a change of turns is taken back")
	}
}

// say notes what has happened.
func (p *stage) say(kind string, what ...any) {
	p.mu.Lock() // what is late may say something, too
	defer p.mu.Unlock()
	for _, one := range what {
		if s, is := one.(*Session); is && s == nil {
			continue
		}
		p.effects[kind] = append(p.effects[kind], effect(one))
	}
}

func (w *side) Record(events ...correlation.Event) {
	for _, e := range events {
		w.say("Record", e)
		w.record(w, e)
	}
}

func (w *side) Hurry(when Urgency) { w.say([...]string{"Soon", "Later", "Full"}[when], true) }

func (w *side) Fault(_ *Session, err error) { w.Error(err) }

func (w *side) FindRecord(*Session) {}

func (w *side) LookUp(_ context.Context, l *Lookup) {
	w.say("Lookups", l)
	if w.asked = append(w.asked, l); !w.dumb && !w.still {
		w.asked = nil
		go w.Do(func(c *Connection) { w.lookUp(c, l) })
	}
}

// answer answers what the ledger was asked.
func (p *stage) answer() {
	p.Helper()
	all := p.asked
	p.asked = nil
	for _, l := range all {
		p.do(func(c *Connection) { p.lookUp(c, l) })
	}
}

// A fetchJob is a fetch that is to be run.
type fetchJob struct {
	fetch *Fetch
	local bool
}

func (w *side) Fetch(f *Fetch, who memory.Session, local bool) {
	w.say("Fetches", "there")
	w.keys[who.Key] = true
	if w.late = append(w.late, fetchJob{f, local}); !w.still && (!w.stage.late || local) {
		go w.Do(w.fetched)
	}
}

// fetched ends the fetches that are under way.
func (w *side) fetched(c *Connection) {
	jobs := w.late
	w.late = nil
	for _, job := range jobs {
		got, err := w.got, w.err
		if job.local {
			got, err = w.identity, nil
		}
		var stored json.RawMessage
		if err != nil {
			got = memory.Context{}
		} else {
			stored, _ = json.Marshal(got)
		}
		c.FetchEnded(job.fetch, got, stored, err)
	}
}

// fetch ends the fetches that are under way.
func (p *stage) fetch() { p.do(p.side.fetched) }

func (w *side) Recall(p *Held, _ memory.Session, given []string) {
	w.say("Recall", p.Until.Sub(p.Read))
	if w.slow || w.still {
		return
	}
	found := w.found
	found.Items = slices.DeleteFunc(slices.Clone(found.Items), func(m memory.Item) bool {
		return slices.Contains(given, m.ID)
	})
	go w.Do(func(*Connection) { p.Found = &found })
}

func (w *side) Continued(_ context.Context, p *Held) {
	go w.Do(func(*Connection) { p.Continued = new(string) })
}

func (w *side) Identity(p *Held, _ memory.Session) {
	go w.Do(func(*Connection) { p.Files = &w.identity })
}

func (w *side) Claim(ctx context.Context, p *Held, from correlation.State, in correlation.Injection) {
	end, _ := ctx.Deadline()
	w.say("Claim", strings.Join(append([]string{in.Kind, fmt.Sprint(time.Until(end))}, in.Items...), " "))
	late, err := w.lateBy, error(nil)
	if len(w.claims) > 0 {
		err, w.claims = w.claims[0], w.claims[1:]
	} else {
		err = w.claim(w, p.Session, from, in)
	}
	go func() {
		time.Sleep(late)
		w.Do(func(c *Connection) { c.Claimed(p, in, err == nil, err) })
	}()
}

// record is the ledger, which takes events as they come.
func (p *stage) record(w *side, e correlation.Event) {
	w.events = append(w.events, e)
	switch e := e.(type) {
	case correlation.Opened:
		r := p.rows[e.Open.ACPID]
		if r == nil {
			r = &row{Session: correlation.Session{ID: int64(len(p.rows) + 1), Started: time.Now(), Harness: "model"}}
			r.State, r.Key, r.Cwd = correlation.Armed, e.Open.Key, e.Open.Cwd
			if e.Open.State != "" {
				r.State = e.Open.State
			}
			for _, parent := range p.rows {
				if parent.ID == e.Open.ForkOf || e.Fork > 0 && parent == w.rows[e.Fork] {
					r.parent, r.ForkOf = parent, parent.ID
				}
			}
			p.rows[e.Open.ACPID] = r
		}
		w.rows[e.Session] = r
	case correlation.Stepped:
		w.rows[e.Session].step(w, e.From, e.Step)
	case correlation.Injected:
		r := w.rows[e.Session]
		e.Injection.Session = r.ID
		r.blocks = append(r.blocks, e.Injection)
	case correlation.ContextStored:
		r := w.rows[e.Session]
		r.key, r.stored = e.Key, e.Context
	case correlation.ContextDropped:
		w.rows[e.Session].stored = nil
	}
}

func (r *row) step(by *side, from []correlation.State, e correlation.Step) {
	settles := slices.Contains([]correlation.StepName{correlation.Answered, correlation.Refused, correlation.Failed,
		correlation.Cancelled, correlation.Died}, e.Name)
	if from != nil && !slices.Contains(from, r.State) || settles && (r.State != correlation.InFlight || r.by != by) {
		return
	}
	e.From = r.from
	next, outcome, ok := r.State.On(e)
	if !ok {
		return
	}
	if outcome != correlation.Unsettled && len(r.blocks) > 0 {
		r.blocks[len(r.blocks)-1].Outcome = outcome
	}
	r.State = next
}

// fresh is the row's state now: its process may have died.
func (r *row) fresh() correlation.State {
	if r.State == correlation.InFlight && r.by.dead {
		r.step(r.by, nil, correlation.Step{Name: correlation.Died})
	}
	return r.State
}

// given are the injections of a session and its parents, newest first.
func (r *row) given() (all []correlation.Injection) {
	for ; r != nil; r = r.parent {
		for _, in := range slices.Backward(r.blocks) {
			all = append(all, in)
		}
	}
	return all
}

func (p *stage) lookUp(c *Connection, l *Lookup) {
	found, answer := Found{}, LookedUp{Unknown: l.Kind != OpensNew}
	if r := p.rows[l.ID]; r != nil && l.Kind != OpensNew {
		r.fresh()
		found.Known, found.Blocks, answer.Unknown = &r.Session, r.given(), false
	}
	_, rows := c.Found(l, found)
	for _, id := range rows {
		for _, r := range p.rows {
			if r.ID == id && r.stored != nil && answer.Stored == nil {
				answer.Stored, answer.Key, r.stored = r.stored, r.key, nil
				_ = json.Unmarshal(answer.Stored, &answer.Context)
			}
		}
	}
	c.LookedUp(l, answer)
}

func (p *stage) claim(w *side, s *Session, from correlation.State, in correlation.Injection) error {
	r := w.rows[s.Number]
	if r == nil {
		return correlation.ErrNotFound
	}
	if r.fresh() != from {
		return correlation.ErrStateChanged
	}
	r.from, r.by, r.State = from, w, correlation.InFlight
	in.Session, in.Outcome = r.ID, correlation.Sending
	r.blocks = append(r.blocks, in)
	return nil
}

// asks has the client ask for a session.
func (p *stage) asks(key string, o Opening) (s *Session) {
	p.Helper()
	p.do(func(c *Connection) { s = c.OpeningAsked(key, "", o) })
	return s
}

// opens has the harness answer that.
func (p *stage) opens(key string, answer OpeningAnswer) (s *Session) {
	p.Helper()
	answer.Editing = true
	p.do(func(c *Connection) {
		if req, ok := c.Answered(key); ok {
			p.say("Request", "there")
			s = c.OpeningAnswered(req, answer)
		}
	})
	return s
}

// judges begins a prompt.
func (p *stage) judges(key string) (v wire.Verdict, t *Turn) {
	p.Helper()
	p.do(func(c *Connection) { v, t = c.JudgePrompt([]byte(p.id), key, false) })
	return v, t
}

// reads has a forwarded prompt read.
func (p *stage) reads(t *Turn, said Said) {
	p.Helper()
	p.do(func(c *Connection) { c.PromptRead(t, len("words"), said) })
}

// answers has the harness answer a prompt, and returns its turn if that has ended, and the event that says so.
func (p *stage) answers(key string, answer PromptAnswer) (t *Turn, ended correlation.Event) {
	p.Helper()
	p.do(func(c *Connection) {
		req, ok := c.Answered(key)
		if !ok || req.Turn == nil {
			return
		}
		p.say("Request", "there")
		if ended = c.PromptAnswered(req, answer); ended != nil {
			p.say("Ended", ended)
			p.record(p.side, ended)
		}
		if !answer.Accepted || answer.Failed {
			t = req.Turn
		}
	})
	return t, ended
}

// idle has a version 2 harness end its turns.
func (p *stage) idle(answer PromptAnswer) (ended correlation.Event) {
	p.Helper()
	p.do(func(c *Connection) {
		if _, ended = c.HarnessIdle([]byte(p.id), answer); ended != nil {
			p.record(p.side, ended)
		}
	})
	return ended
}

// due is what is to be recorded.
func (p *stage) due() (due Due) {
	p.do(func(c *Connection) { due = c.TakeDue() })
	return due
}

// session is the one at hand.
func (p *stage) session() *Session { return p.c.sessions[p.id] }

// open opens a session; shows says that the harness shows its history.
func (p *stage) open(kind OpeningKind, opening Opening, shows bool) {
	p.Helper()
	p.n++
	key := fmt.Sprint(p.n)
	opening.Kind, opening.Cwd, opening.Target = kind, "/tmp/x", p.id
	p.asks(key, opening)
	id := p.id
	if opening.makes() {
		id = fmt.Sprintf("s%d", p.n)
		p.kept[id] = nil
		if kind == OpensFork {
			p.kept[id] = slices.Clone(p.kept[p.id])
		}
	}
	for _, text := range p.kept[id] {
		if shows && !p.silent {
			p.shows(id, text)
		}
	}
	if s := p.opens(key, OpeningAnswer{ID: id}); s == nil || s != p.c.sessions[id] {
		p.Errorf("the answer is about %+v", s)
	}
	p.id = id
	p.do(func(c *Connection) {
		c.Advertised(id, map[string]bool{"compact": true, "clear": true, "review/all": true})
	})
}

// shows has the harness show what the user said.
func (p *stage) shows(id string, texts ...string) (s *Session, cut, text int) {
	p.do(func(c *Connection) {
		if s, _ = c.UserShown([]byte(id), len(strings.Join(texts, "")), true, true); s != nil {
			cut, text, _ = c.Ours(s, texts)
		}
	})
	return s, cut, text
}

// An outcome is how a prompt ends.
type outcome int

const (
	succeeds outcome = iota
	refuses
	fails
	hangs
	hangsAccepted // version 2
	cancelled
)

// words is a prompt that is read.
func words(text string) Prompt {
	return Prompt{Words: func() (string, []string) { return text, nil }, Size: len(text)}
}

// said is what the user has said in a turn that is due.
func said(d DueTurn) (texts []string) {
	for _, p := range d.Prompts {
		text, _ := p.Words()
		texts = append(texts, text)
	}
	return texts
}

// prompt says something, and the harness answers.
func (p *stage) prompt(text string, ends outcome, said ...func(*Said)) {
	p.Helper()
	p.n++
	key := fmt.Sprint(p.n)
	says := saying(text)
	for _, change := range said {
		change(&says)
	}
	p.carried = ""
	block := ""
	switch v, t := p.judges(key); v {
	case wire.Tap:
		p.do(func(c *Connection) { c.PromptRead(t, len(text), says) })
	case wire.Hold:
		var h *Held
		p.do(func(c *Connection) { h = c.HoldPrompt([]byte(p.id), key, promptOf(text), says) })
		if h != nil {
			if in := p.release(h); in != nil {
				block, p.carried = in.Text, carries(in.Text)
			}
		}
	}
	if ends == succeeds || ends == cancelled && p.traits.Cancelled != CancelledForgot ||
		p.keeps && (ends == fails || ends == hangs) {
		p.kept[p.id] = append(p.kept[p.id], block+text)
	}
	accepts := p.version2 && (ends == succeeds || ends == hangsAccepted || ends == cancelled)
	if accepts {
		p.answers(key, PromptAnswer{Accepted: true})
	}
	if s := p.session(); s != nil && s.turns.current() != nil {
		p.inTurn(s)
	}
	if ends == hangs || ends == hangsAccepted {
		return
	}
	answer := PromptAnswer{Stop: StopEnd, Usage: p.usage}
	p.usage = nil
	switch ends {
	case refuses:
		answer.Failed, answer.Code = true, -32602
	case fails:
		answer.Failed, answer.Code = true, -32603
	case cancelled:
		answer.Stop = stopCancelled
	}
	if accepts {
		p.idle(answer)
	} else {
		p.answers(key, answer)
	}
}

// saying is what a prompt of this text says.
func saying(text string) Said {
	blocks, _ := frame.Find(promptOf(text), "params", "prompt")
	return Said{Prompt: words(text), Blocks: blocks, First: text, Words: text}
}

// promptOf is the frame of a prompt.
func promptOf(text string) []byte {
	quoted, _ := json.Marshal(text)
	return []byte(`{"params":{"prompt":[{"type":"text","text":` + string(quoted) + `}]}}`)
}

// inTurn is what the harness does in a turn.
func (p *stage) inTurn(s *Session) {
	var turn *Turn
	tool := func(id, status string, compacts bool) {
		p.do(func(c *Connection) { c.ToolCalled(s, correlation.ToolCall{ID: id, Status: status}, compacts) })
	}
	p.do(func(c *Connection) { _, _, turn = c.JudgeUpdate([]byte(p.id), Words) })
	for i, id := range p.says {
		p.do(func(c *Connection) { c.ChunkCame(turn, id) })
		if i < p.tools {
			tool("t", "", false)
		}
	}
	for i := range p.tools {
		tool(fmt.Sprint("t", i), "completed", false)
	}
	switch p.compacts {
	case "":
	case "tool":
		tool("c", "in_progress", true)
		tool("c", "completed", false)
	case "at once":
		tool("c", "completed", true)
	default:
		p.do(func(c *Connection) { c.Compaction(s, "c", p.compacts, nil) })
	}
	if p.seen != nil {
		p.do(p.seen)
	}
	p.do(func(c *Connection) { c.ChunkCame(turn, "") })
	p.seen = nil
	p.says, p.tools, p.compacts = nil, 0, ""
}

// hold has a prompt held.
func (p *stage) hold(text string) *Held {
	p.Helper()
	p.n++
	key := fmt.Sprint(p.n)
	var h *Held
	p.do(func(c *Connection) { h = c.HoldPrompt([]byte(p.id), key, promptOf(text), saying(text)) })
	if h == nil {
		p.Fatalf("%q is not held", text)
	}
	return h
}

// release has a held prompt leave. As long as it waits for nothing that comes, the clock goes on.
func (p *stage) release(h *Held) *Injection {
	p.Helper()
	left := p.releases(h)
	return <-left
}

// releases has a held prompt leave once what it waits for has come.
func (p *stage) releases(h *Held) <-chan *Injection {
	p.Helper()
	left := make(chan *Injection, 1)
	line := string(h.line)
	go p.Do(func(c *Connection) {
		parts, in := c.Release(h)
		got := string(bytes.Join(parts, nil))
		if spliced := got != line; spliced != (in != nil) || spliced && !strings.Contains(got, in.BlockID) {
			p.Errorf("it leaves as %s", got)
		}
		left <- in
	})
	synctest.Wait()
	return left
}

// carries says what a block holds.
func carries(block string) string {
	var what []string
	for _, part := range []struct{ text, name string }{
		{"says the file", "files"}, {"You are Alto.", "identity"}, {"prefers tabs", "memories"}, {"likes tea", "recall"},
	} {
		if strings.Contains(block, part.text) {
			what = append(what, part.name)
		}
	}
	return strings.Join(what, "+")
}
