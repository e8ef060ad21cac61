package session

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
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

// UpdateJudged: an update from the harness begins. Do.Turn is the turn that its words belong to.
type UpdateJudged struct {
	ID   []byte // the session's
	Kind Update
}

func (u UpdateJudged) on(c *Connection) {
	if u.Kind == Commands && (len(c.making) > 0 || c.sessions[string(u.ID)] != nil) {
		c.do.Frame = Look
		return
	}
	s := c.sessionFor(u.ID)
	if s == nil {
		if u.Kind == Ours { // of a child, say: it may show its parent's block
			c.do.Frame = Hold
		}
		return
	}
	c.do.Session, c.do.Turn = s, s.turns.current()
	if u.Kind == Thoughts && c.do.Turn != nil {
		c.do.Turn.begun = true
	}
	shows := len(s.history.blocks) > 0 || s.history.replay.step != replayOver || !s.exists.ledger.answered()
	c.do.Frame = u.Kind.frame(c.do.Turn != nil, shows)
}

// frame says what becomes of an update of a session that is known: talks says that there is a turn, and shows that user
// messages and titles may hold a block of ours.
func (k Update) frame(talks, shows bool) Frame {
	switch {
	case k == Idles, shows && (k == Titles || k == Ours):
		return Hold
	case k == Reports, k == Titles, talks && k == Words:
		return Look
	}
	return forward
}

// TurnSought: a chunk has come whose session is known by its shape, and turns have changed since the last one.
type TurnSought struct{ Session *Session }

func (t TurnSought) on(c *Connection) {
	if c.sessions[t.Session.ID()] == t.Session {
		c.do.Turn = t.Session.turns.current()
	}
}

// UserShown: a message of the user's that the harness shows, whole. Do.Cut is how many bytes at the start of one of its
// Texts are our block, and Do.Text which. It waits for the ledger once (Do.Wait) if it may hold a block. Do.Seek is a
// block to look up before it is asked again.
type UserShown struct {
	ID      []byte
	Bytes   int      // of its frame
	Users   bool     // it is the user's, not what one session says to another
	Texts   []string // of its content; nil unless they may hold a block
	Waiting bool     // it has waited
	Late    bool     // and waits no longer
	Sought  *Seek    // a block was looked up
}

func (u UserShown) on(c *Connection) {
	s := c.sessionFor(u.ID)
	switch c.do.Session = s; {
	case s == nil && u.Sought != nil:
		s = u.Sought.session
	case s == nil:
		s = c.stranger()
	}
	h := &s.history
	if u.Users && !u.Waiting {
		h.showUser(u.Bytes)
	}
	if len(u.Texts) == 0 {
		return
	}
	if l := s.exists.ledger; c.do.Session != nil && !u.Late && (l == asked || l == overdue && u.Waiting) {
		s.exists.ledger, c.do.Wait = overdue, true
		return
	}
	for i, text := range u.Texts {
		if c.do.Cut = h.match(text); c.do.Cut > 0 { // a block stands in a message once
			c.do.Text = i
			for _, in := range h.keep() { // by the next process, too, and nothing in it is recalled once more
				in.Key = ""
				c.record(s, correlation.Injected{Session: s.Number(), Injection: in})
			}
			return
		}
	}
	if id := h.seeks(u.Texts); id != "" && !u.Late {
		c.seek(s, id)
	}
}

// stranger returns a session that stands for one that the client has not opened, while one of its messages is looked
// at.
func (c *Connection) stranger() *Session {
	s := &Session{exists: existence{silence: hidden, ledger: unknown}}
	if !c.deaf {
		s.history.expectReplay()
	}
	return s
}

const (
	maxNotices = 16 << 10 // bytes of a turn's message chunks that are notices
	maxEarly   = 32       // sessions whose commands are kept before the response that names them
)

// ChunkCame: a chunk of the agent's words was parsed, and its text added to the turn's Answer.
type ChunkCame struct {
	Turn    *Turn
	Message string // its messageId; "" for none
	Lost    int    // bytes of it that could not be kept
}

func (u ChunkCame) on(c *Connection) {
	if u.Turn.say(u.Message) && c.traits().SaysSummary {
		c.contextLost(u.Turn.Session, correlation.Compacted)
	}
	u.Turn.lost += u.Lost
	c.waiting.lost += u.Lost
	u.Turn.begun = true
	if !u.Turn.dropped {
		c.recordBegun(u.Turn)
		c.markDue(u.Turn)
		c.do.Later = true
	}
}

