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
	id := map[string]any{"type": "string", "description": "the id that delegate returned"}
	bound := map[string]any{"type": "number", "minimum": 0}
	return []mcpserver.Extra{
		tool("agents_list", true, t.agents, "List the agents that can take tasks, and what each is "+
			"good at.", nil),
		tool("delegate", false, t.delegate, "Delegate a task to another agent, in its own folder. Name its "+
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
		tool("delegation_status", true, t.status, "Get the state of a delegation.", map[string]any{"id": id}, "id"),
		tool("delegation_wait", true, t.wait, "Wait for the result of a delegation.", map[string]any{"id": id,
			"timeout": map[string]any{"type": "number", "description": "seconds; default 20"}}, "id"),
		tool("delegation_tell", false, t.tell, "Send another prompt to a running delegation: its agent gets it "+
			"during its turn if it can, else as its next prompt. To continue an ended one, use delegate with continues.",
			map[string]any{"id": id, "text": text("the prompt")}, "id", "text"),
		tool("delegation_cancel", false, t.cancel, "Cancel a delegation.", map[string]any{"id": id}, "id"),
		tool("delegation_diff", true, t.diff, "Get the changes of a delegation as a patch.",
			map[string]any{"id": id}, "id"),
		destructive(tool(applyTool, false, t.apply, "Apply the changes of a delegation to your own folder, or "+
			"nothing if they conflict. Files that run or steer programs there are held back for the user.",
			map[string]any{"id": id}, "id")),
		tool(feedbackTool, false, t.feedback, "Rate the result of a delegation.",
			map[string]any{"id": id, "note": text("why"), "verdict": map[string]any{"type": "number", "minimum": -1,
				"maximum": 1, "description": "from -1 (harmful) to 1 (helpful)"}}, "id", "verdict"),
	}
}

// tool makes the description of one, with the properties of its arguments.
func tool(name string, readOnly bool, answer func(context.Context, memory.Session, json.RawMessage) (any, error),
	about string, properties map[string]any, required ...string) mcpserver.Extra {
	if properties == nil {
		properties = map[string]any{}
	}
	no := false // a hint that is left out counts as true, and codex then has a model review the call first
	return mcpserver.Extra{Answer: answer, Tool: &mcp.Tool{Name: name, Description: about,
		InputSchema: map[string]any{"type": "object", "properties": properties, "required": list(required)},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: readOnly, DestructiveHint: &no, OpenWorldHint: &no}}}
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

func (t toolbox) agents(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
	service, err := t.service(ctx)
	if err != nil {
		return nil, err
	}
	agents, err := service.Agents(ctx)
	return map[string]any{"agents": agents}, err
}

func (t toolbox) delegate(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
	a, err := read(raw)
	if err != nil {
		return nil, err
	}
	service, err := t.service(ctx)
	if err != nil {
		return nil, err
	}
	if a.Timeout > 0 {
		a.Budget.Seconds = smaller(a.Budget.Seconds, max(1, int(a.Timeout)))
	}
	d, _, err := service.Delegate(ctx, t.caller(who), Request{Agent: a.Agent, Task: a.Task, Scope: string(a.Scope),
		Kept: string(a.Kept), Mode: a.Mode, Budget: a.Budget, IdempotencyKey: a.Key, Detach: a.Detach, Model: a.Model,
		SessionMode: a.Session, Continues: a.Continues})
	if err != nil {
		return nil, err
	}
	limit := t.waitLimit
	if d.Detach {
		limit = 0
	}
	return t.result(ctx, service, d.ID, limit)
}

// result waits for a delegation and returns its row, with what to do next where it has not ended.
func (t toolbox) result(ctx context.Context, service *Service, id string, limit time.Duration) (any, error) {
	steps := 0.0
	d, err := service.Wait(ctx, id, limit, func(d Delegation) {
		steps++
		mcpserver.Progress(ctx, steps, d.Agent+": "+d.Progress)
	})
	if err != nil {
		return nil, err
	}
	if d.State.Ended() {
		return d.Row(), service.Ledger.told(ctx, d)
	}
	return struct {
		Row
		Next string `json:"next"`
	}{d.Row(), "still running: call delegation_wait with this id, or continue and ask later"}, nil
}

func (t toolbox) status(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
	service, _, d, err := t.named(ctx, who, raw)
	if err == nil && d.State.Ended() {
		err = service.Ledger.told(ctx, d)
	}
	return d.Row(), err
}

func (t toolbox) wait(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
	service, a, d, err := t.named(ctx, who, raw)
	if err != nil {
		return nil, err
	}
	limit := t.waitLimit
	if a.Timeout > 0 {
		limit = min(time.Duration(a.Timeout*float64(time.Second)), maxWait)
	}
	return t.result(ctx, service, d.ID, limit)
}

func (t toolbox) cancel(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
	service, _, d, err := t.named(ctx, who, raw)
	if err != nil {
		return nil, err
	}
	d, err = service.Cancel(ctx, t.caller(who), d.ID)
	return d.Row(), err
}

func (t toolbox) tell(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
	service, a, d, err := t.named(ctx, who, raw)
	if err == nil {
		d, err = service.Tell(ctx, t.caller(who), d.ID, a.Text)
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": d.ID, "status": "sent"}, nil
}

// maxDiff is how many bytes of a patch an agent is given.
const maxDiff = 64 << 10

func (t toolbox) diff(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
	service, _, d, err := t.named(ctx, who, raw)
	if err != nil {
		return nil, err
	}
	stat, applied, err := service.Stat(ctx, d)
	if err != nil {
		return nil, err
	}
	var patch strings.Builder
	if err := service.Diff(ctx, d, &patch); err != nil {
		return nil, err
	}
	answer := map[string]any{"id": d.ID, "diffstat": stat, "applied": applied,
		"diff": chars.Cut(patch.String(), maxDiff)}
	if n := patch.Len(); n > maxDiff {
		answer["left_out"] = fmt.Sprintf("the patch has %d bytes; this is its beginning", n)
	}
	return answer, nil
}

func (t toolbox) apply(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
	service, _, d, err := t.named(ctx, who, raw)
	if err != nil {
		return nil, err
	}
	files, held, err := service.Apply(ctx, d, false, worktree.ApplyOptions{})
	answer := map[string]any{"id": d.ID, "files": list(files)}
	if len(held) > 0 {
		answer["held_back"] = held
		answer["note"] = "the user can review and apply held_back: signet-acp-proxy delegations apply " +
			d.ID + " --with-settings"
	}
	return answer, err
}

func (t toolbox) feedback(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
	service, a, d, err := t.named(ctx, who, raw)
	if err != nil {
		return nil, err
	}
	if a.Verdict == nil {
		return nil, errors.New("verdict is missing: must be a number from -1 (harmful) to 1 (helpful)")
	}
	return map[string]any{"id": d.ID, "status": "saved"}, service.Judge(ctx, t.caller(who), d.ID, *a.Verdict, a.Note)
}

// named reads the arguments and returns the delegation that they name.
func (t toolbox) named(ctx context.Context, who memory.Session, raw json.RawMessage) (
	*Service, arguments, Delegation, error) {
	a, err := read(raw)
	if err != nil {
		return nil, a, Delegation{}, err
	}
	service, err := t.service(ctx)
	if err != nil {
		return nil, a, Delegation{}, err
	}
	d, err := service.find(ctx, t.caller(who), a.ID)
	return service, a, d, err
}
