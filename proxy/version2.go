package proxy

import (
	"bytes"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// What is different in version 2 of the protocol (docs/facts/acp.md, "Version 2"): a prompt's response comes when the
// prompt is accepted, a state_update ends the turn, user messages are shown live and whole, and a stdio server names
// its type.

// programAt returns the name and version of a client or agent in an initialize message, of either version.
func programAt(line []byte, path ...string) (p session.Program) {
	for _, name := range []string{"info", "clientInfo", "agentInfo"} {
		if at, ok := frame.Find(line, append(path, name)...); ok && line[at.Start] == '{' {
			p.Name, _ = stringAt(at.Of(line), "name")
			p.Version, _ = stringAt(at.Of(line), "version")
		}
	}
	return p
}

// serversTaken returns the kinds of MCP servers that a harness of version 2 takes. It refuses a session with one of
// another kind.
func serversTaken(line []byte) (kinds []string) {
	at, ok := frame.Find(line, "result", "capabilities", "session", "mcp")
	if !ok || line[at.Start] != '{' {
		return nil
	}
	for kind, how := range frame.Members(line, at) {
		if line[how.Start] == '{' {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// typed returns an element of mcpServers with its type, which version 2 requires.
func typed(server []byte) []byte {
	if _, ok := frame.Find(server, "type"); ok {
		return server
	}
	if edited, ok := frame.Add(server, []byte(`"stdio"`), "type"); ok {
		return edited
	}
	return server
}

// userMessage returns a whole user message, live or replayed, without our block. users is false for what one session
// says to another.
func (p *stripper) userMessage(line []byte, id []byte, users bool) []byte {
	var s *session.Session
	p.table.Update(func(c *session.Connection) {
		if s = c.SessionFor(id); s != nil && users {
			s.UserTextShown(len(line))
		}
	})
	content, ok := frame.Find(line, "params", "update", "content")
	if s == nil || !ok || !bytes.Contains(line, []byte(markLetters)) {
		return line
	}
	p.awaitLookup(s)
	blocks, last := 0, 0
	for block := range frame.Elements(line, content) {
		blocks++
		at, ok := frame.Find(block.Of(line), "text")
		if !ok {
			last = block.End
			continue
		}
		text := frame.Span{Start: block.Start + at.Start, End: block.Start + at.End}
		words, _ := frame.String(text.Of(line))
		n := 0
		p.table.Update(func(*session.Connection) { n = s.MatchBlock(words) })
		if n == 0 {
			last = block.End
			continue
		}
		var edited []byte
		if n == len(words) {
			edited = withoutElement(line, content, block, last)
		} else if edited, ok = frame.CutString(line, text, n); !ok {
			return line
		}
		p.logEdit("message", s, line, edited)
		return edited // a block stands in a message once
	}
	return line
}

// withoutElement returns a line without an element of an array and the comma beside it. before is the end of the
// element in front, 0 if it is the first.
func withoutElement(line []byte, array, element frame.Span, before int) []byte {
	from, to := element.Start, element.End
	if before > 0 {
		from = before
	} else if n := bytes.IndexByte(line[to:array.End], ','); n >= 0 && len(bytes.TrimSpace(line[to:to+n])) == 0 {
		to += n + 1
	}
	return append(append(make([]byte, 0, len(line)), line[:from]...), line[to:]...)
}

// readMessage reads an answer that comes as one message. Some harnesses send it in place of chunks, others after them.
func (m *stream) readMessage(l tappedUpdate, line []byte) {
	id, _ := stringAt(line, "params", "update", "messageId")
	content, ok := frame.Find(line, "params", "update", "content")
	if !ok || m.messageID != "" && m.messageID == id {
		return
	}
	m.messageID = id
	for block := range frame.Elements(line, content) {
		if at, ok := frame.Find(block.Of(line), "text"); ok {
			if token := at.Of(block.Of(line)); token[0] == '"' {
				m.add(l.turn, token[1:len(token)-1])
			}
		}
	}
}
