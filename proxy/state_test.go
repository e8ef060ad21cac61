package proxy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A scenario is one session and what happens to it, step by step.
type scenario struct {
	*testing.T
	w      *world
	model  *model
	mem    *source
	change func(*Options)

	side
	other side // another proxy, which stays while this one is used
	id    string
	n     int
}

// A side is a proxy with its harness.
type side struct {
	c       *connection
	process *modelProcess
	kill    func()
}

func (p *scenario) start() {
	p.process = p.model.process()
	p.c, p.kill = p.w.startKillable(p.mem, p.process, p.change)
	p.n++
	p.c.call(p.n, "initialize", `{"protocolVersion":1,"clientInfo":{"name":"tester","version":"1"}}`)
}

func (p *scenario) ask(method, params string) string {
	p.n++
	return p.c.call(p.n, method, params)
}

func (p *scenario) open(method string) string {
	answer := p.ask(method, fmt.Sprintf(`{"sessionId":%q,"cwd":"/tmp/x","mcpServers":[]}`, p.id))
	p.c.synced()
	return answer
}

func (p *scenario) prompt(text string, a outcome) {
	p.process.next.Store(a)
	p.n++
	quoted, _ := json.Marshal(text)
	p.c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%s}]}}`, p.n, p.id, quoted)
	p.model.awaitPrompt(p.n)
	if a != hang {
		p.c.until(fmt.Sprintf(`"id":%d,`, p.n))
	}
	p.c.synced()
}

// uses is a prompt after which the harness says how much of its window is used.
func (p *scenario) uses(tokens int) {
	p.process.extra.Store(update(p.id, fmt.Sprintf(`{"sessionUpdate":"usage_update","used":%d,"size":200000}`, tokens)))
	p.prompt("a plain prompt", succeed)
	p.process.extra.Store("")
}

// takes is a prompt with whose result the harness says how many tokens its turn took.
func (p *scenario) takes(tokens int) {
	p.prompt("a plain prompt", outcome(fmt.Sprintf(
		`"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":%d}}}}`, tokens)))
}

// says is a prompt with these updates in its turn.
func (p *scenario) says(updates ...string) {
	for i, u := range updates {
		updates[i] = update(p.id, u)
	}
	p.process.extra.Store(strings.Join(updates, "\n"))
	p.prompt("a plain prompt", succeed)
	p.process.extra.Store("")
}

func message(id string) string {
	return fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","messageId":%q,"content":{"type":"text","text":"word "}}`,
		id)
}

