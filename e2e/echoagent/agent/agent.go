// Package agent is echoagent: package echo, with sessions on disk and faults.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"github.com/Signet-AI/signet-acp-proxy/e2e/echoagent/echo"
)

// Options are what it is called and what it can do.
type Options struct {
	Name                        string // of agentInfo
	NoLoad, Resume, List, Close bool   // session/load and so on; NoLoad: it lacks that
}

type agent struct {
	acp.Agent // the plain one
	client    echo.Client
	can       Options
	sessions  *sessions
	faults    faults
	servers   []acp.McpServer // that it was given last
	steered   chan string     // words for the turn that is under way
	turns     sync.Mutex      // one turn at a time: reading a session, adding a turn and saving it belong together
}

// Run is the agent on stdin and stdout, with its sessions and faults as the environment says.
func Run(o Options) error {
	dir := os.Getenv("ECHOAGENT_DIR")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return errors.New("ECHOAGENT_DIR must name the folder of the sessions")
		}
		dir = filepath.Join(home, ".echoagent") // in bounds, HOME is its own
	}
	sessions, err := openSessions(dir)
	if err != nil {
		return err
	}
	faults, err := faultsFrom(os.Getenv)
	if err != nil {
		return err
	}
	a := &agent{can: o, sessions: sessions, faults: faults, steered: make(chan string)}
	a.Agent = echo.New(&a.client, o.Name, "")
	a.client.Serve(a, os.Stdin, os.Stdout, slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return nil
}

var _ acp.Agent = (*agent)(nil)

func (a *agent) Initialize(ctx context.Context, p acp.InitializeRequest) (acp.InitializeResponse, error) {
	a.sessions.log("initialize", "")
	a.misbehave("initialize")
	r, err := a.Agent.Initialize(ctx, p)
	if a.faults.steer != "" {
		r.Meta = map[string]any{"steering": map[string]any{"supported": true}}
	}
	c := &r.AgentCapabilities
	c.LoadSession = !a.can.NoLoad
	c.PromptCapabilities = acp.PromptCapabilities{Image: true, EmbeddedContext: true}
	if a.can.Resume {
		c.SessionCapabilities.Resume = &acp.SessionResumeCapabilities{}
	}
	if a.can.List {
		c.SessionCapabilities.List = &acp.SessionListCapabilities{}
	}
	if a.can.Close {
		c.SessionCapabilities.Close = &acp.SessionCloseCapabilities{}
	}
	return r, err
}

func (a *agent) NewSession(_ context.Context, p acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	a.misbehave("session/new")
	if a.faults.login {
		return acp.NewSessionResponse{}, acp.NewAuthRequired(nil)
	}
	if a.faults.tool != nil {
		a.servers = p.McpServers
	}
	one, err := a.sessions.create(p.Cwd)
	if err != nil {
		return acp.NewSessionResponse{}, err
	}
	a.sessions.log("session/new", one.ID)
	a.advertise(one.ID)
	return acp.NewSessionResponse{SessionId: acp.SessionId(one.ID), Modes: modes("ask")}, nil
}

// LoadSession shows the whole conversation again, as the protocol asks.
func (a *agent) LoadSession(ctx context.Context, p acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	one, err := a.reopen("session/load", string(p.SessionId))
	if err != nil {
		return acp.LoadSessionResponse{}, err
	}
	for _, t := range one.Turns {
		for _, text := range t.texts() {
			if err := a.update(ctx, one.ID, acp.UpdateUserMessageText(text)); err != nil {
				return acp.LoadSessionResponse{}, err
			}
		}
		if err := a.update(ctx, one.ID, acp.UpdateAgentMessageText(t.Reply)); err != nil {
			return acp.LoadSessionResponse{}, err
		}
	}
	a.advertise(one.ID)
	return acp.LoadSessionResponse{Modes: modes("ask")}, nil
}

func (a *agent) ResumeSession(_ context.Context, p acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	if !a.can.Resume {
		return acp.ResumeSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionResume)
	}
	_, err := a.reopen("session/resume", string(p.SessionId))
	return acp.ResumeSessionResponse{Modes: modes("ask")}, err
}

func (a *agent) reopen(method, id string) (session, error) {
	a.sessions.log(method, id)
	if code := a.faults.loadCode; code != 0 {
		return session{}, &acp.RequestError{Code: code, Message: "told to fail"}
	}
	return a.find(id)
}

