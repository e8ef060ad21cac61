package runtime

import (
	"time"
)

// sessionSchema is the version of Row. Fields may be added without a new one, but not changed or removed.
const sessionSchema = "signet-acp.session.v1"

// A Row is a session as scripts and extraction hooks read it.
type Row struct {
	Schema           string `json:"schema"`
	ACPXSessionID    string `json:"acpxSessionId"` // the agent's session id
	ACPXRecordID     string `json:"acpxRecordId"`  // "" when acpx did not open it
	SignetSessionKey string `json:"signetSessionKey"`
	Title            string `json:"title"` // the harness's title for it, else its first words
	Harness          string `json:"harness"`
	Client           string `json:"client"`
	ClientVersion    string `json:"clientVersion"`
	Agent            string `json:"agent"`
	AgentVersion     string `json:"agentVersion"`
	AgentID          string `json:"agentId"` // Signet's
	ParentSessionKey string `json:"parentSessionKey"`
	// Parent is the agent's id of the session that it works for, or that session's key.
	Parent      string    `json:"parent"`
	Continues   string    `json:"continues"`   // the agent's id of the session that it continues
	ContinuedBy string    `json:"continuedBy"` // and of the last one that continues it
	Cwd         string    `json:"cwd"`
	Project     string    `json:"project"`
	State       string    `json:"state"`
	Live        bool      `json:"live"`
	Turns       int       `json:"turns"`
	Started     time.Time `json:"started"`
	LastActive  time.Time `json:"lastActive"`
	Usage       *RowUsage `json:"usage"` // null: nobody reported any
}

// RowUsage is what was used in a session, as `usage --by session` sums it up; null is not reported.
type RowUsage struct {
	InputTokens  *int64   `json:"inputTokens"`
	OutputTokens *int64   `json:"outputTokens"`
	Cost         *float64 `json:"cost"`
	Currency     *string  `json:"currency"`
	ContextUsed  *int64   `json:"contextUsed"` // of the model's window, in tokens, as last reported
	ContextSize  *int64   `json:"contextSize"`
}

// Row is the session as scripts read it.
func (s Listed) Row() Row {
	return Row{
		Schema: sessionSchema, ACPXSessionID: s.ACPID, ACPXRecordID: s.Record, SignetSessionKey: s.Key, Title: s.Title,
		Harness: s.Harness,
		Client:  s.Client, ClientVersion: s.ClientVersion, Agent: s.Agent, AgentVersion: s.AgentVersion,
		AgentID: s.AgentID, ParentSessionKey: s.ParentKey, Parent: s.Parent, Continues: s.Continues,
		ContinuedBy: s.ContinuedBy, Cwd: s.Cwd, Project: s.Project, State: string(s.State), Live: s.Live,
		Turns: s.Turns, Started: s.Started.UTC(), LastActive: s.LastActive.UTC(), Usage: s.Usage,
	}
}
