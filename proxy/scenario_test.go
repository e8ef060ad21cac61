package proxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

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
	p.c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,`+
		`"prompt":[{"type":"text","text":%s}]}}`, p.n, p.id, quoted)
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
	return fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","messageId":%q,`+
		`"content":{"type":"text","text":"word "}}`,
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
	"prompt":    func(p *scenario) { p.prompt("a plain prompt", succeed) },
	"refused":   func(p *scenario) { p.prompt("a plain prompt", refuse) },
	"fails":     func(p *scenario) { p.prompt("a plain prompt", fail) },
	"cancelled": func(p *scenario) { p.prompt("a plain prompt", cancel) },
	"hangs":     func(p *scenario) { p.prompt("a plain prompt", hang) },
	"short":     func(p *scenario) { p.prompt("too short", succeed) },
	"slash":     func(p *scenario) { p.prompt("/help", succeed) },
	"compact":   func(p *scenario) { p.prompt("/compact", succeed) },
	"clear": func(p *scenario) {
		p.prompt("/clear", succeed)
		p.model.mu.Lock()
		p.model.sessions[p.id].turns = nil
		p.model.mu.Unlock()
	},
	"not advertised": func(p *scenario) { p.prompt("/reset", succeed) },
	"compacts itself": func(p *scenario) {
		p.process.extra.Store(compactedUpdate(p.id, "completed"))
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
	"uses much":      func(p *scenario) { p.uses(60_000) },
	"uses little":    func(p *scenario) { p.uses(9_000) },
	"takes much":     func(p *scenario) { p.takes(60_000) },
	"takes a third":  func(p *scenario) { p.takes(20_000) },
	"load":           func(p *scenario) { p.open("session/load") },
	"resume":         func(p *scenario) { p.open("session/resume") },
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
	"there":          func(p *scenario) { p.side, p.other = p.other, p.side },
	"the other dies": func(p *scenario) { p.other.kill() },
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
	p.change = func(o *Options) { o.Traits = p.model.traits }
}

func likeOpencode(p *scenario) {
	p.change = func(o *Options) {
		o.Traits = func(string) session.Traits {
			return session.Traits{CompactCommands: []string{"summarize"}, SaysSummary: true}
		}
	}
}

func forgetful(p *scenario) {
	p.change = func(o *Options) { o.Traits = func(string) session.Traits { return session.Traits{KeepsFailed: false} } }
}

func perPrompt(p *scenario) {
	p.change = func(o *Options) { o.PerPrompt = true }
	p.mem.recalled = memory.Context{Source: "test", Items: []memory.Item{{ID: "m7", Text: "Robin likes tea."}}}
}