func (a *agent) find(id string) (session, error) {
	one, err := a.sessions.find(id)
	if errors.Is(err, errNoSession) {
		return one, &acp.RequestError{Code: -32002, Message: "Resource not found",
			Data: map[string]any{"sessionId": id}}
	}
	return one, err
}

func (a *agent) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	if !a.can.List {
		return acp.ListSessionsResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionList)
	}
	all, err := a.sessions.all()
	if err != nil {
		return acp.ListSessionsResponse{}, err
	}
	list := []acp.SessionInfo{}
	for _, one := range all {
		info := acp.SessionInfo{SessionId: acp.SessionId(one.ID), Cwd: one.Cwd}
		if len(one.Turns) > 0 {
			info.Title = acp.Ptr(title(one.Turns[0]))
		}
		list = append(list, info)
	}
	return acp.ListSessionsResponse{Sessions: list}, nil
}

func (a *agent) CloseSession(_ context.Context, p acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	if !a.can.Close {
		return acp.CloseSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionClose)
	}
	a.sessions.log("session/close", string(p.SessionId))
	return acp.CloseSessionResponse{}, nil
}

func (a *agent) SetSessionMode(_ context.Context, p acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	a.sessions.log("session/set_mode", string(p.SessionId))
	return acp.SetSessionModeResponse{}, nil
}

func (a *agent) Cancel(_ context.Context, p acp.CancelNotification) error {
	a.sessions.log("session/cancel", string(p.SessionId))
	return nil
}

// Prompt answers with what it was given. The turn is saved before the response goes out.
func (a *agent) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	a.turns.Lock()
	defer a.turns.Unlock()
	id := string(p.SessionId)
	a.sessions.log("session/prompt", id)
	one, err := a.find(id)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	now := turn{Blocks: blocks(p.Prompt)}
	one.Attempts++

	if one.Attempts == a.faults.failAt || one.Attempts == a.faults.dieAt {
		if a.faults.keep {
			one.Turns = append(one.Turns, now)
		}
		if err := a.sessions.save(one); err != nil {
			return acp.PromptResponse{}, err
		}
		if one.Attempts == a.faults.dieAt {
			fmt.Fprintln(os.Stderr, "echoagent: told to die in the turn")
			os.Exit(7)
		}
		return acp.PromptResponse{}, &acp.RequestError{Code: a.faults.failCode, Message: "told to fail"}
	}

	a.misbehave("session/prompt")
	if err := a.work(ctx, one, now); err != nil {
		return acp.PromptResponse{}, err
	}
	parts := answer(now.Blocks, a.faults.terse)
	if a.faults.notes != "" && strings.HasPrefix(strings.Join(now.texts(), ""), "Write notes of a session") {
		parts = []string{"", a.faults.notes}
	}
	if a.faults.tool != nil {
		said, err := a.callTool(ctx)
		if err != nil {
			return acp.PromptResponse{}, err
		}
		parts = append(parts, said)
	}
	if len(a.faults.call) > 0 {
		said, err := a.call(ctx, one.Cwd)
		if err != nil {
			return acp.PromptResponse{}, err
		}
		parts = append(parts, said)
	}
	if a.faults.steer != "" && one.Attempts == 1 {
		select {
		case words := <-a.steered:
			parts = append(parts, words)
		case <-ctx.Done():
		}
	}
	stop := acp.StopReasonEndTurn
	for i, part := range parts {
		now.Reply += part
		if err := a.update(ctx, id, acp.UpdateAgentMessageText(part)); err != nil {
			return acp.PromptResponse{}, err
		}
		if i == 0 && !pause(ctx, a.faults.slow) {
			stop = acp.StopReasonCancelled
			break
		}
	}
	if a.faults.ask && stop == acp.StopReasonEndTurn {
		if err := a.askPermission(ctx, id); err != nil {
			return acp.PromptResponse{}, err
		}
	}
	one.Turns = append(one.Turns, now)
	if err := a.sessions.save(one); err != nil {
		return acp.PromptResponse{}, err
	}
	return acp.PromptResponse{StopReason: stop}, nil
}

// HandleExtensionMethod takes words in the middle of a turn.
func (a *agent) HandleExtensionMethod(ctx context.Context, method string, raw json.RawMessage) (any, error) {
	var p struct {
		SessionID string `json:"sessionId"`
		Prompt    []acp.ContentBlock
	}
	if err := json.Unmarshal(raw, &p); method != "_session/steering" || a.faults.steer == "" || err != nil {
		return nil, acp.NewMethodNotFound(method)
	}
	a.sessions.log(method, p.SessionID)
	outcome, words := "injected", "> "+strings.Join(turn{Blocks: blocks(p.Prompt)}.texts(), "\n")
	if a.faults.steer == "late" {
		outcome, words = "promptRequired", ""
	}
	select {
	case a.steered <- words:
	case <-ctx.Done():
	}
	return map[string]any{"outcome": outcome}, nil
}

