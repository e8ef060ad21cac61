package session

import (
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Every way from one state to another, in both versions of the protocol: what happens, what the last prompt carries, and
// where that leads.
func TestStates(t *testing.T) {
	const ( // the ways into each state
		toArmed    = "new"
		toIdentity = "new, prompt"
		toFlight   = "new, hangs"
		toDoubt    = "new, fails"
		toDone     = "new, prompt"
	)
	tests := []struct {
		steps   string
		with    func(*stage)
		carries string
		to      correlation.State
	}{
		// armed
		{toArmed, nil, "", correlation.Armed},
		{toArmed + ", prompt", nil, whole, correlation.Done},
		{toArmed + ", short", nil, whole, correlation.Done},
		{toArmed + ", cancelled", nil, whole, correlation.Doubt},
		{toArmed + ", cancelled, prompt", keeper, whole, correlation.Done},               // failed ones it keeps, but of these nobody knows
		{toArmed + ", cancelled, ends, resume, prompt", keeper, whole, correlation.Done}, // nor in the next process
		{toArmed + ", cancelled, ends, load", nil, "", correlation.Done},                 // it shows
		{toArmed + ", cancelled, prompt", cancels(CancelledKept), "", correlation.Done},
		{toArmed + ", cancelled, prompt", cancels(CancelledBegun), "", correlation.Done}, // it has said something
		{toArmed + ", cancelled", cancels(CancelledForgot), whole, correlation.Armed},
		{toArmed + ", cancelled, prompt", cancels(CancelledForgot), whole, correlation.Done},
		{toArmed + ", cancelled, ends, load, prompt", cancels(CancelledForgot), whole, correlation.Done},
		{toArmed + ", refused", nil, whole, correlation.Armed},
		{toArmed + ", refused, prompt", nil, whole, correlation.Done},
		{toArmed + ", fails", nil, whole, correlation.Doubt},
		{toArmed + ", hangs", nil, whole, correlation.InFlight},
		{toArmed + ", hangs, prompt", nil, "", correlation.Doubt},
		{toArmed + ", accepted", nil, whole, correlation.InFlight},
		{toArmed + ", accepted, refused, idle", nil, "", correlation.Done}, // another prompt is refused meanwhile
		{toArmed + ", accepted, is killed, resume", forgetful, "", correlation.Doubt},
		{toArmed + ", slash", nil, "", correlation.Armed},
		{toArmed + ", compact", nil, "", correlation.Armed},
		{toArmed + ", prompt, off", nil, "", correlation.Off},
		{toArmed + ", ends, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", ends, resume, prompt", nil, whole, correlation.Done},
		{toArmed + ", is killed, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", close, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", ends, asks to load, prompt", nil, whole, correlation.Done},
		{toArmed + ", fork", nil, "", correlation.Armed},
		{toArmed + ", fork, prompt", nil, whole, correlation.Done},
		{toArmed + ", another proxy, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", prompt", func(p *stage) { p.got = memory.Context{} }, "", correlation.Done},
		{toArmed + ", prompt", func(p *stage) { p.err = memory.ErrOwned }, "", correlation.Done},
		{toArmed + ", prompt", func(p *stage) { p.err = memory.ErrUnavailable }, "files", correlation.IdentityGiven},
		{toArmed + ", prompt", late, "files", correlation.IdentityGiven},

		// identity given
		{toIdentity + ", prompt", late, "", correlation.IdentityGiven},
		{toIdentity + ", memories come, prompt", late, "memories", correlation.Done},
		{toIdentity + ", memories come, slash", late, "", correlation.IdentityGiven},
		{toIdentity + ", memories come, refused", late, "memories", correlation.IdentityGiven},
		{toIdentity + ", memories come, refused, prompt", late, "memories", correlation.Done},
		{toIdentity + ", memories come, fails", late, "memories", correlation.Doubt},
		{toIdentity + ", memories come, fails, prompt", late, "memories", correlation.Done},
		{toIdentity + ", memories come, hangs", late, "memories", correlation.InFlight},
		{toIdentity + ", fork", late, "files", correlation.IdentityGiven},
		{toIdentity + ", compact", late, "", correlation.Armed},
		{toIdentity + ", clear, memories come, prompt", late, whole, correlation.Done},
		{toIdentity + ", prompt, off", late, "", correlation.Off},
		{toIdentity + ", no memories come, ends, load, memories here, prompt", late, "memories", correlation.Done},

		// in flight
		{toFlight + ", fork", nil, whole, correlation.Done},
		{toFlight + ", fork, prompt", nil, "", correlation.Done},
		{toFlight + ", another proxy, load, prompt", nil, "", correlation.InFlight},
		{toFlight + ", another proxy, load, fork, prompt", nil, "", correlation.Done},
		{toFlight + ", another proxy, load, prompt, the other dies, prompt", forgetful, whole, correlation.Done},
		{toFlight + ", another proxy, load, the other dies, prompt", keeper, "", correlation.Done},
		{toFlight + ", is killed, resume", forgetful, "", correlation.Doubt},
		{toFlight + ", ends, resume", forgetful, "", correlation.Doubt},

		// doubt
		{toDoubt + ", prompt", forgetful, whole, correlation.Done},
		{toDoubt + ", prompt", keeper, "", correlation.Done},
		{toDoubt + ", refused", forgetful, whole, correlation.Doubt},
		{toDoubt + ", fails", forgetful, whole, correlation.Doubt},
		{toDoubt + ", slash", forgetful, "", correlation.Doubt},
		{toDoubt + ", fork", forgetful, whole, correlation.Doubt},
		{toDoubt + ", clear", forgetful, "", correlation.Armed},
		{toDoubt + ", compact", forgetful, "", correlation.Doubt},
		{toDoubt + ", prompt, off", forgetful, "", correlation.Off},
		{toDoubt + ", ends, load", keeper, "", correlation.Done},
		{toDoubt + ", ends, load, prompt", keeper, "", correlation.Done},
		// nobody knows that it keeps, but it shows
		{toDoubt + ", ends, load", func(p *stage) { p.keeps = true }, "", correlation.Done},
		// it shows nothing: there was no other turn
		{toDoubt + ", ends, load", forgetful, "", correlation.Doubt},
		{toDoubt + ", ends, load, prompt", forgetful, whole, correlation.Done},
		{"new, slash, fails, ends, load", forgetful, "", correlation.Armed},
		{"new, slash, fails, ends, load, prompt", forgetful, whole, correlation.Done},
		{"new, slash, fails, ends, load", silent, "", correlation.Doubt},
		{"new, slash, fails, ends, resume", forgetful, "", correlation.Doubt},
		{"new, slash, fails, is killed, load, prompt", forgetful, whole, correlation.Done},
		{"new, slash, hangs, is killed, load", forgetful, "", correlation.Armed},
		{"new, slash, hangs, is killed, load", keeper, "", correlation.Done},
		{"new, fails, load", forgetful, whole, correlation.Doubt},
		{"new, slash, fails, load", forgetful, whole, correlation.Armed},
		{"new, slash, load, fails, prompt", forgetful, whole, correlation.Done}, // what was shown before says nothing
		{"new, fails, another proxy, load, prompt", forgetful, whole, correlation.Done},

		// as above, by two
		{"new, slash, another proxy, load, there, fails, there, prompt", keeper, "", correlation.Done},
		{"new, slash, another proxy, load, there, fails, there, prompt", forgetful, whole, correlation.Done},
		{"new, another proxy, load, there, refused, there, prompt", nil, whole, correlation.Done},

		// done
		{toDone, nil, whole, correlation.Done},
		{toDone + ", prompt", nil, "", correlation.Done},
		{toDone + ", refused", nil, "", correlation.Done},
		{toDone + ", cancelled, prompt", nil, "", correlation.Done},
		{toDone + ", fails", nil, "", correlation.Done},
		{toDone + ", hangs", nil, "", correlation.Done},
		{toDone + ", hangs, is killed, load", nil, "", correlation.Done},
		{toDone + ", fork, prompt", nil, "", correlation.Done},
		{toDone + ", ends, load, prompt", nil, "", correlation.Done},
		{toDone + ", ends, resume, prompt", nil, "", correlation.Done},
		{toDone + ", ends, fork, prompt", nil, "", correlation.Done},
		{toDone + ", close, load, prompt", nil, "", correlation.Done},
		{toDone + ", prompt, off", nil, "", correlation.Off},
		{toDone + ", compact", nil, "", correlation.Armed},
		{toDone + ", compact, prompt", nil, "files", correlation.Done},
		{toDone + ", compact, ends, load, prompt", nil, "files", correlation.Done},
		{toDone + ", stopped compact", nil, "", correlation.Done},
		{toDone + ", not advertised", nil, "", correlation.Done},
		{toDone + ", clear", nil, "", correlation.Armed},
		{toDone + ", clear, prompt", nil, whole, correlation.Done},
		{toDone + ", compact, prompt, clear, prompt", nil, whole, correlation.Done},
		{toDone + ", compacts itself", nil, "", correlation.Armed},
		{toDone + ", compacts itself, prompt", nil, "files", correlation.Done},
		{toDone + ", compacts like claude, prompt", nil, "files", correlation.Done},
		{toDone + ", compacts slowly, prompt", nil, "files", correlation.Done},
		{toDone + ", runs a tool, prompt", nil, "", correlation.Done},
		{toDone + ", uses much, uses less, prompt", nil, "", correlation.Done},
		{toDone + ", uses much, uses little, prompt", nil, "files", correlation.Done},
		{toDone + ", summarize, prompt", nil, "", correlation.Done},
		{toDone + ", summarize, prompt", likeOpencode, "files", correlation.Done},
		{toDone + ", says a summary, prompt", likeOpencode, "files", correlation.Done},
		{"new, says a summary, prompt", likeOpencode, "files", correlation.Done},
		{toDone + ", takes much, takes little, prompt", nil, "files", correlation.Done},
		{toDone + ", takes much for tools, takes a third, prompt", nil, "", correlation.Done},
		{toDone + ", takes much, takes a third, prompt", nil, "files", correlation.Done},
		{toDone + ", uses a tool, prompt", likeOpencode, "", correlation.Done},
		{toDone + ", says a summary, prompt", nil, "", correlation.Done},
		{toDone + ", says one thing, prompt", likeOpencode, "", correlation.Done},
		{toFlight + ", another proxy, load, compacts itself", nil, "", correlation.InFlight},
		{toDone + ", fails, ends, resume", keeper, "", correlation.Done},
		{toDoubt + ", ends, resume", keeper, "", correlation.Doubt},
		{toDone + ", a long prompt, compacts itself, prompt", likeCodex, "files", correlation.Done},
		{toDone + ", a long prompt, compacts itself, prompt", func(p *stage) { p.traits.KeepsMessages = 1400 }, "", correlation.Done},
		{toDone + ", compacts itself, prompt", likeCodex, "", correlation.Done},
		{toDone + ", uses much, uses little, prompt", likeCodex, "", correlation.Done},
		{toDone + ", clear, prompt", likeCodex, whole, correlation.Done},
		{toDone + ", fails to compact", nil, "", correlation.Done},
		{toArmed + ", compacts itself", nil, whole, correlation.Armed}, // what the prompt carried may be gone
		{toDone + ", ends, load, prompt", func(p *stage) { p.old = true }, "", correlation.Done},
		{toDone + ", compacts itself, prompt", steps["tea"], "files+recall", correlation.Done},

		{"new, cancel, prompt", keeper, whole, correlation.Done},
		{"new, prompt, cancel, prompt", keeper, "", correlation.Done},

		// of nobody
		{"strange, load, prompt", shows(), whole, correlation.Done},
		{"strange, resume, prompt", shows(foreign), whole, correlation.Done},
		{"strange, load", shows("hello"), "", correlation.Armed},
		{"strange, load", shows(foreign + "hello"), "", correlation.Done},
		{"strange, load", shows(foreign, "hello"), "", correlation.Done},
		{"strange, load, prompt", shows("what is this: " + foreign), whole, correlation.Done},
		{"strange, load, prompt", shows(foreign[:80]), whole, correlation.Done},
		{"strange, load, fails, load", shows(), whole, correlation.Doubt},
		{"new, shows it, load", shows(foreign), "", correlation.Armed}, // it is known, and was given nothing
		{"strange, fork, prompt", shows(), whole, correlation.Done},

		// off
		{"new, off", nil, "", correlation.Off},
		{"new, off, prompt", nil, "", correlation.Off},
		{"new, off, ends, load, prompt", nil, "", correlation.Off},
		{"new, off, fork, prompt", nil, "", correlation.Off},
		{"new, off, clear, prompt", nil, "", correlation.Off},
	}
	for _, tt := range tests {
		play := func(p *stage, version2 bool) {
			p.version2 = version2
			if tt.with != nil {
				tt.with(p)
			}
			p.start()
			for step := range strings.SplitSeq(strings.ReplaceAll(tt.steps, ", off", " off"), ", ") {
				if steps[step] == nil {
					p.Fatalf("nobody knows how to %q", step)
				}
				steps[step](p)
			}
			if p.carried != tt.carries {
				p.Errorf("the last prompt carries %q, want %q", p.carried, tt.carries)
			}
			if got := p.rows[p.id]; got.State != tt.to {
				p.Errorf("in the end it is %q, want %q", got.State, tt.to)
			}
		}
		t.Run(tt.steps, func(t *testing.T) { onStage(t, func(p *stage) { play(p, false) }) })
		t.Run("version 2/"+tt.steps, func(t *testing.T) { onStage(t, func(p *stage) { play(p, true) }) })
	}
}

const plain = "a plain prompt of some length"

// steps are what can happen to a session.
var steps = map[string]func(*stage){
	"new":     func(p *stage) { p.open(OpensNew, Opening{}, false) },
	"new off": func(p *stage) { p.open(OpensNew, Opening{Off: true}, false) },
	"load":    func(p *stage) { p.load(true) },
	"asks to load": func(p *stage) { // and gets no answer
		p.asks("load", Opening{Kind: OpensKnown, Target: p.id})
	},
	"resume":          func(p *stage) { p.load(false) },
	"fork":            func(p *stage) { p.open(OpensFork, Opening{}, false) },
	"prompt":          func(p *stage) { p.prompt(plain, succeeds) },
	"a long prompt":   func(p *stage) { p.prompt(strings.Repeat("word ", 1000), succeeds) },
	"short":           func(p *stage) { p.prompt("too short", succeeds) },
	"prompt off":      func(p *stage) { p.prompt("x", succeeds, func(s *Said) { s.Off = true }) },
	"refused":         func(p *stage) { p.prompt(plain, refuses) },
	"fails":           func(p *stage) { p.prompt(plain, fails) },
	"cancelled":       func(p *stage) { p.prompt(plain, cancelled) },
	"hangs":           func(p *stage) { p.prompt(plain, hangs) },
	"accepted":        func(p *stage) { p.version2 = true; p.prompt(plain, hangsAccepted) },
	"idle":            func(p *stage) { p.idle(PromptAnswer{Stop: StopEnd}) },
	"slash":           func(p *stage) { p.prompt("/help", succeeds) },
	"compact":         func(p *stage) { p.prompt("/compact", succeeds) },
	"stopped compact": func(p *stage) { p.prompt("/compact", cancelled) },
	"summarize":       func(p *stage) { p.prompt("/summarize", succeeds) },
	"not advertised":  func(p *stage) { p.prompt("/reset", succeeds) },
	"clear": func(p *stage) {
		p.prompt("/clear", succeeds)
		p.kept[p.id] = nil
	},
	"compacts itself":      func(p *stage) { p.compacts = "completed"; p.prompt(plain, succeeds) },
	"fails to compact":     func(p *stage) { p.compacts = "failed"; p.prompt(plain, succeeds) },
	"compacts slowly":      func(p *stage) { p.compacts = "tool"; p.prompt(plain, succeeds) },
	"compacts like claude": func(p *stage) { p.compacts = "at once"; p.prompt(plain, succeeds) },
	"says a summary":       func(p *stage) { p.says = []string{"one", "one", "two"}; p.prompt(plain, succeeds) },
	"says one thing":       func(p *stage) { p.says = []string{"one", "one", ""}; p.prompt(plain, succeeds) },
	"uses a tool":          func(p *stage) { p.says, p.tools = []string{"one", "two"}, 1; p.prompt(plain, succeeds) },
	"runs a tool":          func(p *stage) { p.tools = 1; p.prompt(plain, succeeds) },
	"uses much":            func(p *stage) { p.uses(60_000, false) },
	"uses less":            func(p *stage) { p.uses(40_000, false) },
	"uses little":          func(p *stage) { p.uses(9_000, false) },
	"takes much":           func(p *stage) { p.uses(60_000, true) },
	"takes a third":        func(p *stage) { p.uses(20_000, true) },
	"takes little":         func(p *stage) { p.uses(9_000, true) },
	"takes much for tools": func(p *stage) { p.tools = 2; p.uses(60_000, true) },
	"close": func(p *stage) {
		p.do(func(c *Connection) {
			c.Closed(c.sessions[p.id], "session/close")
			c.RecordClosings()
		})
	},
	"ends":           func(p *stage) { p.side.dead = true; p.start() },
	"is killed":      func(p *stage) { p.side.dead = true; p.start() },
	"another proxy":  func(p *stage) { p.other = p.side; p.start() },
	"there":          func(p *stage) { p.side, p.other = p.other, p.side },
	"the other dies": func(p *stage) { p.other.dead = true },
	"memories come":  func(p *stage) { p.late = false; p.fetch() },
	"memories here":  func(*stage) {},
	"shows it":       func(p *stage) { p.kept[p.id] = p.shown },
	"strange":        func(p *stage) { p.id = "strange"; p.kept[p.id] = p.shown },
	"cancel": func(p *stage) {
		p.seen = func(c *Connection) { c.Cancel([]byte(p.id), "") }
		p.prompt(plain, fails)
	},
	"tea": func(p *stage) {
		p.found = memory.Context{Source: "test", Items: []memory.Item{{ID: "m7", Text: "Robin likes tea."}}}
	},
	"no memories come":  func(p *stage) { p.late = false },
	"memories are late": func(p *stage) { p.late = true },
}

func (p *stage) load(shows bool) {
	p.open(OpensKnown, Opening{}, shows)
	if p.old { // it tells of an old compaction
		p.do(func(c *Connection) { c.Compaction(c.sessions[p.id], "old", "completed", nil) })
	}
}

// uses is a prompt after which the harness says how many tokens are in its window, or how many its turn took.
func (p *stage) uses(tokens int64, turn bool) {
	if turn {
		p.version2 = false // whose idle harness reports no such sum
		p.usage = []Usage{{Usage: correlation.Usage{Input: &tokens}, OfTurn: true}}
	}
	p.prompt(plain, succeeds)
	if !turn {
		p.do(func(c *Connection) {
			c.Used(c.sessions[p.id], Usage{Usage: correlation.Usage{ContextUsed: &tokens}, Window: true})
		})
	}
}

// foreign is a block that another proxy has inserted.
const foreign = OpenMark + ` id="0123456789ab">
Added by signet-acp-proxy from the user's own memory; not part of the user's message.
` + closeMark + "\n\n"

// shows has the harness show a history that nobody here knows.
func shows(texts ...string) func(*stage) { return func(p *stage) { p.shown = texts } }

func late(p *stage)      { p.late = true }
func keeper(p *stage)    { p.keeps, p.traits.KeepsFailed = true, true }
func forgetful(*stage)   {}
func silent(p *stage)    { p.silent = true }
func likeCodex(p *stage) { p.traits.KeepsMessages = 1200 }

func cancels(keeps Cancelled) func(*stage) {
	return func(p *stage) { keeper(p); p.traits.Cancelled = keeps }
}

func likeOpencode(p *stage) {
	p.traits = Traits{CompactCommands: []string{"summarize"}, SaysSummary: true}
}
