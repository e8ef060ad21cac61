package signet

import (
	"cmp"
	"context"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A hookRequest has the fields that hooks take.
type hookRequest struct {
	Harness     string `json:"harness"`
	RuntimePath string `json:"runtimePath"`
	SessionKey  string `json:"sessionKey,omitempty"`
	AgentID     string `json:"agentId,omitempty"`
	Project     string `json:"project,omitempty"`
	Cwd         string `json:"cwd,omitempty"`

	ParentSessionKey     string `json:"parentSessionKey,omitempty"`
	ClaimOnly            bool   `json:"claimOnly,omitempty"`
	UserMessage          string `json:"userMessage,omitempty"`
	LastAssistantMessage string `json:"lastAssistantMessage,omitempty"`
	Reason               string `json:"reason,omitempty"`
	TranscriptPath       string `json:"transcriptPath,omitempty"`
	Transcript           string `json:"transcript,omitempty"`
	Summary              string `json:"summary,omitempty"`
	SkillName            string `json:"skillName,omitempty"`
	SessionID            string `json:"sessionId,omitempty"`
	Origin               string `json:"origin,omitempty"`

	of memory.Session
}

// hook begins a hook's request about a session. Each names the agent and the project: a daemon from 1.0 on takes no
// others for a key than those that it was started for.
func (c *Client) hook(s memory.Session) hookRequest {
	return hookRequest{Harness: told(c.opts.Name(s.Harness)), RuntimePath: "plugin", SessionKey: s.Key,
		Project: s.Project, AgentID: cmp.Or(s.AgentID, c.opts.AgentID), of: s}
}

// post calls a hook, exactly once, and decodes the reply into out. Errors as of request.
func (c *Client) post(ctx context.Context, name string, r hookRequest, out any) error {
	return c.request(ctx, "POST /api/hooks/"+name, r, out)
}

// request makes a request of a daemon that may be told something. Errors as of call.
func (c *Client) request(ctx context.Context, route string, body, out any) error {
	if err := c.verify(ctx); err != nil {
		return &callError{err: err}
	}
	return c.call(ctx, route, body, out, true)
}
