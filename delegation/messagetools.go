package delegation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// MessageTools are the tools by which agents leave messages for one another; a daemon's tools of the same names take
// their place. names returns those of a session's agent.
func MessageTools(service func(context.Context) (*Service, error),
	names func(memory.Session) []string) []mcpserver.Extra {
	m := messageTools{service, names}
	tools := []mcpserver.Extra{
		tool("agent_message_send", m.send, "Leave a message for another agent, for its next session in this "+
			"project.",
			map[string]any{"to": text("the agent, such as codex"), "message": text("the text")}, "to",
			"message"),
		tool("agent_message_inbox", m.inbox, "Read the messages that other agents have left for you.", nil),
	}
	for i := range tools {
		tools[i].Yields = true
	}
	return tools
}

type messageTools struct {
	service func(context.Context) (*Service, error)
	names   func(memory.Session) []string
}

func (m messageTools) send(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
	var given struct{ To, Message string }
	if json.Unmarshal(raw, &given) != nil || strings.TrimSpace(given.To) == "" ||
		strings.TrimSpace(given.Message) == "" {
		return nil, errors.New("agent_message_send takes to, an agent's name, and message, a text")
	}
	service, err := m.service(ctx)
	if err != nil {
		return nil, err
	}
	known, err := service.Known(ctx)
	if err != nil {
		return nil, err
	}
	to := service.Canonical(given.To)
	if !slices.ContainsFunc(known, func(k Agent) bool { return k.ID == to }) {
		return nil, fmt.Errorf("unknown agent %q: agents_list has the names", chars.Cut(to, 60))
	}
	from := ""
	if names := m.names(who); len(names) > 0 {
		from = names[0]
	}
	sent, err := service.Ledger.Send(ctx, Message{To: to, From: from, Session: who.Key, Project: who.Project,
		Text: given.Message})
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": sent.ID, "status": "saved for the next session of " + to + " in this project"}, nil
}

func (m messageTools) inbox(ctx context.Context, who memory.Session, _ json.RawMessage) (any, error) {
	service, err := m.service(ctx)
	if err != nil {
		return nil, err
	}
	all, err := service.Ledger.Inbox(ctx, m.names(who), who.Project)
	if err != nil {
		return nil, err
	}
	if err := service.Ledger.markRead(ctx, all); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Text = privacy.Neutralise(all[i].Text)
	}
	return map[string]any{"messages": append([]Message{}, all...)}, nil
}
