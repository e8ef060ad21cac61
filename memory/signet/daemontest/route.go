package daemontest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// A handler answers a request, with d.mu held.
type handler func(r *http.Request, b body) (code int, reply fields)

func (d *Daemon) routes() *http.ServeMux {
	all := map[string]handler{
		"GET /health":                         d.health,
		"POST /api/hooks/session-start":       d.sessionStart,
		"POST /api/hooks/user-prompt-submit":  d.promptSubmit,
		"POST /api/hooks/session-end":         d.sessionEnd,
		"POST /api/hooks/pre-compaction":      d.preCompaction,
		"POST /api/hooks/compaction-complete": d.compactionComplete,
		"GET /api/sessions":                   d.listSessions,
		"POST /api/sessions/{key}/bypass":     d.setBypass,
		"GET /api/cross-agent/messages":       d.listMessages,
		"POST /api/cross-agent/messages":      d.sendMessage,
		"POST /api/memory/remember":           d.remember,
		"POST /api/memory/recall":             d.recall,
		"POST /api/memory/feedback":           d.rate,
		"GET /api/memories":                   d.list,
		"GET /api/memory/{id}":                d.get,
		"GET /api/sessions/summaries":         d.summaries,
		"GET /api/pipeline/status":            d.pipeline,
		"PATCH /api/memory/{id}":              d.modify,
		"DELETE /api/memory/{id}":             d.forget,
	}
	if d.once {
		all["POST /api/hooks/session-checkpoint-extract"] = d.checkpoint
		all["GET /api/diagnostics/transcripts"] = d.transcripts
		all["POST /api/sessions/search"] = d.searchSessions
	}
	if d.documented {
		all["GET /api/hooks/transcript-capture/{id}"] = d.captured
		all["POST /api/cross-agent/messages/{id}/ack"] = d.acknowledge
	}
	mux := http.NewServeMux()
	for route, do := range all {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) { d.handle(w, r, do) })
	}
	if d.opts.MCP != nil {
		mux.Handle("/mcp", d.opts.MCP)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, "404 Not Found")
	})
	return mux
}

// handle decodes a request and has it answered. The older kind fails on a hook's bad JSON with 500, not 400.
func (d *Daemon) handle(w http.ResponseWriter, r *http.Request, do handler) {
	var b *body
	hook := r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/api/hooks/")
	switch {
	case r.Method == http.MethodGet:
		b = &body{}
	case json.NewDecoder(r.Body).Decode(&b) != nil || b == nil:
		if hook {
			reply(w, http.StatusInternalServerError, fields{"error": "Hook execution failed"})
		} else {
			reply(w, http.StatusBadRequest, fields{"error": "Invalid JSON body"})
		}
		return
	case hook && b.Harness == "":
		reply(w, http.StatusBadRequest, fields{"error": "harness is required"})
		return
	}
	if path := r.Header.Get("X-Signet-Runtime-Path"); path != "" {
		b.RuntimePath = path
	}
	d.mu.Lock()
	code, said := http.StatusForbidden, fields{"error": d.unbound(r, *b)}
	if said["error"] == "" {
		code, said = do(r, *b)
	}
	d.mu.Unlock()
	reply(w, code, said)
}

// unbound says why a request is refused from 1.0 on: "writes with a foreign Origin are refused; lifecycle hooks … stay
// bound to the session's agent and project".
func (d *Daemon) unbound(r *http.Request, b body) string {
	s := d.sessions[b.SessionKey]
	switch {
	case !d.bound || r.Method == http.MethodGet || s != nil && s.bypassed:
	case r.Header.Get("Origin") != "":
		return "origin not allowed"
	case !strings.HasPrefix(r.URL.Path, "/api/hooks/") || b.SessionKey == "":
	case s == nil || !s.started:
		if r.URL.Path != "/api/hooks/session-start" {
			return "session was not started"
		}
	case s.agent != b.AgentID || s.project != b.Project:
		return "session is bound to another agent or project"
	}
	return ""
}

// answer answers as a daemon without faults.
func (d *Daemon) answer(w http.ResponseWriter, r *http.Request) {
	switch given := r.Header.Get("Authorization"); {
	case d.opts.Token == "" || given == "Bearer "+d.opts.Token:
		d.mux.ServeHTTP(w, r)
	case given == "":
		w.Header().Set("WWW-Authenticate", "Bearer")
		reply(w, http.StatusUnauthorized, fields{"error": "authentication required"})
	default:
		reply(w, http.StatusUnauthorized, fields{"error": "malformed token"})
	}
}

// serve records the request, then answers it, or fails as Fail told it to.
func (d *Daemon) serve(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	path := r.URL.RequestURI()
	d.mu.Lock()
	d.requests = append(d.requests, Request{At: d.opts.Now(), Method: r.Method, Path: path,
		Header: r.Header.Clone(), Body: text})
	fault, stopping := d.faultLocked(path), d.stopping
	d.mu.Unlock()
	if fault == nil {
		d.answer(w, r)
	} else {
		fault.serve(w, r, stopping, d.answer)
	}
}
