package proxy

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// A Placement says where a harness that takes a system prompt from its
// client gets the identity. The zero value is the first prompt, with everything else.
type Placement struct {
	System bool // the system prompt of session/new, where the harness advertises that it takes one
	// Meta: it reads _meta.systemPrompt too, but not beside systemPrompt
	// (claude; facts/harnesses.md). Of other harnesses a client that sends the former gets the prompt way.
	Meta bool
}

// kindSystem is an injection that went into the system prompt: the identity alone.
const kindSystem = "system"

// placeLimit is how long a request waits for the database to be open and the identity files to be read, which both take a few milliseconds.
const placeLimit = 20 * time.Millisecond

// takesSystemPrompt reports whether an initialize response advertises it.
func takesSystemPrompt(line []byte) bool {
	at, ok := frame.Find(line, "result", "agentCapabilities", "sessionCapabilities", "systemPrompt")
	return ok && line[at.Start] == '{'
}

// place gives a request for a session with the identity appended to its
// system prompt. A fork gets what its parent has: harnesses do not all keep it.
func (r *Relay) place(line []byte, method, parent string, s *session) []byte {
	if r.o.Placement == nil {
		return line
	}
	r.mu.Lock()
	where := r.o.Placement(r.agent.name)
	system := r.takesSystem && where.System && !s.off
	r.mu.Unlock()
	if !system {
		return line
	}
	ctx, cancel := context.WithTimeout(r.ctx, placeLimit)
	defer cancel()
	switch method {
	case methodNew:
		block, source, ok := r.identityBlock(ctx, s)
		if !ok {
			return line
		}
		edited, ok := appendSystem(line, block.Text, where.Meta)
		if !ok {
			return line
		}
		r.placed(s, correlation.Injection{
			Kind: kindSystem, BlockID: block.ID, Text: block.Text, Bytes: len(block.Text), Source: source, Items: block.Items, At: r.o.Now(),
		})
		return edited
	case methodFork:
		blocks, _ := r.givenTo(ctx, parent)
		if block, ok := systemBlock(blocks); ok {
			if edited, ok := appendSystem(line, block.Text, where.Meta); ok {
				return edited
			}
		}
	}
	return line
}

// identityBlock makes a block of the local identity files, if they are to be had at once.
func (r *Relay) identityBlock(ctx context.Context, s *session) (block memory.Block, source string, ok bool) {
	b := r.journal.ready(ctx)
	if b == nil {
		return block, "", false
	}
	r.mu.Lock()
	who, style := s.who, memory.Style{Kind: memory.KindContext, ToolHint: r.hints()}
	r.mu.Unlock()
	read := make(chan memory.Context, 1)
	r.tasks.run(func(context.Context) { read <- b.Memory.Identity(who) })
	select {
	case got := <-read:
		// The same files give the same block in every session, so that a provider's cache of system prompts works.
		block, ok = memory.Compose("", memory.Context{Identity: got.Identity}, memory.Context{}, style)
		return block, got.Source, ok
	case <-ctx.Done():
		return block, "", false
	}
}

// placed notes that a session has the identity in its system prompt: the first prompt is to carry the memories only.
func (r *Relay) placed(s *session, in correlation.Injection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.off { // as has turned out meanwhile
		return
	}
	s.state, s.open.State, s.placed = correlation.IdentityGiven, correlation.IdentityGiven, true
	s.given = append(s.given, given{Injection: in})
	s.owe("system prompt", func(ctx context.Context, l Ledger, row int64) error {
		in.Session = row // without a key: it holds nothing that was fetched under one
		_, err := l.Record(ctx, in)
		return err
	})
}

// systemBlock gives the newest of blocks that went into the system prompt.
func systemBlock(blocks []given) (given, bool) {
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].Kind == kindSystem {
			return blocks[i], true
		}
	}
	return given{}, false
}

// blank is the state of a session whose conversation holds nothing of ours: a system prompt is no part of it. The relay's lock is held.
func (s *session) blank() correlation.State {
	if _, ok := systemBlock(s.given); ok {
		return correlation.IdentityGiven
	}
	return correlation.Armed
}

// untold reports whether no prompt of a session has held anything of ours: all that it was given is in its system prompt. The relay's lock is held.
func (s *session) untold() bool {
	if s.state != correlation.IdentityGiven {
		return s.state == correlation.Armed
	}
	return !slices.ContainsFunc(s.given, func(g given) bool { return g.Kind != kindSystem && g.Outcome != outcomeRefused })
}

// appendSystem appends text to the system prompt of a request, in the form
// that the client used; if it used none, in the protocol's. A client's own stays as it is, whatever its mode. ok is false where that cannot be done.
func appendSystem(line []byte, text string, meta bool) (edited []byte, ok bool) {
	block, err := json.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", text})
	if err != nil { // two strings always encode
		return nil, false
	}
	if at, ok := frame.Find(line, "params", "systemPrompt", "content"); ok && line[at.Start] == '[' {
		return frame.Append(line, block, "params", "systemPrompt", "content")
	}
	if at, ok := frame.Find(line, "params", "systemPrompt"); ok && line[at.Start] != 'n' {
		return nil, false // in a form that we do not know
	}
	if at, ok := frame.Find(line, "params", "_meta", "systemPrompt"); ok && !empty(at.Of(line)) {
		if !meta {
			return nil, false
		}
		return appendMeta(line, at, text)
	}
	return frame.Add(line, append(append([]byte(`{"mode":"append","content":[`), block...), `]}`...), "params", "systemPrompt")
}

// empty reports whether a JSON value is one that claude takes for none.
func empty(value []byte) bool {
	switch string(value) {
	case "null", `""`, "false", "0":
		return true
	}
	return false
}

// appendMeta appends text to claude's own form: a text that replaces its
// system prompt, or an object whose append is added to it.
func appendMeta(line []byte, at frame.Span, text string) ([]byte, bool) {
	switch line[at.Start] {
	case '"':
		return extend(line, at, text), true
	case '{':
		own, ok := frame.Find(line, "params", "_meta", "systemPrompt", "append")
		if ok && line[own.Start] == '"' {
			return extend(line, own, text), true
		}
		return frame.Add(line, quote(text), "params", "_meta", "systemPrompt", "append")
	}
	return nil, false
}

// extend adds a paragraph to a string token.
func extend(line []byte, token frame.Span, text string) []byte {
	end := frame.Span{Start: token.End - 1, End: token.End - 1}
	quoted := quote("\n\n" + text)
	return frame.Replace(line, end, quoted[1:len(quoted)-1])
}
