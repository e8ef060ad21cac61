package delegation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
)

const (
	// handleAfter is how long the tool delegate waits for the result before it gives an id to wait for: clients give a
	// tool call up after 30 s.
	handleAfter = 20 * time.Second
	maxWait     = 10 * time.Minute
)

const (
	applyTool    = "delegation_apply"
	feedbackTool = "delegation_feedback"
)

// Tools are the delegation tools of a session: caller says on whose behalf they are called; service may wait until the
// database is open.
func Tools(service func(context.Context) (*Service, error), caller func(memory.Session) Caller) []mcpserver.Extra {
	t := toolbox{service, caller, handleAfter}
	id := map[string]any{"id": text("the id that delegate returned")}
	bound := map[string]any{"type": "number", "minimum": 0}
	return []mcpserver.Extra{
		reading(tool("agents_list", t.on(call.agents), "List the agents that can take tasks, and what each is "+
			"good at.", nil)),
		tool("delegate", t.on(call.delegate), "Delegate a task to another agent, in its own folder. Name its "+
			"part and yours: a caller that keeps nothing is refused. Without a result after 20 s, it returns an "+
			"id to wait for.",
			map[string]any{
				"task": text("the task, with everything the other agent must know: it cannot see this conversation"),
				"delegated_scope": text("the other agent's part: paths, globs or words, one item per line " +
					"or separated by semicolons"),
				"kept_work": text("your own part, in the same form"),
				"agent":     text("the agent; default the best match for the task"),
				"mode": map[string]any{"type": "string", "enum": []Mode{Read, Edit},
					"description": "read (default): its changes are discarded; edit: its changes come back as a branch"},
				"model":           text("the other agent's model; default its own choice"),
				"session_mode":    text("the mode of the other agent's session; default its own choice"),
				"timeout":         map[string]any{"type": "number", "description": "seconds, then the task is stopped"},
				"continues":       text("the id of an ended delegation to continue, in its session and folder"),
				"idempotency_key": text("requests with the same key are one; default scope and task"),
				"detach":          map[string]any{"type": "boolean", "description": "continue when this session ends"},
				"budget": map[string]any{"type": "object", "description": "limits, each optional", "properties": map[string]any{
					"turns": bound, "tokens": bound, "cost": bound, "seconds": bound}},
			}, "task", "delegated_scope", "kept_work"),
		reading(tool("delegation_status", t.named(call.status), "Get the state of a delegation.", id, "id")),
		reading(tool("delegation_wait", t.named(call.wait), "Wait for the result of a delegation.",
			map[string]any{"id": id["id"], "timeout": map[string]any{"type": "number",
				"description": "seconds; default 20"}}, "id")),
		tool("delegation_tell", t.named(call.tell), "Send another prompt to a running delegation: its agent gets it "+
			"during its turn if it can, else as its next prompt. To continue an ended one, use delegate with continues.",
			map[string]any{"id": id["id"], "text": text("the prompt")}, "id", "text"),
		tool("delegation_cancel", t.named(call.cancel), "Cancel a delegation.", id, "id"),
		reading(tool("delegation_diff", t.named(call.diff), "Get the changes of a delegation as a patch.", id, "id")),
		destructive(tool(applyTool, t.named(call.apply), "Apply the changes of a delegation to your own folder, or "+
			"nothing if they conflict. Files that run or steer programs there are held back for the user.", id, "id")),
		tool(feedbackTool, t.named(call.feedback), "Rate the result of a delegation.",
			map[string]any{"id": id["id"], "note": text("why"), "verdict": map[string]any{"type": "number",
				"minimum": -1, "maximum": 1, "description": "from -1 (harmful) to 1 (helpful)"}}, "id", "verdict"),
	}
}

// answer is how a tool answers a session.
type answer = func(context.Context, memory.Session, json.RawMessage) (any, error)

// tool makes the description of one, with the properties of its arguments.
func tool(name string, answer answer, about string, properties map[string]any, required ...string) mcpserver.Extra {
	if properties == nil {
		properties = map[string]any{}
	}
	no := false // a hint that is left out counts as true, and codex then has a model review the call first
	return mcpserver.Extra{Answer: answer, Tool: &mcp.Tool{Name: name, Description: about,
		InputSchema: map[string]any{"type": "object", "properties": properties, "required": list(required)},
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}}}
}

// reading has clients call a tool without asking.
func reading(x mcpserver.Extra) mcpserver.Extra {
	x.Tool.Annotations.ReadOnlyHint = true
	return x
}

// destructive has clients ask the user before the tool writes.
func destructive(x mcpserver.Extra) mcpserver.Extra {
	yes := true
	x.Tool.Annotations.DestructiveHint = &yes
	return x
}

func text(about string) map[string]any { return map[string]any{"type": "string", "description": about} }

type toolbox struct {
	service func(context.Context) (*Service, error)
	caller  func(memory.Session) Caller
	// waitLimit is how long a call waits that names no timeout.
	waitLimit time.Duration
}

// A call is a call of one of the tools.
type call struct {
	*Service
	who   Caller
	args  arguments
	d     Delegation // that the arguments name
	limit time.Duration
}

// on reads the arguments of a call before it is answered.
func (t toolbox) on(do func(call, context.Context) (any, error)) answer {
	return func(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
		a, err := read(raw)
		if err != nil {
			return nil, err
		}
		service, err := t.service(ctx)
		if err != nil {
			return nil, err
		}
		return do(call{Service: service, who: t.caller(who), args: a, limit: t.waitLimit}, ctx)
	}
}

