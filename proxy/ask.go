package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// An asker puts questions to the client, each as a request for permission of the session that the asking agent works
// for, while that session's turn runs. It is the only request that the relay makes itself. Its id is a text, so that it
// is none of the harness's, and the response goes no further.
type asker struct {
	*env
	out *wire.Lines

	mu   sync.Mutex // guards what follows
	open map[string]asked
	ids  map[string]bool // by idKey: those that were ever used, for a response may be late
}

// asked is a question that waits for its answer.
type asked struct {
	Question
	session string // the harness's id
}

const (
	askEvery = 250 * time.Millisecond // how often it is looked for questions while a turn runs
	askLimit = 5 * time.Second        // for storing an answer
	askedID  = "signet-acp-proxy/"    // in front of a question's id
	optionID = "allow"
)

// run looks for questions until the relay ends.
func (a *asker) run() {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			a.look()
		case <-a.ctx.Done():
			return
		}
	}
}

// look puts new questions to the client, and withdraws those that nobody waits for any more.
func (a *asker) look() {
	of := map[string]string{} // sessions with a turn, by key
	a.talk.Do(func(c *session.Connection) {
		for _, s := range c.Talking() {
			of[s.Known().Who.Key] = s.ID()
		}
	})
	a.mu.Lock()
	idle := len(of) == 0 && len(a.open) == 0
	a.mu.Unlock()
	b := a.database.backend.Load()
	if idle || b == nil || b.Questions == nil || a.version2() {
		return
	}
	var keys []string
	for key := range of {
		keys = append(keys, key)
	}
	questions, err := b.Questions(a.ctx, keys)
	if err != nil {
		if a.ctx.Err() == nil {
			a.o.Log.Warn().Err(err).Msg("looking for requests for permission")
		}
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, one := range a.open {
		if !slices.ContainsFunc(questions, func(q Question) bool { return q.ID == one.ID }) {
			delete(a.open, id)
			a.send("withdrawn", fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"$/cancel_request",`+
				`"params":{"requestId":%s}}`+"\n", quote(askedID+one.ID)))
			if of[one.Key] == "" { // its turn has ended
				a.answerLocked(one.ID, false)
			}
		}
	}
	for _, q := range questions {
		key := idKey(quote(askedID + q.ID))
		if !a.ids[key] {
			a.ids[key], a.open[key] = true, asked{q, of[q.Key]}
			a.send("asked", a.open[key].request())
		}
	}
}

// send writes a frame of ours beside the pump, which may hang as long as the client does not read.
func (a *asker) send(what string, line []byte) {
	a.tasks.run("question", func() {
		if err := a.out.Add(line); err == nil {
			a.o.Log.Info().Str("what", what).Int("bytes", len(line)).Msg("a request for permission of a delegation's")
		}
	})
}

// request is the frame that the client gets.
func (q asked) request() []byte {
	type location struct {
		Path string `json:"path"`
	}
	locations := []location{}
	for _, path := range q.Paths {
		locations = append(locations, location{path})
	}
	id := askedID + q.ID
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
		"params": map[string]any{"sessionId": q.session,
			"toolCall": map[string]any{"toolCallId": id, "title": q.Title, "kind": q.Kind, "status": "pending",
				"locations": locations},
			"options": []map[string]string{{"optionId": optionID, "name": "Allow once", "kind": "allow_once"},
				{"optionId": "reject", "name": "Reject", "kind": "reject_once"}}}})
	if err != nil { // texts always encode
		return nil
	}
	return append(line, '\n')
}

// mine reports whether a frame of the client is the response to a question.
func (a *asker) mine(h *frame.Head) bool {
	if a == nil || h.Kind != frame.Object || len(h.Method) > 0 || !h.Error && !h.Result || !bytes.HasPrefix(h.ID,
		[]byte{'"'}) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ids[idKey(h.ID)]
}

// answered takes the response. Anything but the option that allows is a no.
func (a *asker) answered(id, line []byte) {
	option, _ := stringAt(line, "result", "outcome", "optionId")
	outcome, _ := stringAt(line, "result", "outcome", "outcome")
	a.mu.Lock()
	defer a.mu.Unlock()
	key := idKey(id)
	if one, ok := a.open[key]; ok {
		delete(a.open, key)
		a.answerLocked(one.ID, frame.Valid(line) && outcome == "selected" && option == optionID)
	}
}

// answerLocked has an answer stored.
func (a *asker) answerLocked(question string, allowed bool) {
	a.tasks.run("answer", func() {
		ctx, cancel := context.WithTimeout(a.ctx, askLimit)
		defer cancel()
		if b := a.database.backend.Load(); b != nil {
			if err := b.Answered(ctx, question, allowed); err != nil && ctx.Err() == nil {
				a.o.Log.Warn().Err(err).Msg("storing whether a delegation may")
			}
		}
	})
}
