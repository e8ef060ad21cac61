package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// The methods that are watched. Spelled out here because the SDK's table
// lacks several of them (facts/acp.md, section 4).
const (
	methodInitialize    = "initialize"
	methodNew           = "session/new"
	methodLoad          = "session/load"
	methodResume        = "session/resume"
	methodFork          = "session/fork"
	methodList          = "session/list"
	methodPrompt        = "session/prompt"
	methodCancel        = "session/cancel"
	methodClose         = "session/close"
	methodDelete        = "session/delete"
	methodUpdate        = "session/update"
	methodCancelRequest = "$/cancel_request"
)

// A request is one of the client's that waits for its response.
type request struct {
	method  string
	session *session // of load, resume, fork's child, new: the session that a success opens
	grant   *grant   // of a prompt: what was put in front of it
	turn    *turn    // of a prompt
	cwd     string   // of a request that opens a session
	n       int      // its place among those that were watched

	early  bool   // opens a session, and was sent before we knew that we may edit
	target string // of an early one: the session that it names
	off    bool   // of an early one: it wants us to leave the session alone
}

// A grant is context that a prompt carries and that its response settles.
type grant struct {
	kind  string            // of the injection
	back  correlation.State // the state to return to when the harness refused the prompt
	fetch *fetch            // that the context came from; nil if it came from none
	items []string          // in it
}

// failedLoad is a load or resume that the harness refused: a session/new
// right behind it continues the conversation (facts/acpx.md, section 1, 5).
type failedLoad struct {
	session *session
	cwd     string
	at      time.Time
	n       int // the request's
}

// ask notes a request whose response is to be watched. The relay's lock is held.
func (r *Relay) ask(id []byte, req request) {
	key := idKey(id)
	if old, ok := r.asked[key]; ok && old.method == methodPrompt {
		old.session.prompts-- // a client that uses an id twice gets one answer for both
	}
	r.requests++
	req.n = r.requests
	r.asked[key] = req
}

// answered takes the request that a response with this id answers.
func (r *Relay) answered(id []byte) (request, bool) {
	key := idKey(id)
	req, ok := r.asked[key]
	delete(r.asked, key)
	return req, ok
}

// idKey makes equal ids equal strings: a peer may spell a number or a string
// differently when it answers. A string never equals a number.
func idKey(token []byte) string {
	if len(token) > 0 && token[0] == '"' {
		if s, ok := frame.String(token); ok {
			return `"` + s
		}
	}
	if bytes.ContainsAny(token, ".eE") {
		if f, err := strconv.ParseFloat(string(token), 64); err == nil {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	return string(token)
}

// usable reports whether an id can be answered: null and nothing cannot.
func usable(id []byte) bool {
	return len(id) > 0 && !bytes.Equal(id, []byte("null"))
}

// isNotFound reports whether the ledger does not know what it was asked for.
func isNotFound(err error) bool { return errors.Is(err, correlation.ErrNotFound) }

// quote makes a JSON string of text.
func quote(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil { // a string always encodes
		return []byte(`""`)
	}
	return b
}
