package session

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// An Update is a kind of what the harness says about a session, as far as it matters before it is forwarded.
type Update uint8

const (
	Other    Update = iota
	Words           // of the agent, in chunks or whole, or a tool call: without a turn it is a replay
	Ours            // it may show a block of ours: the user's messages
	Titles          // it may show a block of ours, and is looked at in any case
	Commands        // it names commands, also of a session that has no name yet
	Idles           // it may end a turn
	Thoughts        // of the agent: it has begun
	Reports         // it is looked at
)

// JudgeUpdate says what becomes of an update that begins, of the session with this id, which it returns with the turn
// that its words belong to.
func (c *Connection) JudgeUpdate(id []byte, kind Update) (v wire.Verdict, s *Session, t *Turn) {
	if kind == Commands && (len(c.making) > 0 || c.sessions[string(id)] != nil) {
		return wire.Tap, nil, nil
	}
	if s = c.sessionFor(id); s == nil {
		if kind == Ours { // of a child, say: it may show its parent's block
			return wire.Hold, nil, nil
		}
		return wire.Pass, nil, nil
	}
	if t = s.turns.current(); kind == Thoughts && t != nil {
		t.begun = true
	}
	shows := len(s.history.blocks) > 0 || s.history.replay.step != replayOver || !s.exists.ledger.answered()
	return kind.verdict(t != nil, shows), s, t
}

// verdict says what becomes of an update of a session that is known: talks says that there is a turn, and shows that
// user messages and titles may hold a block of ours.
func (k Update) verdict(talks, shows bool) wire.Verdict {
	switch {
	case k == Idles, shows && (k == Titles || k == Ours):
		return wire.Hold
	case k == Reports, k == Titles, talks && k == Words:
		return wire.Tap
	}
	return wire.Pass
}

// TurnOf returns the turn of a chunk whose session is known by its shape; nil: none.
func (c *Connection) TurnOf(s *Session) *Turn {
	if c.sessions[s.ID()] != s {
		return nil
	}
	return s.turns.current()
}

// UserShown takes a message that the harness shows, whole, in so many bytes; users says that it is the user's, not what
// one session says to another. It returns its session, or one that stands for it. A message that may hold a block
// (marked) waits for the ledger: the first one that has to, and no other.
func (c *Connection) UserShown(id []byte, bytes int, users, marked bool) (s *Session, wait bool) {
	if s = c.sessionFor(id); s == nil { // one stands for it while this message is looked at
		s = &Session{exists: existence{silence: hidden, ledger: unknown}}
		if !c.deaf {
			s.history.expectReplay()
		}
		s.publish()
	}
	if r := &s.history.replay; users && r.step != replayOver {
		r.shown = max(r.shown, shownWords)
		s.history.since += bytes
	}
	if wait = marked && s.exists.ledger == asked; wait {
		s.exists.ledger = overdue
	}
	return s, wait
}

// Ours returns how many bytes at the start of one of a message's texts are our block, and of which. A block stands in a
// message once. If none is known, one is perhaps to be looked up first.
func (c *Connection) Ours(s *Session, texts []string) (cut, text int, first *Seek) {
	h := &s.history
	for i, text := range texts {
		if cut = h.match(text); cut == 0 {
			continue
		}
		for _, in := range h.keep() { // by the next process, too, and nothing in it is recalled once more
			in.Key = ""
			c.record(s, correlation.Injected{Session: s.Number, Injection: in})
		}
		return cut, i, nil
	}
	if id := h.seeks(texts); id != "" {
		first = c.seek(s, id)
	}
	return 0, 0, first
}

const (
	maxNotices = 16 << 10 // bytes of a turn's message chunks that are notices
	maxEarly   = 32       // sessions whose commands are kept before the response that names them
)

// ChunkCame notes that a chunk of the agent's words was parsed, and its text added to the turn's Answer. message is its
// messageId, "" for none.
func (c *Connection) ChunkCame(t *Turn, message string) {
	if t.say(message) && c.traits.SaysSummary {
		c.contextLost(t.Session, correlation.Compacted)
	}
	t.begun = true
	if !t.dropped {
		c.recordBegun(t)
		c.markDue(t)
		c.beside.Hurry(Later)
	}
}

// Lost notes bytes of a turn that could not be kept, or read.
func (c *Connection) Lost(t *Turn, bytes int) {
	t.lost += bytes
	c.waiting.lost += bytes
}

