package proxy

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// What a request that opens a session is given: the identity in its system prompt, and our MCP server.

// placeShare is the part of a prompt's longest wait that a request that opens a session waits for the database and the
// identity files: 20 ms of 1.5 s. Both take a few milliseconds.
const placeShare = 75

// place returns a session/new or session/fork with the identity appended to its system prompt, or line as it is. A fork
// gets its parent's block again, because not all harnesses keep it.
func (u *up) place(line []byte, opening session.Opening, s *session.Session) []byte {
	to := u.agent.Load()
	if !to.systemPrompt || !to.traits.InSystem {
		return line
	}
	of := s.Known()
	if of.Off {
		return line
	}
	ctx, cancel := context.WithTimeout(u.ctx, u.o.HoldLimit/placeShare)
	defer cancel()
	switch opening.Kind {
	case session.OpensNew:
		block, source, ok := u.identityBlock(ctx, of)
		if !ok {
			return line
		}
		edited, ok := appendSystem(line, block.Text, to.traits.MetaSystem)
		if !ok {
			return line
		}
		in := &session.Injection{Injection: correlation.Injection{
			Kind: session.KindSystem, BlockID: block.ID, Text: block.Text, Bytes: len(block.Text),
			Source: source, Items: block.Items, At: u.o.Now(),
		}}
		u.talk.Do(func(c *session.Connection) { c.Placed(s, in) })
		return edited
	case session.OpensFork:
		blocks, _, _ := u.blocksOf(ctx, opening.Target)
		if block := session.SystemBlock(blocks); block != nil {
			if edited, ok := appendSystem(line, block.Text, to.traits.MetaSystem); ok {
				return edited
			}
		}
	}
	return line
}

// identityBlock returns a block of the local identity files, and their source. ok is false if they cannot be read
// before ctx ends, or hold nothing.
func (u *up) identityBlock(
	ctx context.Context, of session.Known,
) (block memory.Block, source string, ok bool) {
	if u.database.ready(ctx) == nil {
		return block, "", false
	}
	read := make(chan memory.Context, 1)
	u.identity(of.Who, func(got memory.Context, _ error) { read <- got })
	select {
	case got := <-read:
		// The same files give the same block in every session, so that a provider's cache of system prompts works.
		toolHint := u.agent.Load().traits.HintsTools(of.Mode)
		block, ok = memory.Compose("", memory.Context{Identity: got.Identity}, memory.Context{}, toolHint)
		return block, got.Source, ok
	case <-ctx.Done():
		return block, "", false
	}
}

// appendSystem appends text to the system prompt of a request. The client's own prompt stays in front, in whichever
// form it came; without one the protocol's form is used. meta says that the harness reads _meta.systemPrompt. ok is
// false if the client's form cannot be appended to.
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
	at, ok := frame.Find(line, "params", "_meta", "systemPrompt")
	if ok && !slices.Contains(noPrompt, string(at.Of(line))) {
		if !meta {
			return nil, false
		}
		return appendMetaPrompt(line, at, text)
	}
	prompt := append(append([]byte(`{"mode":"append","content":[`), block...), `]}`...)
	return frame.Add(line, prompt, "params", "systemPrompt")
}

// noPrompt are the JSON values that claude takes for no system prompt.
var noPrompt = []string{"null", `""`, "false", "0"}

// appendMetaPrompt appends text to claude's own form: a string that replaces its system prompt, or an object whose
// append is added to it.
func appendMetaPrompt(line []byte, at frame.Span, text string) ([]byte, bool) {
	switch line[at.Start] {
	case '"':
		return appendParagraph(line, at, text), true
	case '{':
		own, ok := frame.Find(line, "params", "_meta", "systemPrompt", "append")
		if ok && line[own.Start] == '"' {
			return appendParagraph(line, own, text), true
		}
		return frame.Add(line, quote(text), "params", "_meta", "systemPrompt", "append")
	}
	return nil, false
}

// appendParagraph adds a paragraph to a string token.
func appendParagraph(line []byte, token frame.Span, text string) []byte {
	end := frame.Span{Start: token.End - 1, End: token.End - 1}
	quoted := quote("\n\n" + text)
	return frame.Replace(line, end, quoted[1:len(quoted)-1])
}

// addServer adds our MCP server to the request's mcpServers, unless the client sends one of the same name or the
// session is off.
func (u *up) addServer(line []byte, opening session.Opening, s *session.Session) []byte {
	if u.o.MCPServer == nil {
		return line
	}
	if at, ok := frame.Find(line, "params", "mcpServers"); ok {
		for server := range frame.Elements(line, at) {
			if theirs, _ := stringAt(server.Of(line), "name"); theirs == memory.ServerName {
				return line
			}
		}
	}
	of := s.Known()
	if opening.Kind == session.OpensKnown { // the ledger may know that it was switched off
		of = u.settled(s, u.o.HoldLimit/placeShare)
	}
	if of.Off {
		return line
	}
	server, release := u.o.MCPServer(of.Who.Harness, func() memory.Session { return s.Known().Who })
	if release != nil {
		u.talk.Do(func(c *session.Connection) { c.Serve(s, release) })
	}
	if server == nil {
		return line
	}
	if u.version2() {
		server = add(server, []byte(`"stdio"`), "type") // which that version requires
		if kind, _ := stringAt(server, "type"); !slices.Contains(u.agent.Load().servers, kind) {
			return line
		}
	}
	if edited, ok := frame.Append(line, server, "params", "mcpServers"); ok {
		return edited
	}
	return line
}
