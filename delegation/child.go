package delegation

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// A child is what is known of the other agent while it works: its last message, its usage, what it was refused.
type child struct {
	budget Budget
	stop   func(State, string) // ends the delegation
	// ask puts to the caller's client what the policy refuses; nil: nobody is asked.
	ask    func(acpclient.ToolCall) (allowed bool, why string)
	asking guard.Group
	one    sync.Mutex // held while a question is asked

	mu       sync.Mutex // guards what follows
	policy   policy
	message  chars.Excerpt
	said     []string // the last messages of turns before this one
	before   string   // the last message that has ended: the one after a tool call may stay empty
	id       string   // of the message
	named    bool     // before has an id: a message without one is then a notice, not an answer
	tools    map[string]bool
	title    string // of the tool used last
	usage    Usage
	inside   Usage // of the delegations that the child has made
	session  string
	folder   string // with what it writes
	commands []string
	check    string // the command that looks at what it has made
	replays  bool   // its session is opened again, and may show all that was said
}

var _ acpclient.Handler = (*child)(nil)

// Update implements acpclient.Handler.
func (c *child) Update(u acpclient.Update) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.replays && u.Kind != "available_commands_update" {
		return
	}
	switch u.Kind {
	case "agent_message_chunk":
		if u.Message != c.id {
			c.endMessageLocked()
			c.id = u.Message
		}
		c.message.MaxHead, c.message.MaxTail = maxAnswer, maxAnswer
		c.message.Add([]byte(u.Content.Text))
	case "tool_call", "tool_call_update":
		c.policy.remember(u.ToolCall)
		if !c.tools[u.ToolCall.ID] && len(c.tools) < maxTools { // a new one ends the message before it
			c.tools[u.ToolCall.ID] = true
			c.endMessageLocked()
			c.title = nameOf(u.ToolCall)
		}
		c.usage.Turns = 1 + len(c.said) + len(c.tools)
	case "usage_update":
		c.tokensLocked(u.Used)
		if u.Cost != nil {
			amount := u.Cost.Amount
			c.usage.Cost, c.usage.Currency = &amount, chars.Cut(u.Cost.Currency, 10)
		}
	case "available_commands_update":
		c.commands = c.commands[:0]
		for _, command := range u.Commands[:min(len(u.Commands), 100)] {
			c.commands = append(c.commands, chars.Cut(command.Name, 60))
		}
	}
	c.checkLocked()
}

// tokensLocked notes how many tokens are reported, nil for none: the most that were counts.
func (c *child) tokensLocked(n *int64) {
	if n != nil && (c.usage.Tokens == nil || *n > *c.usage.Tokens) {
		c.usage.Tokens = n
	}
}

// maxTools is how many tool calls are counted.
const maxTools = 10_000

// endMessageLocked ends the message that is being received.
func (c *child) endMessageLocked() {
	if text := c.message.String(); strings.TrimSpace(text) != "" && (c.id != "" || !c.named) {
		c.before, c.named = text, c.id != ""
	}
	c.message = chars.Excerpt{}
}

// taskSent is called when the child is given its task: what it said before is no answer, such as gemini's notice of the
// mode that it was put into.
func (c *child) taskSent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.message, c.before, c.named, c.replays = chars.Excerpt{}, "", false, false
}

// nextTurn is called before the child is told something else.
func (c *child) nextTurn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endMessageLocked()
	c.said = append(c.said, strings.TrimSpace(c.before))
	c.before, c.named = "", false
	c.usage.Turns = 1 + len(c.said) + len(c.tools)
}

// reopening is called before its session is opened again.
func (c *child) reopening() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replays = true
}

// Allow implements acpclient.Handler.
func (c *child) Allow(call acpclient.ToolCall, answer func(allowed bool)) {
	c.mu.Lock()
	call = complete(call, c.policy.calls[call.ID]) // all that was said of it
	why := c.policy.refusalReason(call)
	final := why == "" || c.ask == nil || strings.HasSuffix(why, gitsOwn)
	if final && why != "" {
		c.policy.refuse(call, why)
	}
	c.mu.Unlock()
	if final {
		answer(why == "")
		return
	}
	c.asking.Go("question", func() {
		c.one.Lock() // a row holds one question
		allowed, no := c.ask(call)
		c.one.Unlock()
		if !allowed {
			c.mu.Lock()
			c.policy.refuse(call, why+"; "+no)
			c.mu.Unlock()
		}
		answer(allowed)
	})
}

// addInside notes what the delegations that the child has made have used.
func (c *child) addInside(inside Usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inside = inside
	c.checkLocked()
}

// checkLocked ends the run once a bound of its budget is reached.
func (c *child) checkLocked() {
	if why := c.budget.over(c.usage.with(c.inside)); why != "" {
		c.stop(Stopped, why)
	}
}

// ended notes what the end of the turn reports.
func (c *child) ended(t acpclient.Turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := t.Tokens(); ok {
		c.tokensLocked(&n)
	}
}

// checking notes that it has ended, and by which command that is checked.
func (c *child) checking(command string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.check = command
}

// opened notes the child's session and its folder.
func (c *child) opened(folder, session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.folder, c.session = folder, session
}

// noted says how far the child is: in a line what it is doing, and the last whole line that it has said.
func (c *child) noted() Run {
	c.mu.Lock()
	defer c.mu.Unlock()
	doing := "working"
	switch {
	case c.check != "":
		doing = "checking: " + c.check
	case len(c.tools) > 0:
		doing = fmt.Sprintf("%d tool calls, the last: %s", len(c.tools), c.title)
	}
	said := cmp.Or(strings.TrimSpace(c.message.String()), strings.TrimSpace(c.before))
	said = strings.TrimSpace(said[strings.LastIndexByte(said, '\n')+1:])
	return Run{ACPID: c.session, Folder: c.folder, Progress: chars.Cut(doing, 200), Last: chars.Cut(said, 200),
		Usage: c.usage.with(c.inside)}
}

// end puts into a delegation the child's answer, of each turn the last message, its usage and what it was refused.
func (c *child) end(d *Delegation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endMessageLocked()
	d.Answer = strings.TrimSpace(strings.Join(append(c.said, strings.TrimSpace(c.before)), "\n\n"))
	d.Usage, d.Refused = c.usage.with(c.inside), c.policy.refused
}

// maxAnswer is how much of an answer is kept, in bytes, of its beginning and of its end each.
const maxAnswer = 32 << 10
