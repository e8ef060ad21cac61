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

	needs func(method []byte) frame.Need
	queue *wire.Queue // where frames leave
	head  frame.Head
	why   reason      // the frame at hand is held
	taps  []tapped    // in order
	texts frame.Texts // of a tapped prompt that is long, or comes in pieces
}

// A reason is why a frame is held, in the eyes of the judgement that held it. The frame may end otherwise than it
// began: the last of two keys counts, and what was held for one thing is not handled as another.
type reason struct {
	method  string
	refusal string // the key of the harness's request that the client refuses; empty for requests
}

// run relates everything that the client says; it returns when the client
// has gone and all that waited has left.
func (u *up) run() error {
	err := wire.Pump(u.o.Client.In, u)
	u.queue.Join()
	if u.queue.Broken() { // the harness does not read any more: its end is the other pump's to report
		_, _ = io.Copy(io.Discard, u.o.Client.In)
		return nil
	}
	return err
}

// upNeeds says what must be known of a client's frame before it can be judged.
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
		u.why = reason{method: string(u.head.Method)}
		if u.why.method == "" {
			u.why.refusal = idKey(u.head.ID)
		}
	}
	return v
}

func (u *up) judge() wire.Verdict {
	switch string(u.head.Method) {
	case methodInitialize:
		if usable(u.head.ID) {
			return wire.Hold
		}
	case methodNew, methodLoad, methodResume, methodFork:
		if usable(u.head.ID) {
			return wire.Hold // one that came before the initialize response is watched, and not edited
		}
	case methodList, methodClose, methodDelete:
		if u.editing.Load() && usable(u.head.ID) {
			return wire.Hold
		}
	case methodPrompt:
		if u.editing.Load() && usable(u.head.ID) {
			return u.judgePrompt()
		}
	case methodCancel:
		u.cancel(func(h *heldPrompt) bool { return h.session.ID == string(u.head.Session) })
	case methodCancelRequest:
		if u.queue.Holding() {
			return wire.Hold
		}
	case methodSetTitle:
		u.table.Update(func(c *session.Connection) {
			if s := c.SessionOf(u.head.Session); s != nil {
				s.TitledByClient()
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

// cancel ends the wait of held prompts: they leave as they came.
func (u *up) cancel(match func(*heldPrompt) bool) {
	u.queue.Cancel(func(held wire.Held) bool {
		h, ok := held.(*heldPrompt)
		return ok && match(h)
	})
}

// judgePrompt holds a prompt that may get context and looks at every other
// one behind its forwarding, for the turn that it begins.
func (u *up) judgePrompt() (v wire.Verdict) {
	u.table.Update(func(c *session.Connection) {
		s := c.SessionOf(u.head.Session)
		switch {
		case s == nil || s.Off:
			v = wire.Pass
		case s.MustHold(u.o.PerPrompt || len(u.injector.database.messages(s)) > 0):
			v = wire.Hold
		default:
			v = wire.Tap
			u.taps = append(u.taps, tapped{s, u.leaves(c, s)})
		}
	})
	return v
}

// A tapped is a frame with words of the user that is looked at behind its forwarding: a prompt, or, without a turn,
// what steers one.
type tapped struct {
	session *session.Session
	turn    *session.Turn
}

// judgeSteering looks at what the user says in the middle of a turn.
func (u *up) judgeSteering() (v wire.Verdict) {
	v = wire.Pass
	u.table.Update(func(c *session.Connection) {
		if s := c.SessionOf(u.head.Session); s != nil && !s.Off {
			v = wire.Tap
			u.taps = append(u.taps, tapped{session: s})
		}
	})
	return v
}

// leaves notes the prompt at hand, which is about to be forwarded as it is. The table's lock is held.
func (u *up) leaves(c *session.Connection, s *session.Session) *session.Turn {
	t := c.BeginTurn(s)
	c.PromptForwarded(t)
	c.Await(idKey(u.head.ID), session.Request{Method: methodPrompt, Session: s, Turn: t})
	return t
}

// Write forwards bytes to the harness, behind what is held.
func (u *up) Write(b []byte) error { return u.queue.Write(b) }

// Diverted is never asked for: whatever the client says is the harness's to judge.
func (u *up) Diverted(piece []byte, _ bool) { _ = u.queue.Write(piece) }

// Tapped reads the user's words off a prompt that has left.
func (u *up) Tapped(piece []byte, first, last bool) {
	u.table.Update(func(*session.Connection) { u.taps[0].session.CountUserText(len(piece)) })
	whole := first && last && len(piece) <= maxPrompt
	if !whole {
		if first {
			u.texts = frame.Texts{Into: &promptWords{}}
		}
		u.texts.Write(piece)
	}
	if !last {
		return
	}
	t := u.taps[0]
	u.taps = u.taps[1:]
	var said spoken
	off := false
	if whole {
		off = bytes.Contains(piece, []byte(`signet.ai`)) && switchesOff(piece)
		said = listen(piece, func() (text promptText) {
			if prompt, ok := frame.Find(piece, "params", "prompt"); ok {
				text = readPrompt(piece, prompt)
			}
			return text
		})
		said.trace = traceOf(piece)
	} else {
		off = u.texts.End()
		words := u.texts.Into.(*promptWords)
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
			said.note(c, t.turn)
			c.CommandEnded(t.turn) // a quick harness has answered by now
		}
	})
}

// Held handles a frame that was kept whole.
func (u *up) Held(line []byte) error {
	frame.Peek(line, true, func([]byte) frame.Need { return frame.All }, &u.head)
	method := string(u.head.Method)
	if method != u.why.method || method == "" && (!u.head.Error || u.head.Result || idKey(u.head.ID) != u.why.refusal) {
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
		answer := accepted(u.head.ID)
		u.edited("acpx's answer", nil, line, answer)
		line = answer
	case methodInitialize:
		line = u.initialize(line)
	case methodNew, methodLoad, methodResume, methodFork:
		if u.editing.Load() {
			line = u.openSession(method, line)
		} else {
			u.early(method, line)
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

// early notes a request that opens a session before it is known whether we
// may edit. If its response finds that we may, the session is one as any other.
func (u *up) early(method string, line []byte) {
	cwd, _ := stringAt(line, "params", "cwd")
	req := session.Request{
		Method: method, Early: true, Off: switchesOff(line), Target: string(u.head.Session), Cwd: cwd,
	}
	u.table.Update(func(c *session.Connection) { c.Await(idKey(u.head.ID), req) })
}

// initialize takes in who the client is, and gives the request as the harness is to have it.
func (u *up) initialize(line []byte) []byte {
	client := programAt(line, "params")
	u.table.Update(func(c *session.Connection) {
		c.Client = client
		c.TakesNotices = takesNotices(line)
		c.Await(idKey(u.head.ID), session.Request{Method: methodInitialize})
	})
	edited := u.compat.initialize(line, client.Name, client.Version)
	u.edited("acpx's initialize", nil, line, edited)
	return edited
}

// openSession notes a request that opens a session, starts to find out what
// that session is to be told, and adds our MCP server.
func (u *up) openSession(method string, line []byte) []byte {
	cwd, _ := stringAt(line, "params", "cwd")
	target := string(u.head.Session)
	var s *session.Session
	off := switchesOff(line)
	u.table.Update(func(c *session.Connection) {
		req := u.finder.open(c, method, target, cwd)
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
		u.edited("acpx's settings", s, line, worded)
		line = worded
	}
	placed := u.placer.place(line, method, target, s)
	u.edited("system prompt", s, line, placed)
	served := u.addServer(placed, s)
	u.edited("memory tools", s, placed, served)
	return served
}

// awaitKnown waits, briefly, for the ledger to say what it knows of a session: one that was switched off gets nothing
// of ours.
func (u *up) awaitKnown(s *session.Session) {
	limit := time.NewTimer(placeLimit)
	defer limit.Stop()
	select {
	case <-s.Ready:
	case <-limit.C:
	}
}

// addServer puts our MCP server into the request's mcpServers, unless the
// client sends one of the same name or wants nothing of us.
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
	if u.second.Load() {
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

// holdPrompt queues a prompt until its context is there, or its time is up.
// The frame may be large, so it is walked as seldom as can be.
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
	held, said := false, listen(line, func() promptText { return text })
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
		if command != "" || !found || !holds(line, prompt) {
			t := u.leaves(c, s)
			said.note(c, t)
			t.Command = command
			return
		}
		held = true
		// behind those before it, and in front of those that pass untouched behind it
		h.session, h.turn = s, c.BeginTurn(s)
		said.note(c, h.turn)
		s.Hold()
	})
	u.head = frame.Head{} // which keeps the line alive
	if !held {
		return u.queue.Write(line)
	}
	u.injector.beginRecall(h)
	return u.queue.Hold(h)
}

// holds reports whether a prompt is an array with something in it. An empty
// one passes as it is: there is nothing that the block would come in front of.
func holds(line []byte, prompt frame.Span) bool {
	if line[prompt.Start] != '[' {
		return false
	}
	for range frame.Elements(line, prompt) {
		return true
	}
	return false
}
