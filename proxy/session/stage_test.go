package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A stage plays everything around a connection: client, harness, ledger and memory, step by step, with a clock of its
// own. What is to be done is done at once, unless a test says that it comes late.
type stage struct {
	*testing.T
	o      Options
	traits Traits
	at     time.Time
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
	shown    []string // a history that nobody here knows
	seen     Seen     // in the next turn
	version2 bool     // it speaks that
	rows     map[string]*row
	dumb     bool // the ledger does not answer yet
	asked    []*Lookup

	processes int

	*side
	other   *side
	carried string
}

// A side is one proxy.
type side struct {
	c       *Connection
	process int
	dead    bool
	rows    map[int]*row // by the session's number
	late    []FetchJob
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

func newStage(t *testing.T) *stage {
	p := &stage{T: t, at: time.Unix(1_800_000_000, 0), got: ofMemory, identity: fromFiles,
		keys: map[string]bool{}, kept: map[string][]string{}, rows: map[string]*row{}}
	p.o = Options{
		Harness: "model", Commands: []string{"/"}, Reinject: ReinjectIdentity, Continues: "acpx",
		Hold: 1500 * time.Millisecond, Claim: 100 * time.Millisecond,
		Project: func(cwd string) string { return cwd },
		NewKey:  func() string { p.n++; return fmt.Sprintf("key-%d", p.n) },
	}
	return p
}

func (p *stage) start() {
	p.o.Traits = func(string) Traits { return p.traits }
	p.processes++
	p.carried = ""
	p.side = &side{c: New(p.o), process: p.processes, rows: map[int]*row{}}
	p.see(ClientGreeted{Client: Program{Name: "tester"}, Key: "0"})
	p.see(Answered{Key: "0"})
	p.see(AgentGreeted{Agent: Program{Name: "model"}})
}

// see is what a relay does.
func (p *stage) see(seen Seen) Do {
	p.Helper()
	changes := p.c.TurnChanges()
	do := p.c.On(p.at, seen)
	if p.c.TurnChanges() < changes {
		p.Errorf("%+v takes a change of turns back", seen)
	}
	for _, f := range do.Faults {
		p.Error(f.Err)
	}
	for _, e := range do.Record {
		p.record(e)
	}
	if do.Ended != nil {
		p.record(do.Ended)
	}
	for _, l := range do.Lookups {
		if p.asked = append(p.asked, l); !p.dumb {
			p.answer()
		}
	}
	for _, job := range do.Fetches {
		p.keys[job.Who.Key] = true
		if p.side.late = append(p.side.late, job); !p.late || job.Local {
			p.fetch()
		}
	}
	if do.Recall != nil && !p.slow {
		seen, found := p.see(RecallBegins{Prompt: do.Recall.Prompt}).Seen, p.found
		found.Items = slices.DeleteFunc(slices.Clone(found.Items), func(m memory.Item) bool {
			return slices.Contains(seen, m.ID)
		})
		p.see(Recalled{Prompt: do.Recall.Prompt, Found: found})
	}
	return do
}

// answer answers what the ledger was asked.
func (p *stage) answer() {
	p.Helper()
	all := p.asked
	p.asked = nil
	for _, l := range all {
		p.lookUp(l)
	}
}

// fetch ends the fetches that are under way.
func (p *stage) fetch() {
	jobs := p.side.late
	p.side.late = nil
	for _, job := range jobs {
		ended := FetchEnded{Fetch: job.Fetch, Got: p.got, Err: p.err}
		if job.Local {
			ended.Got, ended.Err = p.identity, nil
		}
		if ended.Err != nil {
			ended.Got = memory.Context{}
		} else {
			ended.Stored, _ = json.Marshal(ended.Got)
		}
		p.see(ended)
	}
}

// record is the ledger, which takes events as they come.
func (p *stage) record(e correlation.Event) {
	p.events = append(p.events, e)
	switch e := e.(type) {
	case correlation.Opened:
		r := p.rows[e.Open.ACPID]
		if r == nil {
			r = &row{Session: correlation.Session{ID: int64(len(p.rows) + 1), Started: p.at, Harness: "model"}}
			r.State, r.Key, r.Cwd = correlation.Armed, e.Open.Key, e.Open.Cwd
			if e.Open.State != "" {
				r.State = e.Open.State
			}
			for _, parent := range p.rows {
				if parent.ID == e.Open.ForkOf || e.Fork > 0 && parent == p.side.rows[e.Fork] {
					r.parent, r.ForkOf = parent, parent.ID
				}
			}
			p.rows[e.Open.ACPID] = r
		}
		p.side.rows[e.Session] = r
	case correlation.Stepped:
		p.side.rows[e.Session].step(p.side, e.From, e.Step)
	case correlation.Injected:
		r := p.side.rows[e.Session]
		e.Injection.Session = r.ID
		r.blocks = append(r.blocks, e.Injection)
	case correlation.ContextStored:
		r := p.side.rows[e.Session]
		r.key, r.stored = e.Key, e.Context
	case correlation.ContextDropped:
		p.side.rows[e.Session].stored = nil
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

func (p *stage) lookUp(l *Lookup) {
	p.Helper()
	found, answer := Found{Lookup: l}, LookedUp{Lookup: l, Unknown: l.Kind != OpensNew}
	if r := p.rows[l.ID]; r != nil && l.Kind != OpensNew {
		r.fresh()
		found.Known, found.Blocks, answer.Unknown = &r.Session, r.given(), false
	}
	for _, id := range p.see(found).Rows {
		for _, r := range p.rows {
			if r.ID == id && r.stored != nil && answer.Stored == nil {
				answer.Stored, answer.Key, r.stored = r.stored, r.key, nil
				_ = json.Unmarshal(answer.Stored, &answer.Context)
			}
		}
	}
	p.see(answer)
}

func (p *stage) claim(s *Session, next Step) error {
	r := p.side.rows[s.Number()]
	if r.fresh() != next.From {
		return correlation.ErrStateChanged
	}
	r.from, r.by, r.State = next.From, p.side, correlation.InFlight
	in := next.Injection.Injection
	in.Session, in.Outcome = r.ID, correlation.Sending
	r.blocks = append(r.blocks, in)
	return nil
}

// open opens a session; shows says that the harness shows its history.
func (p *stage) open(kind OpeningKind, opening Opening, shows bool) {
	p.Helper()
	p.n++
	key := fmt.Sprint(p.n)
	opening.Kind, opening.Cwd, opening.Target = kind, "/tmp/x", p.id
	p.see(OpeningAsked{Key: key, Opening: opening})
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
			p.see(UserShown{ID: []byte(id), Bytes: len(text), Users: true, Texts: []string{text}})
		}
	}
	req := p.see(Answered{Key: key}).Request
	if s := p.see(OpeningAnswered{Request: req, ID: id, Editing: true}).Session; s == nil || s != p.c.Session(id) {
		p.Errorf("the answer is about %+v", s)
	}
	p.id = id
	p.see(Advertised{ID: id, Commands: map[string]bool{"compact": true, "clear": true, "review/all": true}})
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

// words are a prompt that is read.
type words string

func (w words) Words() (string, []string) { return string(w), nil }
func (w words) Omitted() int              { return 0 }
func (w words) Size() int                 { return len(w) }

// prompt says something, and the harness answers.
func (p *stage) prompt(text string, ends outcome, said ...func(*Said)) {
	p.Helper()
	p.n++
	key := fmt.Sprint(p.n)
	says := Said{Prompt: words(text)}
	for _, change := range said {
		change(&says)
	}
	p.carried = ""
	block := ""
	do := p.see(PromptJudged{ID: []byte(p.id), Key: key})
	switch do.Frame {
	case Look:
		p.see(PromptLooked{Turn: do.Turn, Said: says, First: text, Bytes: len(text)})
	case Hold:
		do = p.see(PromptHeld{ID: []byte(p.id), Key: key, Bytes: len(text), Said: says, First: text, Words: text})
		if do.Frame == Hold {
			if in := p.drive(do.Session, do.Held); in != nil {
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
		if req := p.see(Answered{Key: key}).Request; req.Turn != nil {
			p.see(PromptAnswered{Request: req, Accepted: true})
		}
	}
	if s := p.c.Session(p.id); s != nil && s.turns.current() != nil {
		p.inTurn(s)
	}
	if ends == hangs || ends == hangsAccepted {
		return
	}
	answer := PromptAnswered{Stop: StopEnd, Usage: p.usage}
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
		p.see(HarnessIdle{ID: []byte(p.id), Stop: answer.Stop, Usage: answer.Usage})
	} else if answer.Request = p.see(Answered{Key: key}).Request; answer.Request.Turn != nil {
		p.see(answer)
	}
}

// inTurn is what the harness does in a turn.
func (p *stage) inTurn(s *Session) {
	turn := p.see(UpdateJudged{ID: []byte(p.id), Kind: Words}).Turn
	for i, id := range p.says {
		p.see(ChunkCame{Turn: turn, Message: id})
		if i < p.tools {
			p.see(ToolCalled{Session: s, Call: correlation.ToolCall{ID: "t"}})
		}
	}
	for i := range p.tools {
		p.see(ToolCalled{Session: s, Call: correlation.ToolCall{ID: fmt.Sprint("t", i), Status: "completed"}})
	}
	switch p.compacts {
	case "":
	case "tool":
		p.see(ToolCalled{Session: s, Call: correlation.ToolCall{ID: "c", Status: "in_progress"}, Compacts: true})
		p.see(ToolCalled{Session: s, Call: correlation.ToolCall{ID: "c", Status: "completed"}})
	case "at once":
		p.see(ToolCalled{Session: s, Call: correlation.ToolCall{ID: "c", Status: "completed"}, Compacts: true})
	default:
		p.see(Compaction{Session: s, ID: "c", Status: p.compacts})
	}
	if p.seen != nil {
		p.see(p.seen)
	}
	p.see(ChunkCame{Turn: turn})
	p.seen = nil
	p.says, p.tools, p.compacts = nil, 0, ""
}

// drive does for a held prompt what it needs, until it leaves.
func (p *stage) drive(s *Session, h *Held) *Injection {
	p.Helper()
	return p.driveTo(s, h, p.see(PromptWaits{Prompt: h}), Leave).Injection
}

// driveTo does for a held prompt what it needs, until it needs something.
func (p *stage) driveTo(s *Session, h *Held, do Do, need Need) Step {
	p.Helper()
	for range 20 {
		next := do.Prompt
		if next.Need == need {
			return next
		}
		switch next.Need {
		case Wait:
			p.at = next.Until // nothing else comes
			do = p.see(PromptWaits{Prompt: h})
		case LookAgain:
			p.lookUp(next.Lookup)
			do = p.see(PromptWaits{Prompt: h})
		case Continue:
			do = p.see(ContinuedFound{Prompt: h})
		case Compose:
			do = p.see(Composed{Prompt: h, Injection: p.compose(s, next)})
		case Claim:
			do = p.see(Claimed{Prompt: h, Err: p.claim(s, next)})
		}
	}
	p.Fatalf("a held prompt comes no further than %+v", do.Prompt)
	return Step{}
}

// hold has a prompt held.
func (p *stage) hold(text string) (*Session, *Held) {
	p.Helper()
	p.n++
	do := p.see(PromptHeld{ID: []byte(p.id), Key: fmt.Sprint(p.n), Said: Said{Prompt: words(text)}, First: text, Words: text})
	if do.Frame != Hold {
		p.Fatalf("%q is not held", text)
	}
	return do.Session, do.Held
}

func (p *stage) compose(s *Session, next Step) *Injection {
	if next.Local {
		next.Start = p.identity
	}
	next.Start.Continued = next.Continued
	block, ok := memory.Compose(s.ID(), next.Start, next.Recall, memory.Style{Kind: memory.KindContext})
	if !ok {
		return nil
	}
	return &Injection{Injection: correlation.Injection{Kind: next.Kind}, Block: block}
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
