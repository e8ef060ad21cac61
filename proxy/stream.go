package proxy

import (
	"bytes"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A stream reads the agent's text from message chunks. Chunks of the same shape as the last one (frame.Shape) are not
// parsed: their text is copied as it stands between the shape's two ends.
type stream struct {
	*env
	shape       frame.Shape
	session     *session.Session
	turn        *session.Turn
	turnChanges uint64
	taking      bool   // in the middle of a chunk of the shape that comes in pieces
	messageID   string // of the last chunk or message that was parsed
}

var textPath = []string{"params", "update", "content", "text"}

// turnOf returns the turn of a frame that begins like the last chunk, else nil.
func (m *stream) turnOf(b []byte) *session.Turn {
	if !m.shape.Begins(b) {
		return nil
	}
	if changes := m.talk.TurnChanges(); changes != m.turnChanges {
		m.turnChanges, m.turn = changes, nil
		m.talk.Do(func(c *session.Connection) { m.turn = c.TurnOf(m.session) })
	}
	return m.turn
}

// take takes the text of a piece of a chunk, if that is of the stream's shape, and reports whether it is.
func (m *stream) take(l tappedUpdate, piece []byte, first, last bool) bool {
	switch {
	case first && last:
		raw, ok := m.shape.Text(piece)
		if !ok || m.session != l.session {
			return false
		}
		if l.turn.Answer.Add(raw) {
			m.grew(l.turn)
		}
		return true
	case first:
		if m.taking = m.session == l.session && m.shape.Begins(piece); m.taking {
			l.turn.Answer.Write(piece[len(m.shape.Head):])
		}
		return m.taking
	case !m.taking:
		return false
	}
	l.turn.Answer.Write(piece)
	if last {
		m.taking = false
		l.turn.Answer.End(m.shape.Tail)
		m.grew(l.turn)
	}
	return true
}

// grew notes that the agent has said more, in the same message.
func (m *stream) grew(t *session.Turn) {
	m.talk.Do(func(c *session.Connection) { c.ChunkCame(t, "") })
}

// readChunk parses a chunk, and learns its shape.
func (m *stream) readChunk(l tappedUpdate, line []byte) {
	at, ok := frame.Find(line, textPath...)
	if !ok && len(line) == maxUpdate { // the frame was longer, and cut
		line = frame.Mend(line)
		at, ok = frame.Find(line, textPath...)
	}
	if !ok || line[at.Start] != '"' {
		m.talk.Do(func(c *session.Connection) { c.Lost(l.turn, len(line)) })
		return
	}
	raw := line[at.Start+1 : at.End-1]
	_, named := frame.Find(line, "params", "update", "messageId")
	if !named && m.agent.Load().traits.MessageIDs {
		m.talk.Do(func(c *session.Connection) { c.NoticeCame(l.turn, raw) })
		return
	}
	m.messageID, _ = stringAt(line, "params", "update", "messageId")
	m.learn(l, line, at)
	l.turn.Answer.Add(raw)
	m.talk.Do(func(c *session.Connection) {
		c.ChunkCame(l.turn, m.messageID)
		if bytes.Contains(raw, []byte(frame.Seam)) {
			c.Lost(l.turn, 1) // how much was lost is not known
		}
	})
}

// learn learns the shape of a chunk, if its kind and session are known from what stands in front of its text.
func (m *stream) learn(l tappedUpdate, line []byte, text frame.Span) {
	m.shape = frame.Shape{}
	var before, whole frame.Head
	if !frame.Peek(line[:text.Start], false, downNeeds, &before) || !frame.Peek(line, true, downNeeds, &whole) ||
		!bytes.Equal(before.Update, whole.Update) || !bytes.Equal(before.Session, whole.Session) {
		return // they come after the text, where the next chunk's may differ
	}
	m.shape.Learn(line, text)
	m.session, m.turn, m.turnChanges = l.session, l.turn, l.turnChanges
}

// readMessage reads an answer that comes as one message (version 2). Some harnesses send it in place of chunks, others
// after them.
func (m *stream) readMessage(l tappedUpdate, line []byte) {
	id, _ := stringAt(line, "params", "update", "messageId")
	content, ok := frame.Find(line, "params", "update", "content")
	if !ok || m.messageID != "" && m.messageID == id {
		return
	}
	m.messageID = id
	for block := range frame.Elements(line, content) {
		text, ok := frame.Find(block.Of(line), "text")
		if token := text.Of(block.Of(line)); ok && token[0] == '"' && l.turn.Answer.Add(token[1:len(token)-1]) {
			m.grew(l.turn)
		}
	}
}
