package proxy

import (
	"bytes"
	"io"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// up decides about the frames from the client to the harness.
type up struct {
	*env
	compat   *compat
	finder   *finder
	injector *injector
	placer   *placer
	recorder *recorder

	needs  func(method []byte) frame.Need
	queue  *wire.Queue // in front of the harness's stdin
	head   frame.Head
	heldAs heldFrame     // the frame that is being held
	tapped []tappedInput // prompts that are being forwarded, in order
	texts  frame.Texts   // of the tapped prompt at hand, if it is long or comes in pieces
}

// A heldFrame says what a frame was judged to be when it was held. Read whole it may turn out to be something else,
// because the last of duplicate keys counts; then it is forwarded as it is.
type heldFrame struct {
	method  string
	refusal string // of a response: the id of the request that the client refuses (idKey)
}

// run forwards everything from the client. It returns when the client has gone and the queue is empty.
func (u *up) run() error {
	err := wire.Pump(u.o.Client.In, u)
	u.queue.Join()
	if u.queue.Broken() { // the harness does not read any more; the other pump reports its end
		_, _ = io.Copy(io.Discard, u.o.Client.In)
		return nil
	}
	return err
}

// upNeeds says what must be known of a client's frame, by its method, before it can be judged.
func upNeeds(method []byte) frame.Need {
	switch string(method) {
	case methodPrompt, methodClose, methodDelete:
		return frame.NeedID | frame.NeedSession
	case methodInitialize, methodNew, methodLoad, methodResume, methodFork, methodList:
		return frame.NeedID
	case methodCancel, methodSteering, methodSetTitle:
		return frame.NeedSession
	}
	return 0
}

// Judge says what becomes of a frame.
func (u *up) Judge(b []byte, whole bool) wire.Verdict {
	if !frame.Peek(b, whole, u.needs, &u.head) {
		return wire.More
	}
	v := u.judge()
	if v == wire.Hold {
		u.heldAs = heldFrame{method: string(u.head.Method)}
		if u.heldAs.method == "" {
			u.heldAs.refusal = idKey(u.head.ID)
		}
	}
	return v
}

func (u *up) judge() wire.Verdict {
	switch string(u.head.Method) {
	case methodInitialize:
		if answerable(u.head.ID) {
			return wire.Hold
		}
	case methodNew, methodLoad, methodResume, methodFork:
		if answerable(u.head.ID) {
			return wire.Hold // before the initialize response it is watched, but not edited
		}
	case methodList, methodClose, methodDelete:
		if u.editing.Load() && answerable(u.head.ID) {
			return wire.Hold
		}
	case methodPrompt:
		if u.editing.Load() && answerable(u.head.ID) {
			return u.judgePrompt()
		}
	case methodCancel:
		u.table.Update(func(c *session.Connection) {
			if s := c.SessionOf(u.head.Session); s != nil {
				s.Cancel()
			}
		})
		u.cancel(func(h *heldPrompt) bool { return h.session.ID == string(u.head.Session) })
	case methodCancelRequest:
		if u.queue.Holding() {
			return wire.Hold
		}
	case methodSetTitle:
		u.table.Update(func(c *session.Connection) {
			if s := c.SessionOf(u.head.Session); s != nil {
				s.SetTitledByClient()
			}
		})
	case methodSteering:
		if u.editing.Load() {
			return u.judgeSteering()
		}
	case "":
		if u.compat.refusal(&u.head) {
			return wire.Hold
		}
	}
	return wire.Pass
}

// cancel ends the wait of the held prompts that match: they are forwarded as they came.
func (u *up) cancel(match func(*heldPrompt) bool) {
	u.queue.Cancel(func(held wire.HeldFrame) bool {
		h, ok := held.(*heldPrompt)
		return ok && match(h)
	})
}

// judgePrompt holds a prompt that may get context, and taps every other one: its text is read after it was forwarded.
func (u *up) judgePrompt() (v wire.Verdict) {
	u.table.Update(func(c *session.Connection) {
		s := c.SessionOf(u.head.Session)
		switch {
		case s == nil || s.Off:
			v = wire.Pass
		case s.MustHold(u.o.PerPrompt || len(u.injector.database.messagesLocked(s)) > 0):
			v = wire.Hold
		default:
			v = wire.Tap
			t := u.beginTurnLocked(c, s)
			u.recorder.begins(t)
			u.tapped = append(u.tapped, tappedInput{s, t})
		}
	})
	return v
}

// A tappedInput is a frame with text of the user that is read after it was forwarded: a prompt, or without a turn a
// steering message.
type tappedInput struct {
	session *session.Session
	turn    *session.Turn
}

// judgeSteering taps what the user says in the middle of a turn.
func (u *up) judgeSteering() (v wire.Verdict) {
	v = wire.Pass
	u.table.Update(func(c *session.Connection) {
		if s := c.SessionOf(u.head.Session); s != nil && !s.Off {
			v = wire.Tap
			u.tapped = append(u.tapped, tappedInput{session: s})
		}
	})
	return v
}

// beginTurnLocked begins the turn of the prompt at hand, which is forwarded as it is. The table's lock is held.
func (u *up) beginTurnLocked(c *session.Connection, s *session.Session) *session.Turn {
	t := c.BeginTurn(s)
	c.PromptForwarded(t)
	c.Await(idKey(u.head.ID), session.Request{Method: methodPrompt, Session: s, Turn: t})
	return t
}

// Write forwards bytes to the harness, after what is held.
func (u *up) Write(b []byte) error { return u.queue.Write(b) }

// Diverted is never called: up diverts nothing.
func (u *up) Diverted(piece []byte, _ bool) { _ = u.queue.Write(piece) }

// Tapped reads the text of a prompt, or of a steering message, that was forwarded.
func (u *up) Tapped(piece []byte, first, last bool) {
	u.table.Update(func(*session.Connection) { u.tapped[0].session.CountUserText(len(piece)) })
	whole := first && last && len(piece) <= maxPrompt
	if !whole {
		if first {
			u.texts = frame.Texts{Into: newCollector()}
		}
		u.texts.Write(piece)
	}
	if !last {
		return
	}
	t := u.tapped[0]
	u.tapped = u.tapped[1:]
	var said userInput
	off := false
	if whole {
		off = bytes.Contains(piece, []byte(`signet.ai`)) && switchesOff(piece)
		said = readInput(piece, func() (text promptText) {
			if prompt, ok := frame.Find(piece, "params", "prompt"); ok {
				text = readPrompt(piece, prompt)
			}
			return text
		})
		said.trace = traceOf(piece)
	} else {
		off = u.texts.End()
		words := u.texts.Into.(*collector)
		words.End()
		said.Prompt = words
		u.texts = frame.Texts{}
	}
	u.table.Update(func(c *session.Connection) {
		switch {
		case t.turn == nil && said.Size() > 0:
			c.Steer(t.session, said)
		case t.turn == nil:
		case off:
			c.SwitchOff(t.session)
		default:
			said.applyTo(c, t.turn)
			c.CommandEnded(t.turn) // a quick harness may have answered by now
		}
	})
	u.recorder.read(t.turn)
}

// Held handles a frame that was held, and forwards it.
func (u *up) Held(line []byte) error {
	frame.Peek(line, true, func([]byte) frame.Need { return frame.All }, &u.head)
	method := string(u.head.Method)
	refusal := u.head.Error && !u.head.Result && idKey(u.head.ID) == u.heldAs.refusal
	if method != u.heldAs.method || method == "" && !refusal {
		return u.queue.Write(line)
	}
	if method == methodPrompt {
		return u.holdPrompt(line)
	}
	if !frame.Valid(line) {
		return u.queue.Write(line)
	}
	switch method {
	case "":
		answer := emptyResult(u.head.ID)
		u.logEdit("acpx's answer", nil, line, answer)
		line = answer
	case methodInitialize:
		line = u.initialize(line)
	case methodNew, methodLoad, methodResume, methodFork:
		if u.editing.Load() {
			line = u.openSession(method, line)
		} else {
			u.noteEarly(method, line)
		}
	case methodList, methodClose, methodDelete:
		u.table.Update(func(c *session.Connection) {
			c.Await(idKey(u.head.ID), session.Request{Method: method, Session: c.SessionOf(u.head.Session)})
		})
	case methodCancelRequest:
		if id, ok := frame.Find(line, "params", "requestId"); ok {
			named := idKey(id.Of(line))
			u.cancel(func(h *heldPrompt) bool { return h.key == named })
		}
	}
	return u.queue.Write(line)
}

// noteEarly notes a request that opens a session before it is known whether frames may be edited. If they may when its
// response comes, the session is like any other.
func (u *up) noteEarly(method string, line []byte) {
	cwd, _ := stringAt(line, "params", "cwd")
	req := session.Request{
		Method: method, Early: true, Off: switchesOff(line), Target: string(u.head.Session), Cwd: cwd,
	}
	u.table.Update(func(c *session.Connection) { c.Await(idKey(u.head.ID), req) })
}

// initialize notes who the client is, and returns the request as the harness is to get it.
func (u *up) initialize(line []byte) []byte {
	client := programAt(line, "params")
	u.table.Update(func(c *session.Connection) {
		c.Client = client
		c.TakesNotices = takesNotices(line)
		c.Await(idKey(u.head.ID), session.Request{Method: methodInitialize})
	})
	edited := u.compat.initialize(line, client.Name, client.Version)
	u.logEdit("acpx's initialize", nil, line, edited)
	return edited
}

// openSession notes a request that opens a session and starts to look the session up. It returns the request with the
// identity in its system prompt and our MCP server, where they are wanted.
func (u *up) openSession(method string, line []byte) []byte {
	cwd, _ := stringAt(line, "params", "cwd")
	target := string(u.head.Session)
	var s *session.Session
	off := switchesOff(line)
	u.table.Update(func(c *session.Connection) {
		req := u.finder.openLocked(c, method, target, cwd)
		c.Await(idKey(u.head.ID), req)
		if s = req.Session; off {
			c.SwitchOff(s)
		}
	})
	switch method {
	case methodLoad, methodResume:
		u.awaitKnown(s)
	case methodNew:
		worded := u.compat.newSession(line)
		u.logEdit("acpx's settings", s, line, worded)
		line = worded
	}
	placed := u.placer.place(line, method, target, s)
	u.logEdit("system prompt", s, line, placed)
	served := u.addServer(placed, s)
	u.logEdit("memory tools", s, placed, served)
	return served
}

// awaitKnown waits for the look-up of a session, for placeLimit at most: one that was switched off gets no server.
func (u *up) awaitKnown(s *session.Session) {
	limit := time.NewTimer(placeLimit)
	defer limit.Stop()
	select {
	case <-s.Ready:
	case <-limit.C:
	}
}

// addServer adds our MCP server to the request's mcpServers, unless the client sends one of the same name or the
// session is off.
func (u *up) addServer(line []byte, s *session.Session) []byte {
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
	agent, off, taken := "", false, []string(nil)
	u.table.Update(func(c *session.Connection) { agent, off, taken = c.Harness(), s.Off, c.Servers })
	if off {
		return line
	}
	server, release := u.o.MCPServer(agent, func() (who memory.Session) {
		u.table.Update(func(*session.Connection) { who = s.Who })
		return who
	})
	if release != nil {
		u.table.Update(func(*session.Connection) { s.OnRelease(release) })
	}
	if server == nil {
		return line
	}
	if u.version2.Load() {
		server = typed(server)
		if kind, _ := stringAt(server, "type"); !slices.Contains(taken, kind) {
			return line
		}
	}
	if edited, ok := frame.Append(line, server, "params", "mcpServers"); ok {
		return edited
	}
	return line
}

// holdPrompt queues a prompt until its context is there or its time is up. A command, an empty prompt and one of a
// session that is off are forwarded as they are. The frame may be large, so it is gone through as seldom as possible.
func (u *up) holdPrompt(line []byte) error {
	h := &heldPrompt{
		env: u.env, inject: u.injector.inject, line: line, size: len(line), key: idKey(u.head.ID), read: u.o.Now(),
		cancelled: make(chan struct{}),
	}
	prompt, found := frame.Find(line, "params", "prompt")
	var text promptText
	off := false
	if found {
		text = readPrompt(line, prompt)
		h.words = text.words()
		off = bytes.Contains(line, []byte("signet.ai")) && switchesOff(line)
	}
	held, said := false, readInput(line, func() promptText { return text })
	said.trace = traceOf(line)
	u.table.Update(func(c *session.Connection) {
		s := c.SessionOf(u.head.Session)
		if s != nil && off {
			c.SwitchOff(s)
		}
		if s == nil || s.Off {
			return
		}
		command := c.SlashCommand(s, text.first())
		if command != "" || !found || !hasBlocks(line, prompt) {
			t := u.beginTurnLocked(c, s)
			said.applyTo(c, t)
			t.Command = command
			return
		}
		held = true
		// its turn is in its place also among those of prompts that are not held
		h.session, h.turn = s, c.BeginTurn(s)
		said.applyTo(c, h.turn)
		s.Hold()
	})
	u.head = frame.Head{} // its slices keep the line in memory
	if !held {
		return u.queue.Write(line)
	}
	u.injector.beginRecall(h)
	return u.queue.Hold(h)
}

// hasBlocks reports whether a prompt is an array with something in it, so that a block can come in front.
func hasBlocks(line []byte, prompt frame.Span) bool {
	if line[prompt.Start] != '[' {
		return false
	}
	for range frame.Elements(line, prompt) {
		return true
	}
	return false
}
