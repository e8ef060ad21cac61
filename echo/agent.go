// Package echo is an ACP agent that repeats what it is told and remembers nothing: that of init's trial, and of tests
// that need just any agent. e2e/echoagent has one of these embedded, and does more.
package echo

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"

	acp "github.com/coder/acp-go-sdk"
)

// An Agent opens sessions, and repeats the texts of each prompt, one by one.
type Agent struct {
	Name    string // of agentInfo
	Session string // the id of all its sessions; "": each has its own

	Client *acp.AgentSideConnection // set by Serve
}

var _ acp.Agent = (*Agent)(nil)

// Serve has whole, which is a or has it embedded, answer the client until in ends. What is wrong with messages is
// logged.
func (a *Agent) Serve(whole acp.Agent, in io.Reader, out io.Writer, log slog.Handler) {
	set := make(chan struct{})
	a.Client = acp.NewAgentSideConnection(whole, out, gate{in, set})
	a.Client.SetLogger(slog.New(log))
	close(set)
	<-a.Client.Done()
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

func (a *Agent) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	return acp.InitializeResponse{ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo: &acp.Implementation{Name: a.Name, Version: "1.0.0"}}, nil
}

func (a *Agent) NewSession(context.Context, acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	return acp.NewSessionResponse{SessionId: acp.SessionId(cmp.Or(a.Session, rand.Text()))}, nil
}

func (a *Agent) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	for _, b := range p.Prompt {
		if b.Text == nil {
			continue
		}
		if err := a.Update(ctx, p.SessionId, acp.UpdateAgentMessageText(b.Text.Text)); err != nil {
			return acp.PromptResponse{}, err
		}
	}
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// Update tells the client of something in a session.
func (a *Agent) Update(ctx context.Context, session acp.SessionId, u acp.SessionUpdate) error {
	return a.Client.SessionUpdate(ctx, acp.SessionNotification{SessionId: session, Update: u})
}

// Cancel does nothing: the connection ends the turn's context.
func (a *Agent) Cancel(context.Context, acp.CancelNotification) error { return nil }

func (a *Agent) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, nil
}

func (a *Agent) Logout(context.Context, acp.LogoutRequest) (acp.LogoutResponse, error) {
	return acp.LogoutResponse{}, nil
}

func (a *Agent) SetSessionMode(context.Context, acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return acp.SetSessionModeResponse{}, nil
}

func (a *Agent) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionClose)
}

func (a *Agent) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return acp.ListSessionsResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionList)
}

func (a *Agent) ResumeSession(context.Context, acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	return acp.ResumeSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionResume)
}

func (a *Agent) SetSessionConfigOption(context.Context,
	acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionSetConfigOption)
}
