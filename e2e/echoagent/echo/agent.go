// Package echo is an ACP agent that repeats what it is told and remembers nothing, for tests that need just any agent.
// e2e/echoagent has one of these embedded, and does more.
package echo

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"

	acp "github.com/coder/acp-go-sdk"
)

// A Client is the other side of an agent: it can be spoken to once Serve runs.
type Client struct{ *acp.AgentSideConnection }

// Serve has an agent answer the client until in ends. What is wrong with messages is logged.
func (c *Client) Serve(a acp.Agent, in io.Reader, out io.Writer, log slog.Handler) {
	set := make(chan struct{})
	c.AgentSideConnection = acp.NewAgentSideConnection(a, out, gate{in, set})
	c.SetLogger(slog.New(log))
	close(set)
	<-c.Done()
}

// A gate holds back what is read until it opens.
type gate struct {
	io.Reader
	open <-chan struct{}
}

func (g gate) Read(p []byte) (int, error) {
	<-g.open
	return g.Reader.Read(p)
}

// New makes an agent that opens sessions, and repeats the texts of each prompt, one by one. session is the id of all
// its sessions; "": each has its own.
func New(c *Client, name, session string) acp.Agent { return &agent{c, name, session} }

type agent struct {
	client        *Client
	name, session string
}

func (a *agent) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	return acp.InitializeResponse{ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo: &acp.Implementation{Name: a.name, Version: "1.0.0"}}, nil
}

func (a *agent) NewSession(context.Context, acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	return acp.NewSessionResponse{SessionId: acp.SessionId(cmp.Or(a.session, rand.Text()))}, nil
}

func (a *agent) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	for _, b := range p.Prompt {
		if b.Text == nil {
			continue
		}
		said := acp.SessionNotification{SessionId: p.SessionId, Update: acp.UpdateAgentMessageText(b.Text.Text)}
		if err := a.client.SessionUpdate(ctx, said); err != nil {
			return acp.PromptResponse{}, err
		}
	}
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// Cancel does nothing: the connection ends the turn's context.
func (*agent) Cancel(context.Context, acp.CancelNotification) error { return nil }

func (*agent) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, nil
}

func (*agent) Logout(context.Context, acp.LogoutRequest) (acp.LogoutResponse, error) {
	return acp.LogoutResponse{}, nil
}

func (*agent) SetSessionMode(context.Context, acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return acp.SetSessionModeResponse{}, nil
}

func (*agent) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionClose)
}

func (*agent) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return acp.ListSessionsResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionList)
}

func (*agent) ResumeSession(context.Context, acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	return acp.ResumeSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionResume)
}

func (*agent) SetSessionConfigOption(context.Context,
	acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionSetConfigOption)
}
