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
	var texts []string
	var at []place // of each
	content, ok := frame.Find(line, "params", "update", "content")
	if ok && bytes.Contains(line, []byte(markLetters)) {
		last := 0
		for block := range frame.Elements(line, content) {
			if token, ok := frame.Find(block.Of(line), "text"); ok {
				text := frame.Span{Start: block.Start + token.Start, End: block.Start + token.End}
				words, _ := frame.String(text.Of(line))
				texts, at = append(texts, words), append(at, place{text, block, last})
			}
			last = block.End
		}
	}
	shown := p.show(line, id, users, texts)
	if shown.Cut == 0 {
		return line
	}
	ours := at[shown.Text]
	var edited []byte
	if shown.Cut == len(texts[shown.Text]) {
		edited = withoutElement(line, content, ours.block, ours.before)
	} else if edited, ok = frame.CutString(line, ours.text, shown.Cut); !ok {
		return line
	}
	p.logEdit("message", shown.Session, line, edited)
	return edited
}

// A place is where a text stands in a message: in a block of its content, behind the end of another, 0 if it is the
// first.
type place struct {
	text, block frame.Span
	before      int
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
