package acpclient

import (
	"context"
	"slices"

	acp "github.com/coder/acp-go-sdk"
)

// An Agent is what the agent says of itself.
type Agent struct {
	ProtocolVersion int `json:"protocolVersion"`
	Info            struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	} `json:"agentInfo"`
	Capabilities struct {
		Load    bool `json:"loadSession"`
		Session struct {
			Resume *struct{} `json:"resume"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	Meta struct {
		Steering struct {
			Supported bool `json:"supported"`
		} `json:"steering"`
	} `json:"_meta"`
}

// Steers reports whether the agent takes words in the middle of a turn.
func (a Agent) Steers() bool { return a.Meta.Steering.Supported }

// Reopens reports whether the agent opens a session again.
func (a Agent) Reopens() bool { return a.Capabilities.Load || a.Capabilities.Session.Resume != nil }

// Initialize opens the connection, in this version of ours. We offer no files and no terminal: agents have their own.
func (c *Conn) Initialize(ctx context.Context, version string) (a Agent, err error) {
	err = c.call(ctx, acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "signet-acp-proxy", Version: version},
	}, &a)
	return a, err
}

// A Session is a session that the agent has made.
type Session struct {
	ID    string `json:"sessionId"`
	Modes struct {
		Available choices `json:"availableModes"`
	} `json:"modes"`
	Models struct {
		Available choices `json:"availableModels"`
	} `json:"models"`
	// Options can be chosen as well; older agents have the lists alone.
	Options []struct {
		ID       string  `json:"id"`
		Category string  `json:"category"`
		Values   choices `json:"options"`
	} `json:"configOptions"`
}

// HasMode reports whether the session has a mode with this id.
func (s Session) HasMode(mode string) bool {
	return mode != "" && slices.ContainsFunc(s.Modes.Available, func(m choice) bool { return m.id == mode })
}

// NewSession has the agent make a session in the folder cwd.
func (c *Conn) NewSession(ctx context.Context, cwd string) (s Session, err error) {
	err = c.call(ctx, acp.AgentMethodSessionNew, acp.NewSessionRequest{Cwd: cwd, McpServers: []acp.McpServer{}}, &s)
	return s, err
}

// Reopen has an agent that can do so open a session again, in the folder cwd. It may first show all that was said.
func (c *Conn) Reopen(ctx context.Context, a Agent, id, cwd string) (s Session, err error) {
	method := acp.AgentMethodSessionLoad
	if !a.Capabilities.Load {
		method = acp.AgentMethodSessionResume
	}
	err = c.call(ctx, method, acp.LoadSessionRequest{SessionId: acp.SessionId(id), Cwd: cwd,
		McpServers: []acp.McpServer{}}, &s)
	s.ID = id
	return s, err
}

// SetMode puts a session into a mode.
func (c *Conn) SetMode(ctx context.Context, session, mode string) error {
	return c.call(ctx, acp.AgentMethodSessionSetMode,
		acp.SetSessionModeRequest{SessionId: acp.SessionId(session), ModeId: acp.SessionModeId(mode)}, nil)
}

// A Turn is the response to a prompt.
type Turn struct {
	Stop  acp.StopReason `json:"stopReason"`
	Usage *struct {
		Input  int64 `json:"inputTokens"`
		Output int64 `json:"outputTokens"`
		Total  int64 `json:"totalTokens"`
	} `json:"usage"`
	Meta struct {
		Quota struct {
			Count struct {
				Input  int64 `json:"input_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"token_count"`
		} `json:"quota"` // as gemini reports it
	} `json:"_meta"`
}

// Tokens returns the tokens that the agent reports for the turn; ok is false where it reports none.
func (t Turn) Tokens() (n int64, ok bool) {
	if t.Usage != nil {
		return max(t.Usage.Total, t.Usage.Input+t.Usage.Output), true
	}
	n = t.Meta.Quota.Count.Input + t.Meta.Quota.Count.Output
	return n, n > 0
}

// Prompt sends a prompt and waits for the end of the turn.
func (c *Conn) Prompt(ctx context.Context, session, text string) (t Turn, err error) {
	err = c.call(ctx, acp.AgentMethodSessionPrompt, acp.PromptRequest{
		SessionId: acp.SessionId(session), Prompt: []acp.ContentBlock{acp.TextBlock(text)},
	}, &t)
	return t, err
}

// Steer gives the agent words in the turn that it is in; false: it is in none, and they are a prompt.
func (c *Conn) Steer(ctx context.Context, session, text string) (taken bool, err error) {
	var result struct{ Outcome string }
	err = c.call(ctx, "_session/steering", map[string]any{
		"sessionId": session, "prompt": []acp.ContentBlock{acp.TextBlock(text)},
		"_meta": map[string]any{"steering": map[string]any{"idleBehavior": "promptRequired"}},
	}, &result)
	return result.Outcome == "injected", err
}

// Cancel asks the agent to end the turn. It does not block on an agent that does not read.
func (c *Conn) Cancel(session string) {
	c.tasks.Go("cancel", func() {
		_ = c.write(frame{Method: acp.AgentMethodSessionCancel,
			Params: acp.CancelNotification{SessionId: acp.SessionId(session)}})
	})
}
