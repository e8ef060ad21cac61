package proxy

import (
	"context"
	"io"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// The versions of the protocol whose frames are edited.
const (
	version1 = "1"
	version2 = "2"
)

// down decides about the frames from the harness to the client.
type down struct {
	*env
	compat   *compat
	finder   *finder
	stripper *stripper
	capture  *capture
	events   Events

	needs  func(method []byte) frame.Need
	out    io.Writer
	head   frame.Head
	looks  []look // of the tapped frames, in order
	next   int    // of looks: what is tapped next
	stream stream
	long   *frame.Thinner // of a tapped frame that comes in pieces
	strays int            // lines of the harness that were no frames
}

// A look is a tapped update: what kind it is and whose.
type look struct {
	kind    string
	session *session.Session
	turn    *session.Turn // of a message chunk
	words   uint64        // the table's count when that was found out
	id      string        // of the session whose commands these are, which may be one that is being made
}

// downNeeds says what must be known of a harness's frame before it can be judged.
func downNeeds(method []byte) frame.Need {
	switch string(method) {
	case methodUpdate:
		return frame.NeedSession | frame.NeedUpdate
	case "":
		return frame.NeedID // a response, perhaps to a request that is watched
	}
	return 0
}

// Judge says what becomes of a frame.
func (d *down) Judge(b []byte, whole bool) wire.Verdict {
	if t := d.stream.turnOf(b); t != nil {
		d.looks = append(d.looks, look{kind: updateMessage, session: t.Session, turn: t, words: d.stream.words})
		return wire.Tap
	}
	if !frame.Peek(b, whole, d.needs, &d.head) {
		return wire.More
	}
	switch d.head.Kind {
	case frame.Noise:
		return wire.Divert
	case frame.Object:
	default:
		return wire.Pass
	}
	switch string(d.head.Method) {
	case "":
		return d.judgeResponse()
	case methodUpdate:
		return d.judgeUpdate()
	}
	d.compat.asks(&d.head)
	return wire.Pass
}

// judgeResponse says what becomes of a response: one that is waited for is held.
func (d *down) judgeResponse() wire.Verdict {
	if !d.head.Result && !d.head.Error {
		return wire.Pass
	}
	v := wire.Pass
	d.table.Update(func(c *session.Connection) {
		if c.Awaits(func() string { return idKey(d.head.ID) }) {
			v = wire.Hold
		}
	})
	return v
}

// judgeUpdate says what becomes of an update.
func (d *down) judgeUpdate() (v wire.Verdict) {
	d.table.Update(func(c *session.Connection) {
		if string(d.head.Update) == updateCommands && (c.Makes() || c.SessionOf(d.head.Session) != nil) {
			d.looks = append(d.looks, look{kind: updateCommands, id: string(d.head.Session)})
			v = wire.Tap
			return
		}
		s := c.SessionFor(d.head.Session)
		if s == nil {
			v = wire.Pass
			return
		}
		v = d.judgeUpdateOf(s)
	})
	return v
}

// judgeUpdateOf says what becomes of an update of a session that we know. The table's lock is held.
func (d *down) judgeUpdateOf(s *session.Session) wire.Verdict {
	kind := ""
	switch string(d.head.Update) {
	case updateMessage:
		kind = updateMessage
	case updateTool, updateToolMore:
		kind = updateTool
	case updateUsage:
		kind = updateUsage
	case updateCompact:
		kind = updateCompact
	case updateSummary:
		kind = updateSummary
	case updateUser, updateUserMessage, updateLetter, updateLetterPart:
		if s.ShowsBlocks() {
			return wire.Hold
		}
		return wire.Pass
	case updateInfo:
		if s.ShowsBlocks() {
			return wire.Hold
		}
		kind = updateInfo
	case updateState:
		if d.second.Load() {
			return wire.Hold // it may end a turn
		}
		return wire.Pass
	case updateAgent:
		kind = updateAgent
	default:
		return wire.Pass
	}
	// words of nobody's turn: a replay
	if (kind == updateMessage || kind == updateAgent || kind == updateTool) && s.Turn() == nil {
		return wire.Pass
	}
	d.looks = append(d.looks, look{kind: kind, session: s, turn: s.Turn(), words: d.table.Words.Load()})
	return wire.Tap
}

// Tapped reads an update that the client already has.
func (d *down) Tapped(piece []byte, first, last bool) {
	l := d.looks[d.next]
	if last {
		if d.next++; d.next == len(d.looks) {
			d.looks, d.next = d.looks[:0], 0
		}
	}
	if l.kind == updateMessage && d.stream.take(l, piece, first, last) {
		return
	}
	if !first || !last || len(piece) > maxUpdate {
		if first {
			d.long = frame.NewThinner(maxUpdate)
		}
		if d.long.Write(piece); !last {
			return
		}
		piece, d.long = d.long.Bytes(), nil
	}
	switch l.kind {
	case updateMessage:
		d.stream.message(l, piece)
	case updateAgent:
		d.stream.wholeMessage(l, piece)
	default:
		d.capture.read(l, piece)
	}
}

// Write forwards bytes to the client.
func (d *down) Write(b []byte) error {
	if _, err := d.out.Write(b); err != nil {
		return wire.ErrNoReader
	}
	return nil
}

// Diverted sends what is no frame to people: acpx 0.7.0 crashes on a bare
// `1`, and the protocol allows nothing else on stdout.
func (d *down) Diverted(piece []byte, first bool) {
	if first { // in one write: the harness's stderr goes the same way
		d.strays++
		piece = append([]byte("signet-acp-proxy: not a frame, on the harness's stdout: "), piece...)
	}
	_, _ = d.talk.Write(piece)
}

// Held handles a frame that was kept whole: a response that was waited for, or an update that may show our block.
func (d *down) Held(line []byte) error {
	frame.Peek(line, true, func([]byte) frame.Need { return frame.All }, &d.head)
	if !frame.Valid(line) {
		return d.Write(line)
	}
	switch update := string(d.head.Update); update {
	case updateUser, updateLetterPart:
		if line = d.stripper.userChunk(line, d.head.Session, update == updateUser); line == nil {
			return nil
		}
		return d.Write(line)
	case updateUserMessage, updateLetter:
		return d.Write(d.stripper.userMessage(line, d.head.Session, update == updateUserMessage))
	case updateState:
		d.state(line)
		return d.Write(line)
	case updateInfo:
		return d.info(line)
	}
	var req session.Request
	ok := false
	d.table.Update(func(c *session.Connection) { req, ok = c.Answered(idKey(d.head.ID)) })
	if !ok {
		return d.Write(line)
	}
	if notice := d.notice(req); notice != nil {
		if err := d.Write(notice); err != nil {
			return err
		}
	}
	return d.Write(d.response(req, line))
}

// info takes our block out of a session's title, and keeps what the harness calls it.
func (d *down) info(line []byte) error {
	line = d.stripper.info(line, string(d.head.Session))
	err := d.Write(line)
	var s *session.Session
	d.table.Update(func(c *session.Connection) { s = c.SessionFor(d.head.Session) })
	if s != nil {
		d.capture.title(s, line)
	}
	return err
}

// response follows what a response says, and gives it as the client is to see it.
func (d *down) response(req session.Request, line []byte) []byte {
	switch req.Method {
	case methodInitialize:
		d.initialized(line)
	case methodList:
		clean := d.stripper.list(line)
		d.edited("list", nil, line, clean)
		return clean
	case methodPrompt:
		d.promptEnded(req, line)
	case methodClose, methodDelete:
		if !d.head.Error && req.Session != nil {
			d.table.Update(func(c *session.Connection) { c.Closed(req.Session, req.Method) })
		}
	default:
		if s := d.opened(req, line); s != nil {
			return d.announced(s, line)
		}
	}
	return line
}

// promptEnded ends a turn. That it ended is in the file of events before the client reads of it.
func (d *down) promptEnded(req session.Request, line []byte) {
	stop, _ := stringAt(line, "result", "stopReason")
	code, id := errorCode(line), chars.Cut(string(d.head.ID), maxID)
	var ended eventlog.Event
	d.table.Update(func(c *session.Connection) {
		if d.second.Load() && !d.head.Error {
			c.Accept(req)
			return
		}
		ended = c.EndTurn(req, id, d.head.Error, stop, code)
	})
	if ended != nil {
		_ = d.events.AppendWait(d.ctx, ended) // it says in the log that it takes too long
	}
	d.capture.result(req, line)
}

// opened follows the response to a request that opens a session, and gives that session if it was opened and we may
// edit.
func (d *down) opened(req session.Request, line []byte) (s *session.Session) {
	failed := d.head.Error
	if req.Early && (failed || !d.editing.Load()) {
		return nil
	}
	id, _ := stringAt(line, "result", "sessionId")
	announce := req.Session != nil // not of one that was sent before we knew whether we may edit
	d.table.Update(func(c *session.Connection) {
		if req.Early { // its response finds that we may: the session is one as any other
			off := req.Off
			if req = d.finder.open(c, req.Method, req.Target, req.Cwd); off {
				c.SwitchOff(req.Session)
			}
		}
		if failed {
			c.NotOpened(req, makes(req.Method), errorCode(line))
			return
		}
		c.Opened(req.Session, makes(req.Method), id)
		if list, ok := frame.Find(line, "result", "availableCommands"); ok { // of version 2
			c.Advertise(req.Session.ID, commandNames(line, list))
		}
	})
	if failed || !announce {
		return nil
	}
	return req.Session
}

// announced gives the response that opened a session with the session's Signet key in the result's _meta, for the
// client to show. The key is not known before the ledger was asked, which the response waits for no longer than
// LookLimit.
func (d *down) announced(s *session.Session, line []byte) []byte {
	if !d.o.Announce {
		return line
	}
	if at, ok := frame.Find(line, "result"); !ok || line[at.Start] != '{' {
		return line
	}
	var ready chan struct{}
	key, off := "", false
	look := func() {
		d.table.Update(func(*session.Connection) { ready, key, off = s.Ready, s.Who.Key, s.Off })
	}
	if look(); off {
		return line
	}
	ctx, cancel := context.WithTimeout(d.ctx, d.o.LookLimit)
	defer cancel()
	await(ctx, ready)
	if look(); off || key == "" { // off as has turned out meanwhile
		return line
	}
	edited := add(line, quote(key), "result", "_meta", "signet.ai", "sessionKey")
	d.edited("announcement", s, line, edited)
	return edited
}

// initialized decides whether this conversation is one that we can edit.
func (d *down) initialized(line []byte) {
	at, ok := frame.Find(line, "result", "protocolVersion")
	if !ok {
		return
	}
	agent := programAt(line, "result")
	d.table.Update(func(c *session.Connection) {
		c.Agent = agent
		c.TakesSystem = takesSystemPrompt(line)
		c.Servers = serversTaken(line)
	})
	switch got := string(at.Of(line)); got {
	case version1:
	case version2:
		d.second.Store(true)
	default:
		d.tell("the harness speaks protocol version %.20s; this program adds memory to versions %s and %s only, "+
			"so everything passes as it is",
			got, version1, version2)
		return
	}
	d.editing.Store(true)
}