// steps are what can happen to a session.
var steps = map[string]func(p *scenario){
	"new": func(p *scenario) {
		p.id, _ = stringAt([]byte(p.ask("session/new", cwd)), "result", "sessionId")
		p.c.until("available_commands_update")
		p.c.synced()
	},
	"new, off": func(p *scenario) {
		p.id, _ = stringAt([]byte(p.ask("session/new", `{"cwd":"/tmp/x","_meta":{"signet.ai":{"inject":false}}}`)),
			"result", "sessionId")
		p.c.synced()
	},
	"prompt":        func(p *scenario) { p.prompt("a plain prompt", succeed) },
	"a long prompt": func(p *scenario) { p.prompt(strings.Repeat("word ", 1000), succeed) },
	"refused":       func(p *scenario) { p.prompt("a plain prompt", refuse) },
	"fails":         func(p *scenario) { p.prompt("a plain prompt", fail) },
	"cancelled":     func(p *scenario) { p.prompt("a plain prompt", cancel) },
	"hangs":         func(p *scenario) { p.prompt("a plain prompt", hang) },
	"short":         func(p *scenario) { p.prompt("too short", succeed) },
	"slash":         func(p *scenario) { p.prompt("/help", succeed) },
	"compact":       func(p *scenario) { p.prompt("/compact", succeed) },
	"stopped compact": func(p *scenario) {
		p.prompt("/compact", cancel)
	},
	"clear": func(p *scenario) {
		p.prompt("/clear", succeed)
		p.model.mu.Lock()
		p.model.sessions[p.id].turns = nil
		p.model.mu.Unlock()
	},
	"not advertised": func(p *scenario) { p.prompt("/reset", succeed) },
	"prompt, off": func(p *scenario) {
		p.ask("session/prompt",
			fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"x"}],"_meta":{"signet.ai":{"inject":false}}}`, p.id))
		p.c.synced()
	},
	"compacts itself": func(p *scenario) {
		p.process.extra.Store(compactedUpdate(p.id, "completed"))
		p.prompt("a plain prompt", succeed)
		p.process.extra.Store("")
	},
	"fails to compact": func(p *scenario) {
		p.process.extra.Store(compactedUpdate(p.id, "failed"))
		p.prompt("a plain prompt", succeed)
		p.process.extra.Store("")
	},
	"compacts like claude": func(p *scenario) {
		p.process.extra.Store(update(p.id,
			`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Compact conversation","status":"completed",`+
				`"_meta":{"claudeCode":{"toolName":"compact"}},"rawOutput":{"trigger":"automatic"}}`))
		p.prompt("a plain prompt", succeed)
		p.process.extra.Store("")
	},
	"says a summary": func(p *scenario) { p.says(message("one"), message("one"), message("two")) },
	"uses a tool": func(p *scenario) {
		p.says(message("one"), `{"sessionUpdate":"tool_call","toolCallId":"c","title":"Look","status":"completed"}`,
			message("two"))
	},
	"compacts slowly": func(p *scenario) {
		p.process.extra.Store(update(p.id,
			`{"sessionUpdate":"tool_call","toolCallId":"c","status":"in_progress","_meta":{"claudeCode":{"toolName":"compact"}}}`) +
			"\n" + update(p.id, `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`))
		p.prompt("a plain prompt", succeed)
		p.process.extra.Store("")
	},
	"runs a tool": func(p *scenario) {
		p.process.extra.Store(update(p.id,
			`{"sessionUpdate":"tool_call","toolCallId":"c","status":"completed","_meta":{"claudeCode":{"toolName":"Bash"}}}`))
		p.prompt("a plain prompt", succeed)
		p.process.extra.Store("")
	},
	"uses much":    func(p *scenario) { p.uses(60_000) },
	"uses less":    func(p *scenario) { p.uses(40_000) },
	"uses little":  func(p *scenario) { p.uses(9_000) },
	"takes much":   func(p *scenario) { p.takes(60_000) },
	"takes little": func(p *scenario) { p.takes(9_000) },
	"takes much for tools": func(p *scenario) {
		p.process.extra.Store(update(p.id, `{"sessionUpdate":"tool_call","toolCallId":"c","status":"completed"}`) +
			"\n" + update(p.id, `{"sessionUpdate":"tool_call","toolCallId":"d","status":"completed"}`))
		p.takes(60_000)
		p.process.extra.Store("")
	},
	"takes a third": func(p *scenario) { p.takes(20_000) },
	"summarize":     func(p *scenario) { p.prompt("/summarize", succeed) },
	"load":          func(p *scenario) { p.open("session/load") },
	"resume":        func(p *scenario) { p.open("session/resume") },
	"fork": func(p *scenario) {
		p.id, _ = stringAt([]byte(p.open("session/fork")), "result", "sessionId")
		p.c.synced()
	},
	"close": func(p *scenario) { p.open("session/close") },
	"ends": func(p *scenario) {
		p.c.close()
		p.start()
	},
	"is killed": func(p *scenario) {
		p.kill()
		p.start()
	},
	"another proxy": func(p *scenario) {
		p.other = p.side
		p.start()
	},
	"there":            func(p *scenario) { p.side, p.other = p.other, p.side },
	"the other dies":   func(p *scenario) { p.other.kill() },
	"the model forgot": func(p *scenario) { p.model.sessions[p.id].turns = nil },
	"memories come": func(p *scenario) {
		close(p.mem.block)
		p.w.awaitFetch(p.c, p.id)
	},
	"memories here": func(p *scenario) { p.w.awaitFetch(p.c, p.id) },
	"no memories come": func(p *scenario) {
		p.mem.mu.Lock()
		p.mem.block = nil
		p.mem.mu.Unlock()
	},
}

// carried says what the last prompt carried.
func (p *scenario) carried() string {
	p.Helper()
	prompts := p.c.got(`"session/prompt"`)
	if len(prompts) == 0 {
		return ""
	}
	blocks := p.c.blocks(len(prompts) - 1)
	if len(blocks) < 2 {
		return ""
	}
	var what []string
	for _, known := range []struct{ text, name string }{
		{"says the file", "files"}, {"You are Alto.", "identity"}, {"prefers tabs", "memories"}, {"likes tea", "recall"},
	} {
		if strings.Contains(blocks[0], known.text) {
			what = append(what, known.name)
		}
	}
	return strings.Join(what, "+")
}

const whole = "identity+memories"

// late makes the context come later than a prompt can wait.
func late(p *scenario) {
	p.mem.block = make(chan struct{})
	p.change = func(o *Options) { o.HoldLimit = o.ClaimLimit + 20*time.Millisecond }
}

func keeper(p *scenario) {
	p.model.keeps = true
	p.change = func(o *Options) { o.Traits = func(string) session.Traits { return session.Traits{KeepsFailed: true} } }
}

func likeOpencode(p *scenario) {
	p.change = func(o *Options) {
		o.Traits = func(string) session.Traits {
			return session.Traits{CompactCommands: []string{"summarize"}, SaysSummary: true}
		}
	}
}

func likeCodex(p *scenario) {
	p.change = func(o *Options) {
		o.Traits = func(string) session.Traits { return session.Traits{KeepsMessages: 1000} }
	}
}

func forgetful(p *scenario) {
	p.change = func(o *Options) { o.Traits = func(string) session.Traits { return session.Traits{KeepsFailed: false} } }
}

func silent(p *scenario) { forgetful(p); p.model.silent = true }

func reinject(how session.Reinject) func(*scenario) {
	return func(p *scenario) { p.change = func(o *Options) { o.Reinject = how } }
}