// named also finds the delegation that the arguments name.
func (t toolbox) named(do func(call, context.Context) (any, error)) answer {
	return t.on(func(c call, ctx context.Context) (_ any, err error) {
		if c.d, err = c.find(ctx, c.who, c.args.ID); err != nil {
			return nil, err
		}
		return do(c, ctx)
	})
}

// items are given as one text or as a list of texts.
type items string

func (l *items) UnmarshalJSON(raw []byte) error {
	var all []string
	if json.Unmarshal(raw, &all) == nil {
		*l = items(strings.Join(all, "\n"))
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return errors.New("must be text, or a list of texts")
	}
	*l = items(text)
	return nil
}

// arguments are those of all tools.
type arguments struct {
	Task    string   `json:"task"`
	Scope   items    `json:"delegated_scope"`
	Kept    items    `json:"kept_work"`
	Agent   string   `json:"agent"`
	Model   string   `json:"model"`
	Session string   `json:"session_mode"`
	Mode    Mode     `json:"mode"`
	Timeout float64  `json:"timeout"`
	Key     string   `json:"idempotency_key"`
	Detach  bool     `json:"detach"`
	Budget  Budget   `json:"budget"`
	ID      string   `json:"id"`
	Verdict *float64 `json:"verdict"`
	Note    string   `json:"note"`
	Text    string   `json:"text"`

	Continues string `json:"continues"`
}

func read(raw json.RawMessage) (a arguments, err error) {
	if err := json.Unmarshal(raw, &a); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return a, fmt.Errorf("%s is not a %s: see the tool's schema", wrong.Field, wrong.Type)
		}
		return a, fmt.Errorf("the arguments cannot be read: %w", err)
	}
	if !(a.Timeout >= 0 && a.Timeout <= maxTime.Seconds()) {
		return a, fmt.Errorf("timeout must be a number of seconds, at most %v", maxTime.Seconds())
	}
	return a, nil
}

func (c call) agents(ctx context.Context) (any, error) {
	agents, err := c.Agents(ctx)
	return map[string]any{"agents": agents}, err
}

func (c call) delegate(ctx context.Context) (_ any, err error) {
	a := c.args
	if a.Timeout > 0 {
		a.Budget.Seconds = smaller(a.Budget.Seconds, max(1, int(a.Timeout)))
	}
	c.d, _, err = c.Delegate(ctx, c.who, Request{Agent: a.Agent, Task: a.Task, Scope: string(a.Scope),
		Kept: string(a.Kept), Mode: a.Mode, Budget: a.Budget, IdempotencyKey: a.Key, Detach: a.Detach, Model: a.Model,
		SessionMode: a.Session, Continues: a.Continues})
	if err != nil {
		return nil, err
	}
	if c.d.Detach {
		c.limit = 0
	}
	return c.result(ctx)
}

// result waits for the delegation and returns its row, with what to do next where it has not ended.
func (c call) result(ctx context.Context) (any, error) {
	steps := 0.0
	d, err := c.Wait(ctx, c.d.ID, c.limit, func(d Delegation) {
		steps++
		mcpserver.Progress(ctx, steps, d.Agent+": "+d.Progress)
	})
	if err != nil {
		return nil, err
	}
	if d.State.Ended() {
		return d.Row(), c.Ledger.told(ctx, d)
	}
	return struct {
		Row
		Next string `json:"next"`
	}{d.Row(), "still running: call delegation_wait with this id, or continue and ask later"}, nil
}

func (c call) status(ctx context.Context) (_ any, err error) {
	if c.d.State.Ended() {
		err = c.Ledger.told(ctx, c.d)
	}
	return c.d.Row(), err
}

func (c call) wait(ctx context.Context) (any, error) {
	if c.args.Timeout > 0 {
		c.limit = min(time.Duration(c.args.Timeout*float64(time.Second)), maxWait)
	}
	return c.result(ctx)
}

func (c call) cancel(ctx context.Context) (any, error) {
	d, err := c.Cancel(ctx, c.who, c.d.ID)
	return d.Row(), err
}

func (c call) tell(ctx context.Context) (any, error) {
	d, err := c.Tell(ctx, c.who, c.d.ID, c.args.Text)
	return map[string]any{"id": d.ID, "status": "sent"}, err
}

// maxDiff is how many bytes of a patch an agent is given.
const maxDiff = 64 << 10

func (c call) diff(ctx context.Context) (any, error) {
	stat, applied, err := c.Stat(ctx, c.d)
	if err != nil {
		return nil, err
	}
	var patch strings.Builder
	if err := c.Diff(ctx, c.d, &patch); err != nil {
		return nil, err
	}
	answer := map[string]any{"id": c.d.ID, "diffstat": stat, "applied": applied,
		"diff": chars.Cut(patch.String(), maxDiff)}
	if n := patch.Len(); n > maxDiff {
		answer["left_out"] = fmt.Sprintf("the patch has %d bytes; this is its beginning", n)
	}
	return answer, nil
}

func (c call) apply(ctx context.Context) (any, error) {
	files, held, err := c.Apply(ctx, c.d, false, worktree.ApplyOptions{})
	answer := map[string]any{"id": c.d.ID, "files": list(files)}
	if len(held) > 0 {
		answer["held_back"] = held
		answer["note"] = "the user can review and apply held_back: signet-acp-proxy delegations apply " +
			c.d.ID + " --with-settings"
	}
	return answer, err
}

func (c call) feedback(ctx context.Context) (any, error) {
	if c.args.Verdict == nil {
		return nil, errors.New("verdict is missing: must be a number from -1 (harmful) to 1 (helpful)")
	}
	return map[string]any{"id": c.d.ID, "status": "saved"},
		c.Judge(ctx, c.who, c.d.ID, *c.args.Verdict, c.args.Note)
}