// Call runs the command that the agent is told to run. What that starts does not call in its turn.
func (a *agent) call(ctx context.Context, cwd string) (string, error) {
	cmd := exec.CommandContext(ctx, a.faults.call[0], a.faults.call[1:]...)
	cmd.Dir = cwd
	cmd.Env = append(os.Environ(), "ECHOAGENT_CALL=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return "\nI called an agent, which said:\n" + string(out), nil
}

func (a *agent) askPermission(ctx context.Context, id string) error {
	const call = acp.ToolCallId("call-1")
	if err := a.update(ctx, id, acp.StartToolCall(call, "Write a file", acp.WithStartKind(acp.ToolKindEdit),
		acp.WithStartStatus(acp.ToolCallStatusPending))); err != nil {
		return err
	}
	answer, err := a.client.RequestPermission(ctx, acp.RequestPermissionRequest{
		SessionId: acp.SessionId(id),
		ToolCall: acp.ToolCallUpdate{ToolCallId: call, Title: acp.Ptr("Write a file"),
			Kind: acp.Ptr(acp.ToolKindEdit)},
		Options: []acp.PermissionOption{
			{Kind: acp.PermissionOptionKindAllowOnce, Name: "Allow", OptionId: "allow"},
			{Kind: acp.PermissionOptionKindRejectOnce, Name: "Reject", OptionId: "reject"},
		},
	})
	if err != nil {
		return err
	}
	status := acp.ToolCallStatusFailed
	if s := answer.Outcome.Selected; s != nil && s.OptionId == "allow" {
		status = acp.ToolCallStatusCompleted
	}
	return a.update(ctx, id, acp.UpdateToolCall(call, acp.WithUpdateStatus(status)))
}

func (a *agent) advertise(id string) {
	if a.faults.commands == nil {
		return
	}
	var commands []acp.AvailableCommand
	for _, c := range a.faults.commands {
		commands = append(commands, acp.AvailableCommand{Name: c, Description: c})
	}
	// After the response, as clients want it: they do not know the session before.
	time.AfterFunc(20*time.Millisecond, func() {
		a.update(context.Background(), id,
			acp.SessionUpdate{AvailableCommandsUpdate: &acp.SessionAvailableCommandsUpdate{
				AvailableCommands: commands}})
	})
}

func (a *agent) update(ctx context.Context, id string, u acp.SessionUpdate) error {
	return a.client.SessionUpdate(ctx, acp.SessionNotification{SessionId: acp.SessionId(id), Update: u})
}

func modes(current acp.SessionModeId) *acp.SessionModeState {
	return &acp.SessionModeState{CurrentModeId: current,
		AvailableModes: []acp.SessionMode{{Id: "ask", Name: "Ask"}, {Id: "code", Name: "Code"}}}
}

func blocks(prompt []acp.ContentBlock) []block {
	var list []block
	for _, b := range prompt {
		switch {
		case b.Text != nil:
			list = append(list, block{"text", b.Text.Text})
		case b.Image != nil:
			list = append(list, block{"image", b.Image.MimeType})
		case b.Audio != nil:
			list = append(list, block{"audio", b.Audio.MimeType})
		case b.ResourceLink != nil:
			list = append(list, block{"resource_link", b.ResourceLink.Uri})
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			list = append(list, block{"resource", b.Resource.Resource.TextResourceContents.Uri})
		default:
			list = append(list, block{Type: "resource"})
		}
	}
	return list
}

// Answer says what was given: one part a block, text quoted line by line.
func answer(given []block, terse bool) []string {
	parts := []string{fmt.Sprintf("I was given %d block(s).\n", len(given))}
	for i, b := range given {
		if terse && i < len(given)-1 {
			continue
		}
		var s strings.Builder
		fmt.Fprintf(&s, "\n[%d] %s\n", i+1, b.Type)
		for line := range strings.Lines(b.Text) {
			s.WriteString("> " + strings.TrimSuffix(line, "\n") + "\n")
		}
		parts = append(parts, s.String())
	}
	return parts
}

// Title is what harnesses make of a first prompt: all of its text, cut off.
func title(t turn) string {
	all := []rune(strings.Join(t.texts(), " "))
	return string(all[:min(len(all), 100)])
}

// Pause waits; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
