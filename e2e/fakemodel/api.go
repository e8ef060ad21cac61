package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
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

// An api reads a request's body and writes a reply in its own way.
type api struct {
	name  string
	read  func(body map[string]any, r *Request)
	write func(w *writer, reply Reply)
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

// newCall is the end of a tool call's id: one that came before is taken for that one's.
func newCall() string { return fmt.Sprintf("_%d", calls.Add(1)) }

var calls atomic.Int64
