// Package fakemodel is a model provider on loopback that real harnesses talk to in tests: it speaks as much of
// Anthropic's Messages, OpenAI's Chat Completions and Responses, and Gemini's generateContent as they use, answers
// from a script and keeps what it was asked. It knows no model.
package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// A Request is what a harness sent to the model.
type Request struct {
	API    string   // anthropic, chat, responses, gemini
	Path   string   //
	System string   // the system or developer text, joined
	User   []string // the texts of the user's messages, in order, one a block
	Tools  []string // the names of the tools offered
	Result bool     // the last message is a tool's result
	Body   []byte   //
}

// A Reply is what the model says: a tool call when Tool is set, else Text.
type Reply struct {
	Text string
	Tool string
	Args any
	Used int // tokens that the conversation takes; 0 is 10. Near the model's window a harness compacts
}

// used is what the reply says that its conversation takes.
func (r Reply) used() int {
	if r.Used == 0 {
		return 10
	}
	return r.Used
}

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

// An api reads a request's body and writes a reply in its own way.
type api struct {
	name  string
	read  func(body map[string]any, r *Request)
	write func(w *writer, reply Reply)
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
	a.write(out, s.script(req))
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// A writer writes a reply as events, or as one object where the harness asked for no stream.
type writer struct {
	w      http.ResponseWriter
	stream bool
}

func (w *writer) event(name string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		return
	}
	if name != "" {
		fmt.Fprintf(w.w, "event: %s\n", name)
	}
	fmt.Fprintf(w.w, "data: %s\n\n", text)
	if f, ok := w.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (w *writer) whole(v any) { answer(w.w, v) }

func arguments(v any) string {
	if v == nil {
		v = map[string]any{}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}