// NoticeCame takes a message of the harness's own, escaped as it came, which becomes the answer if nothing else does. A
// harness whose answers have message ids says these without one.
func (c *Connection) NoticeCame(t *Turn, raw []byte) {
	t.notices = append(t.notices, raw[:min(len(raw), maxNotices-len(t.notices))]...)
}

// ToolCalled takes a tool call, or a later report of one; compacts says that it stands for a compaction.
func (c *Connection) ToolCalled(s *Session, call correlation.ToolCall, compacts bool) {
	begun, lost := s.history.call(call.ID, compacts, call.Status == "completed")
	c.compacted(s, begun, lost, "")
	t := s.turns.current()
	if t == nil || t.dropped {
		return
	}
	t.call(call, c.o.Now())
	t.Answer.ToolCalled()
	c.recordBegun(t)
	c.markDue(t)
	c.beside.Hurry(Later)
}

// SummaryCame takes a piece of the harness's summary in a compaction.
func (c *Connection) SummaryCame(s *Session, id, piece string) {
	s.history.compaction.begin(id)
	s.history.compaction.add(piece)
}

// Compaction takes a compaction_update. whole is the summary in it, which replaces what came in pieces; nil: none.
func (c *Connection) Compaction(s *Session, id, status string, whole []string) {
	begun, lost, text := s.history.update(id, status, whole)
	c.compacted(s, begun, lost, text)
}

// compacted notes what has become known of a compaction. text is the harness's summary; "" for none.
func (c *Connection) compacted(s *Session, begun, lost bool, text string) {
	if begun && !s.off() {
		c.record(s, correlation.Compacting{Session: s.Number})
	}
	if strings.TrimSpace(text) != "" && !s.off() {
		c.waiting.summaries = append(c.waiting.summaries, c.told(s, text))
		c.touch(s)
	}
	if lost {
		c.contextLost(s, correlation.Compacted)
	}
}

// TitleShown takes a session's title that the harness says, before it is forwarded; "" if it has our mark. It returns
// the session, and the block that the title was made from, if it was made from one alone.
func (c *Connection) TitleShown(id, title string) (s *Session, from *Injection) {
	if s = c.sessions[id]; s != nil && title != "" {
		from = s.history.titledFrom(c.traits.TitleLength, title)
	}
	return s, from
}

// Titled takes a session's title, from which our block was taken out. active says that the harness works on the turn:
// it has its prompt.
func (c *Connection) Titled(id []byte, title string, active bool) {
	s := c.sessionFor(id)
	if s == nil {
		return
	}
	if t := s.turns.running(); active && t != nil && t.taken.IsZero() {
		t.taken = c.o.Now()
	}
	if s.off() || title == "" || title == s.history.title {
		return
	}
	s.history.title = title
	c.waiting.titles = append(slices.DeleteFunc(c.waiting.titles, func(one *Session) bool { return one == s }), s)
	c.touch(s)
}

// TitledByClient notes that the client has set a session's title: later ones are not made from a prompt.
func (c *Connection) TitledByClient(id []byte) {
	if s := c.sessions[string(id)]; s != nil {
		s.history.named = true
	}
}

// Used takes what the harness says was used, in the turn under way or the last.
func (c *Connection) Used(s *Session, u Usage) {
	if t := s.turns.running(); t != nil { // the harness works on it, though it has said nothing yet
		t.begun = true
	}
	c.usage(s, nil, u)
}

// usage records what was used in turn t; nil: in the one under way, or the last.
func (c *Connection) usage(s *Session, t *Turn, u Usage) {
	if !s.off() {
		n, in := 0, t
		if in == nil {
			in = s.turns.current()
		}
		if in != nil {
			c.recordBegun(in)
			n = in.Number
		}
		c.record(s, correlation.UsageReported{Session: s.Number, Turn: n, Usage: u.Usage})
	}
	switch {
	case u.Window && u.ContextUsed != nil:
		c.used(s, *u.ContextUsed)
	case u.OfTurn && t != nil && u.Input != nil && *u.Input != 0: // a command takes nothing
		c.used(s, *u.Input)
		s.history.used = t.inputUsed(*u.Input)
	}
}

func (c *Connection) used(s *Session, tokens int64) {
	if s.history.use(tokens) {
		c.contextLost(s, correlation.Compacted)
	}
}
