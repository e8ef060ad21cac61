package daemontest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// A hook is the body of a hook's request: the fields of all of them.
type hook struct {
	Harness, SessionKey, SessionID, AgentID, RuntimePath string
	Project, Cwd, Reason, Source                         string
	UserMessage, UserPrompt, LastAssistantMessage        string
	TranscriptPath, Transcript, CapturedAt, Summary      string
	ClaimOnly                                            bool
}

// read decodes a hook's request; false when it was answered already. The older kind fails on bad JSON with 500, not
// 400.
func read(w http.ResponseWriter, r *http.Request) (hook, bool) {
	var h *hook
	if json.NewDecoder(r.Body).Decode(&h) != nil || h == nil {
		reply(w, http.StatusInternalServerError, map[string]any{"error": "Hook execution failed"})
		return hook{}, false
	}
	if path := r.Header.Get("X-Signet-Runtime-Path"); path != "" {
		h.RuntimePath = path
	}
	if h.SessionKey == "" {
		h.SessionKey = h.SessionID
	}
	h.SessionKey = strings.TrimPrefix(h.SessionKey, "session:")
	return *h, true
}

// reply answers with JSON.
func reply(w http.ResponseWriter, code int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(body)
}
