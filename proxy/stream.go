package proxy

import (
	"bytes"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A stream is an answer that arrives as message chunks of one shape: their
// texts are taken as they stand between the shape's two ends, without reading the frames.
type stream struct {
	*env
	shape   frame.Shape
	session *session.Session
	turn    *session.Turn
	words   uint64
	taking  bool   // a chunk that comes in pieces
	spoken  string // the messageId of the last words
}

var textPath = []string{"params", "update", "content", "text"}

// turnOf gives the turn that a frame's words belong to if it begins as the last chunk did, else nil.
func (m *stream) turnOf(b []byte) *session.Turn {
	if !m.shape.Begins(b) {
		return nil
	}
	if words := m.table.TurnChanges.Load(); words != m.words {
		m.table.Update(func(c *session.Connection) {
			m.words, m.turn = words, nil
			if c.Session(m.session.ID) == m.session {
				m.turn = m.session.Turn()
			}
		})
	}
	return m.turn
}

// take takes the words off a piece of a chunk, if it is of the stream's shape.
func (m *stream) take(l look, piece []byte, first, last bool) bool {
	switch {
	case first && last:
		raw, ok := m.shape.Text(piece)
		if !ok || m.session != l.session {
			return false
		}
		m.say(l.turn, raw)
		return true
	case first:
		if m.taking = m.session == l.session && m.shape.Begins(piece); m.taking {
			l.turn.Answer.Write(piece[m.shape.Head():])
		}
		return m.taking
	case !m.taking:
		return false
	}
	l.turn.Answer.Write(piece)
	if last {
		m.taking = false
		l.turn.Answer.End(m.shape.Tail())
		m.said(l.turn)
	}
	return true
}

// message reads a chunk of another shape, and learns it.
func (m *stream) message(l look, line []byte) {
	at, ok := frame.Find(line, textPath...)
	if !ok && len(line) == maxUpdate { // the frame is longer than what was kept of it
		line = frame.Mend(line)
		at, ok = frame.Find(line, textPath...)
	}
	if !ok || line[at.Start] != '"' {
		m.table.Update(func(c *session.Connection) { c.CountLost(l.turn, len(line)) })
		return
	}
	raw := line[at.Start+1 : at.End-1]
	if m.notice(l, line, raw) {
		return
	}
	m.spoken, _ = stringAt(line, "params", "update", "messageId")
	m.table.Update(func(c *session.Connection) { c.MessageBegan(l.turn, m.spoken) })
	m.learn(l, line, at)
	if bytes.Contains(raw, []byte(frame.Seam)) {
		m.table.Update(func(c *session.Connection) { c.CountLost(l.turn, 1) }) // nobody knows how much
	}
	m.say(l.turn, raw)
}

// notice reports whether a chunk is a notice of the harness's own: one without a messageId where answers have one. It
// is kept aside, and is the answer if nothing else comes.
func (m *stream) notice(l look, line, raw []byte) (is bool) {
	if _, named := frame.Find(line, "params", "update", "messageId"); named {
		return false
	}
	m.table.Update(func(c *session.Connection) {
		if is = c.Traits().MessageIDs; is {
			c.Notice(l.turn, raw)
		}
	})
	return is
}

// learn makes the shape that of a chunk if what it is, and whose, stands in front of its text.
func (m *stream) learn(l look, line []byte, text frame.Span) {
	m.shape.Forget()
	var before, whole frame.Head
	if !frame.Peek(line[:text.Start], false, downNeeds, &before) || !frame.Peek(line, true, downNeeds, &whole) ||
		!bytes.Equal(before.Update, whole.Update) || !bytes.Equal(before.Session, whole.Session) {
		return // what counts stands behind the text
	}
	m.shape.Learn(line, text)
	m.session, m.turn, m.words = l.session, l.turn, l.words
}

// say adds words to a turn, as they stand between their quotes.
func (m *stream) say(t *session.Turn, raw []byte) {
	if t.Answer.Add(raw) {
		m.said(t)
	}
}

// said notes that there are words to take.
func (m *stream) said(t *session.Turn) {
	m.table.Update(func(c *session.Connection) { c.AnswerGrew(t) })
}
