package proxy

import (
	"io"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// up decides about the frames from the client to the harness.
type up struct {
	*env
	asker *asker // nil where nothing is asked

	queue  *wire.Queue // in front of the harness's stdin
	head   frame.Head
	heldAs heldFrame     // the frame that is being held
	tapped []tappedInput // prompts that are being forwarded, in order
	texts  frame.Texts   // of the tapped prompt at hand, if it is long or comes in pieces
	spare  buffers       // for the next
}

// A heldFrame says what a frame was judged to be when it was held. Read whole it may turn out to be something else,
// because the last of duplicate keys counts; then it is forwarded as it is.
type heldFrame struct {
	method  string
	refusal string // of a response: the id of the request that the client refuses (idKey)
	ours    bool   // the response to a request of ours
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

// A watchedMethod of the client's says what becomes of its frames.
type watchedMethod struct {
	needs    frame.Need
	early    bool                     // also before it is known whether frames may be edited
	answered bool                     // only as a request that will be answered
	hold     func(*up, []byte) []byte // it is held until it is whole, and leaves as this returns it; nil: it is not
	judge    func(*up) wire.Verdict   // it is judged as it begins; nil: it is not
}

var (
	asks  = watchedMethod{needs: frame.NeedID | frame.NeedSession, answered: true, hold: (*up).ask}
	opens = watchedMethod{needs: frame.NeedID, early: true, answered: true, hold: (*up).openSession}
	chain = watchedMethod{early: true, judge: func(u *up) wire.Verdict { u.declineChain(); return wire.Pass }}
)

var watchedMethods = map[string]watchedMethod{
	methodInitialize: {needs: frame.NeedID, early: true, answered: true,
		hold: func(u *up, line []byte) []byte { return u.initialize(line, u.head.ID) }},
	methodNew:    opens, // before the initialize response it is watched, but not edited
	methodLoad:   opens,
	methodResume: opens,
	methodFork:   opens,
	methodList:   asks,
	methodClose:  asks,
	methodDelete: asks,
	methodPrompt: {needs: frame.NeedID | frame.NeedSession, answered: true,
		judge: func(u *up) wire.Verdict { return u.judgePrompt(false) }},
	methodSteering:      {needs: frame.NeedSession, judge: (*up).steering},
	methodCancel:        {needs: frame.NeedSession, judge: (*up).cancel},
	methodCancelRequest: {hold: (*up).cancelRequest},
	methodSetTitle:      {needs: frame.NeedSession, judge: (*up).setTitle},
	methodChain:         chain,
	methodChainOld:      chain,
}

// judgePrompt says what becomes of a prompt, and notes it if it is to be read after it was forwarded.
func (u *up) judgePrompt(tooLong bool) wire.Verdict {
	v, t := wire.Pass, (*session.Turn)(nil)
	u.talk.Do(func(c *session.Connection) { v, t = c.JudgePrompt(u.head.Session, idKey(u.head.ID), tooLong) })
	if v == wire.Tap {
		u.tapped = append(u.tapped, tappedInput{turn: t})
	}
	return v
}

// steering notes words of the user in the middle of a turn.
func (u *up) steering() wire.Verdict {
	var s *session.Session
	u.talk.Do(func(c *session.Connection) { s = c.JudgeSteering(u.head.Session) })
	if s == nil {
		return wire.Pass
	}
	u.tapped = append(u.tapped, tappedInput{session: s})
	return wire.Tap
}

func (u *up) cancel() wire.Verdict {
	u.talk.Do(func(c *session.Connection) { c.Cancel(u.head.Session, "") })
	return wire.Pass
}

func (u *up) setTitle() wire.Verdict {
	u.talk.Do(func(c *session.Connection) { c.TitledByClient(u.head.Session) })
	return wire.Pass
}

// needs says what must be known of a frame, by its method, before it can be judged.
func (u *up) needs(method []byte) frame.Need {
	if len(method) == 0 && (u.asker != nil || len(u.o.Compat.Answers) > 0) {
		return frame.NeedID
	}
	return watchedMethods[string(method)].needs
}

// Judge says what becomes of a frame. A prompt that may get context is held, and every other one tapped: its text is
// read after it was forwarded.
func (u *up) Judge(b []byte, whole bool) wire.Verdict {
	guard.Point("judging up")
	h := &u.head
	if !frame.Peek(b, whole, u.needs, h) {
		return wire.More
	}
	v, w := wire.Pass, watchedMethods[string(h.Method)]
	switch {
	case len(h.Method) == 0:
		if ours := u.asker.mine(h); ours || u.refusal(h) {
			u.heldAs = heldFrame{refusal: idKey(h.ID), ours: ours}
			return wire.Hold
		}
	case !w.early && !u.editing() || w.answered && !answerable(h.ID):
	case w.hold != nil:
		v = wire.Hold
	case w.judge != nil:
		v = w.judge(u)
	}
	if v == wire.Hold {
		u.heldAs = heldFrame{method: string(h.Method)}
	}
	return v
}

// TooLong says what becomes of a frame that is too long to be held. A prompt goes without context, and is a turn like
// any other.
func (u *up) TooLong(b []byte) wire.Verdict {
	if u.heldAs.method != methodPrompt || !frame.Peek(b, false, u.needs, &u.head) {
		return wire.Pass
	}
	u.tasks.run("giving memory back", u.giveBack)
	v := u.judgePrompt(true)
	u.head = frame.Head{} // its slices keep the line in memory
	return v
}

// A tappedInput is a frame with text of the user that is read after it was forwarded: a prompt, or without a turn a
// steering message.
type tappedInput struct {
	turn    *session.Turn
	session *session.Session // of a steering message
	bytes   int              // of its frame, so far
}

// Write forwards bytes to the harness, after what is held.
func (u *up) Write(b []byte) error { return u.queue.Write(b) }

// Stray is never called: up diverts nothing.
func (u *up) Stray(piece []byte, _ bool) { _ = u.queue.Write(piece) }

// Tapped reads the text of a prompt, or of a steering message, that was forwarded.
func (u *up) Tapped(piece []byte, first, last bool) {
	u.tapped[0].bytes += len(piece)
	t := u.tapped[0]
	if last {
		u.tapped = u.tapped[1:]
	}
	guard.Point("reading up")
	whole := first && last && len(piece) <= maxPrompt
	if !whole {
		if first {
			u.texts = frame.Texts{Into: &collector{buffers: u.spare}}
		}
		u.texts.Write(piece)
	}
	if !last {
		return
	}
	var said session.Said
	if whole {
		said = readPrompt(piece)
	} else {
		said.Off = u.texts.End()
		w := u.texts.Into.(*collector)
		u.spare = w.buffers
		said.Prompt = w.End()
		u.texts = frame.Texts{}
	}
	u.talk.Do(func(c *session.Connection) {
		if t.turn != nil {
			c.PromptRead(t.turn, t.bytes, said)
		} else {
			c.Steered(t.session, t.bytes, said.Prompt)
		}
	})
}

// Held handles a frame that was held, and forwards it.
func (u *up) Held(line []byte) error {
	edited, held := line, (*session.Held)(nil)
	guard.Run("editing a frame", func() { edited, held = u.edit(line) })
	switch {
	case held != nil:
		return u.queue.Hold(len(line), func() [][]byte { return u.release(held, line) })
	case edited == nil:
		return nil
	}
	return u.queue.Write(edited)
}

// edit returns a frame that was held as the harness is to get it, nil for not at all, or a prompt that is still held
// until its context is there or its time is up.
func (u *up) edit(line []byte) (edited []byte, held *session.Held) {
	guard.Point("editing up")
	frame.Peek(line, true, func([]byte) frame.Need { return frame.All }, &u.head)
	method := string(u.head.Method)
	switch {
	case method != u.heldAs.method: // the client repeats "method", and another one was judged
		return line, nil
	case method == "":
		return u.response(line), nil
	case method == methodPrompt:
		said := readPrompt(line)
		said.Words = u.o.Task(said.Words)
		u.talk.Do(func(c *session.Connection) {
			held = c.HoldPrompt(u.head.Session, idKey(u.head.ID), line, said)
		})
		u.head = frame.Head{} // its slices keep the line in memory
		return line, held
	case !frame.Valid(line):
		return line, nil
	}
	return watchedMethods[method].hold(u, line), nil
}

// response returns a response of the client's as the harness is to get it: none to a question of ours, and acpx's
// answer in place of a refusal.
func (u *up) response(line []byte) []byte {
	switch {
	case u.heldAs.ours && u.asker.mine(&u.head):
		guard.Run("question", func() { u.asker.answered(u.head.ID, line) })
		return nil
	case !u.head.Error || u.head.Result || idKey(u.head.ID) != u.heldAs.refusal || !frame.Valid(line):
		return line
	}
	answer := slices.Concat([]byte(`{"jsonrpc":"2.0","result":{},"id":`), u.head.ID, []byte("}\n"))
	u.logEdit("acpx's answer", nil, line, answer)
	return answer
}

// ask notes a request about a session whose response is to be watched.
func (u *up) ask(line []byte) []byte {
	u.talk.Do(func(c *session.Connection) { c.Asked(idKey(u.head.ID), u.heldAs.method, u.head.Session) })
	return line
}

// cancelRequest notes that the client wants no answer to a request any more.
func (u *up) cancelRequest(line []byte) []byte {
	if id, ok := frame.Find(line, "params", "requestId"); ok {
		u.talk.Do(func(c *session.Connection) { c.Cancel(nil, idKey(id.Of(line))) })
	}
	return line
}

// openSession notes a request that opens a session and starts to look the session up. It returns the request with the
// identity in its system prompt and our MCP server, where they are wanted. Before it is known whether frames may be
// edited it is only noted: if they may when its response comes, the session is like any other.
func (u *up) openSession(line []byte) []byte {
	method := u.heldAs.method
	opening := session.Opening{
		Kind: openingOf(method), Target: string(u.head.Session), Off: switchesOff(line), Early: !u.editing(),
	}
	opening.Cwd, _ = stringAt(line, "params", "cwd")
	var s *session.Session
	u.talk.Do(func(c *session.Connection) { s = c.OpeningAsked(idKey(u.head.ID), method, opening) })
	if s == nil {
		return line
	}
	if client := u.client.Load(); method == methodNew && client.Name == acpxName {
		worded := u.o.Compat.newSession(line, client.Version)
		u.logEdit("acpx's settings", s, line, worded)
		line = worded
	}
	placed := u.place(line, opening, s)
	u.logEdit("system prompt", s, line, placed)
	served := u.addServer(placed, opening, s)
	u.logEdit("memory tools", s, placed, served)
	return served
}

// openingOf returns how a method opens a session.
func openingOf(method string) session.OpeningKind {
	switch method {
	case methodNew:
		return session.OpensNew
	case methodFork:
		return session.OpensFork
	}
	return session.OpensKnown
}