// NoticeCame: a message of the harness's own was parsed, which becomes the answer if nothing else does. A harness whose
// answers have message ids says these without one.
type NoticeCame struct {
	Turn *Turn
	Raw  []byte // escaped as it came
}

func (u NoticeCame) on(*Connection) {
	t := u.Turn
	t.notices = append(t.notices, u.Raw[:min(len(u.Raw), maxNotices-len(t.notices))]...)
}

// ChunkUnread: a chunk of the agent's words could not be read.
type ChunkUnread struct {
	Turn  *Turn
	Bytes int
}

func (u ChunkUnread) on(c *Connection) {
	u.Turn.lost += u.Bytes
	c.waiting.lost += u.Bytes
}

// ToolCalled: a tool call, or a later report of one. Do.Turn is the turn in which it is.
type ToolCalled struct {
	Session  *Session
	Call     correlation.ToolCall
	Compacts bool // it stands for a compaction
}

func (u ToolCalled) on(c *Connection) {
	s := u.Session
	begun, lost := s.history.call(u.Call.ID, u.Compacts, u.Call.Status == "completed")
	c.compacted(s, begun, lost, "")
	t := s.turns.current()
	if t == nil || t.dropped {
		return
	}
	c.do.Turn = t
	t.call(u.Call, c.at)
	c.recordBegun(t)
	c.markDue(t)
	c.do.Later = true
}

// Compaction: a compaction_update, or a piece of the summary.
type Compaction struct {
	Session    *Session
	ID, Status string
	Whole      []string // the summary in it, which replaces what came in pieces; nil: none
	Piece      string   // a piece of the summary, and nothing else
}

func (u Compaction) on(c *Connection) {
	if u.Piece != "" {
		u.Session.history.compaction.begin(u.ID)
		u.Session.history.compaction.add(u.Piece)
		return
	}
	begun, lost, text := u.Session.history.update(u.ID, u.Status, u.Whole)
	c.compacted(u.Session, begun, lost, text)
}

// compacted notes what has become known of a compaction. text is the harness's summary; "" for none.
func (c *Connection) compacted(s *Session, begun, lost bool, text string) {
	if begun && !s.off() {
		c.record(s, correlation.Compacting{Session: s.Number()})
	}
	if strings.TrimSpace(text) != "" && !s.off() {
		c.waiting.summaries = append(c.waiting.summaries, c.told(s, text))
		c.touch(s)
	}
	if lost {
		c.contextLost(s, correlation.Compacted)
	}
}

// TitleShown: the harness says a session's title, before it is forwarded. Do.Title is the block that it was made from,
// if it was made from one alone.
type TitleShown struct {
	ID   string
	Text string // "" if it has our mark
}

func (u TitleShown) on(c *Connection) {
	if c.do.Session = c.sessions[u.ID]; c.do.Session != nil && u.Text != "" {
		c.do.Title = c.do.Session.history.titledFrom(c.traits().TitleLength, u.Text)
	}
}

// Titled: the harness has set a session's title, from which our block was taken out.
type Titled struct {
	ID     []byte
	Text   string
	Active bool // the harness works on the turn: it has its prompt
}

func (u Titled) on(c *Connection) {
	s := c.sessionFor(u.ID)
	if s != nil && u.Active {
		s.turns.takes(c.at)
	}
	if s == nil || s.off() || u.Text == "" || u.Text == s.history.title {
		return
	}
	s.history.title = u.Text
	c.waiting.titles = append(slices.DeleteFunc(c.waiting.titles, func(one *Session) bool { return one == s }), s)
	c.touch(s)
}

// TitledByClient: the client has set a session's title: later ones are not made from a prompt.
type TitledByClient struct{ ID []byte }

func (u TitledByClient) on(c *Connection) {
	if s := c.sessions[string(u.ID)]; s != nil {
		s.history.named = true
	}
}

// A Usage is what the harness says was used.
type Usage struct {
	correlation.Usage
	Window bool // ContextUsed is of the context window
	OfTurn bool // all requests of the turn took its Input together: there is no better report of the context
}

// Used: the harness says what was used, in the turn under way or the last.
type Used struct {
	Session *Session
	Usage   Usage
}

func (u Used) on(c *Connection) {
	u.Session.turns.works()
	c.usage(u.Session, nil, u.Usage)
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
		c.record(s, correlation.UsageReported{Session: s.Number(), Turn: n, Usage: u.Usage})
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
