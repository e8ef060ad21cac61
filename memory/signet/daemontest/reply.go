package daemontest

import (
	"encoding/json"
	"net/http"
)

// A body has the fields of all requests.
type body struct {
	Harness, SessionKey, AgentID, RuntimePath        string
	Project, Cwd, Reason, UserMessage                string
	TranscriptPath, Transcript, LastAssistantMessage string
	Summary, Query, FromAgentID, ToSessionKey        string
	ClaimOnly, Pinned, Enabled                       bool
	Content, Type, Tags                              *string
	Importance                                       *float64
	ImportanceMin                                    float64 `json:"importance_min"`
	Limit                                            int
	Feedback                                         map[string]float64
}

// fields are a reply's.
type fields = map[string]any

// refuse is the reply to a request that something is wrong with.
func refuse(code int, why string) (int, fields) { return code, fields{"error": why} }

// reply answers with JSON.
func reply(w http.ResponseWriter, code int, said fields) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(said)
}
