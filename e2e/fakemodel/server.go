// Package fakemodel is a model provider on loopback that real harnesses talk to in tests: it speaks as much of
// Anthropic's Messages, OpenAI's Chat Completions and Responses, and Gemini's generateContent as they use, answers
// from a script and keeps what it was asked. It knows no model.
package fakemodel

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Claude Code, in its mode auto, has the model grade each call of a tool before it runs. What it cannot read blocks.
const (
	grading  = "<severity>N</severity>"
	harmless = "<severity>0</severity>"
)

// A Server listens on loopback until Close.
type Server struct {
	URL string // without a path

	http   *httptest.Server
	script func(Request) Reply

	mu       sync.Mutex
	requests []Request
}

// Start starts a server that answers by script. If script is nil, the answer is always "ok".
func Start(script func(Request) Reply) *Server {
	if script == nil {
		script = func(Request) Reply { return Reply{Text: "ok"} }
	}
	s := &Server{script: script}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	return s
}

// Close ends the server and its connections.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests are the requests for a reply so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	var a api
	stream := false
	switch path := r.URL.Path; {
	case r.Method != http.MethodPost:
		answer(w, map[string]any{"data": []any{}, "models": []any{}})
		return
	case strings.HasSuffix(path, "/count_tokens"):
		answer(w, map[string]any{"input_tokens": 10})
		return
	case strings.HasSuffix(path, ":countTokens"):
		answer(w, map[string]any{"totalTokens": 10})
		return
	case strings.HasSuffix(path, "/messages"):
		a = anthropic
	case strings.HasSuffix(path, "/chat/completions"):
		a = chat
	case strings.HasSuffix(path, "/responses"):
		a = responses
	case strings.HasSuffix(path, ":streamGenerateContent"):
		a, stream = gemini, true
	case strings.HasSuffix(path, ":generateContent"):
		a = gemini
	default: // telemetry and the like
		answer(w, map[string]any{})
		return
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req := Request{API: a.name, Path: r.URL.Path, Body: raw}
	a.read(body, &req)
	s.mu.Lock()
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	out := &writer{w: w, stream: stream || body["stream"] == true}
	if out.stream {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	if strings.Contains(req.System, grading) {
		a.write(out, Reply{Text: harmless})
		return
	}
	a.write(out, s.script(req))
}