func perPrompt(p *scenario) {
	p.change = func(o *Options) { o.PerPrompt = true }
	p.mem.recalled = memory.Context{Source: "test", Items: []memory.Item{{ID: "m7", Text: "Robin likes tea."}}}
}

// Every way from one state to another: what happens, what the last prompt carries, and where that leads.
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
		with    func(*scenario)
		carries string
		to      correlation.State
	}{
		// armed
		{toArmed, nil, "", correlation.Armed},
		{toArmed + ", prompt", nil, whole, correlation.Done},
		{toArmed + ", short", nil, whole, correlation.Done},
		{toArmed + ", cancelled", nil, whole, correlation.Done},
		{toArmed + ", refused", nil, whole, correlation.Armed},
		{toArmed + ", refused, prompt", nil, whole, correlation.Done},
		{toArmed + ", fails", nil, whole, correlation.Doubt},
		{toArmed + ", hangs", nil, whole, correlation.InFlight},
		{toArmed + ", hangs, prompt", nil, "", correlation.Doubt},
		{toArmed + ", slash", nil, "", correlation.Armed},
		{toArmed + ", compact", nil, "", correlation.Armed},
		{toArmed + ", prompt, off", nil, "", correlation.Off},
		{toArmed + ", ends, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", ends, resume, prompt", nil, whole, correlation.Done},
		{toArmed + ", is killed, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", close, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", fork", nil, "", correlation.Armed},
		{toArmed + ", fork, prompt", nil, whole, correlation.Done},
		{toArmed + ", another proxy, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", prompt", func(p *scenario) { p.mem.context = memory.Context{} }, "", correlation.Done},
		{toArmed + ", prompt", func(p *scenario) { p.mem.err = memory.ErrOwned }, "", correlation.Done},
		{toArmed + ", prompt", func(p *scenario) { p.mem.err = memory.ErrUnavailable }, "files", correlation.IdentityGiven},
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
		{toDoubt + ", ends, load", func(p *scenario) { p.model.keeps = true }, "", correlation.Done},
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
		{toDone + ", compact, prompt", reinject(session.ReinjectAll), whole, correlation.Done},
		{toDone + ", compact", reinject(session.ReinjectNever), "", correlation.Done},
		{toDone + ", clear", nil, "", correlation.Armed},
		{toDone + ", clear, prompt", nil, whole, correlation.Done},
		{toDone + ", clear", reinject(session.ReinjectNever), "", correlation.Done},
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
		{toDone + ", a long prompt, compacts itself, prompt", likeCodex, "files", correlation.Done},
		{toDone + ", compacts itself, prompt", likeCodex, "", correlation.Done},
		{toDone + ", uses much, uses little, prompt", likeCodex, "", correlation.Done},
		{toDone + ", clear, prompt", likeCodex, whole, correlation.Done},
		{toDone + ", fails to compact", nil, "", correlation.Done},
		{toArmed + ", compacts itself", nil, whole, correlation.Armed}, // what the prompt carried may be gone
		{toDone + ", ends, load, prompt", func(p *scenario) { p.model.old = true }, "", correlation.Done},
		{toDone + ", prompt", perPrompt, "", correlation.Done}, // it brings nothing new to mind
		{toDone + ", short", perPrompt, "", correlation.Done},
		{toDone + ", compacts itself, prompt", perPrompt, "files+recall", correlation.Done},

		// off
		{"new, off", nil, "", correlation.Off},
		{"new, off, prompt", nil, "", correlation.Off},
		{"new, off, ends, load, prompt", nil, "", correlation.Off},
		{"new, off, fork, prompt", nil, "", correlation.Off},
		{"new, off, clear, prompt", nil, "", correlation.Off},
	}
	for _, tt := range tests {
		t.Run(tt.steps, func(t *testing.T) {
			t.Parallel()
			p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource(), change: func(*Options) {}}
			if tt.with != nil {
				tt.with(p)
			}
			p.start()
			for _, step := range parse(tt.steps) {
				steps[step](p)
			}
			if got := p.carried(); got != tt.carries {
				t.Errorf("the last prompt carries %q, want %q", got, tt.carries)
			}
			got := p.w.session("model", p.id)
			for end := time.Now().Add(patience); got.State != tt.to &&
				time.Now().Before(end); got = p.w.session("model", p.id) {
				time.Sleep(5 * time.Millisecond) // the ledger hears of it a little later
			}
			if got.State != tt.to {
				t.Errorf("in the end it is %q, want %q", got.State, tt.to)
			}
		})
	}
}

// parse splits steps; some names have a comma in them.
func parse(text string) []string {
	var all []string
	for _, name := range strings.Split(text, ", ") {
		if name == "off" {
			all[len(all)-1] += ", off"
			continue
		}
		all = append(all, name)
	}
	return all
}

func TestSteps(t *testing.T) {
	if got := parse("new, off, prompt"); !slices.Equal(got, []string{"new, off", "prompt"}) {
		t.Errorf("got %q", got)
	}
}
