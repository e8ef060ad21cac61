package proxy

import (
	"bytes"
	"io"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// up decides about the frames from the client to the harness.
type up struct {
	r     *Relay
	needs func(method []byte) frame.Need
	queue *queue // where frames leave
	head  frame.Head
	taps  []*turn // of the tapped prompts, in order
}

func newUp(r *Relay) *up {
	u := &up{r: r, needs: r.o.Customs.needs(upNeeds)}
	u.queue = newQueue(r.o.Harness.In, r.resolve)
	return u
}

// run relates everything that the client says; it returns when the client
// has gone and all that waited has left.
func (u *up) run() error {
	err := pump(u.r.o.Client.In, u)
	u.queue.join()
	if u.queue.broken() { // the harness does not read any more: its end is the other pump's to report
		_, _ = io.Copy(io.Discard, u.r.o.Client.In)
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
	case methodCancel:
		return frame.NeedSession
	}
	return 0
}

func (u *up) judge(b []byte, whole bool) verdict {
	if !frame.Peek(b, whole, u.needs, &u.head) {
		return more
	}
	switch string(u.head.Method) {
	case methodInitialize:
		if usable(u.head.ID) {
			return hold
		}
	case methodNew, methodLoad, methodResume, methodFork:
		if usable(u.head.ID) {
			return hold // one that came before the initialize response is watched, and not edited
		}
	case methodList, methodClose, methodDelete:
		if u.r.editing.Load() && usable(u.head.ID) {
			return hold
		}
	case methodPrompt:
		if u.r.editing.Load() && usable(u.head.ID) {
			return u.judgePrompt()
		}
	case methodCancel:
		u.queue.cancelSession(string(u.head.Session))
	case methodCancelRequest:
		if u.queue.holding() {
			return hold
		}
	case "":
		if len(u.r.o.Customs.Answers) > 0 && u.refused() {
			return hold
		}
	}
	return pass
}

// judgePrompt holds a prompt that may get context and looks at every other
// one behind its forwarding, for the turn that it begins.
func (u *up) judgePrompt() verdict {
	r := u.r
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessionOf(u.head.Session)
	if s == nil || s.off {
		return pass
	}
	if s.wants(r.o.PerPrompt) {
		return hold
	}
	u.taps = append(u.taps, r.expect(s, u.head.ID, nil))
	return tap
}

// expect notes a prompt that is about to be forwarded. The relay's lock is held.
func (r *Relay) expect(s *session, id []byte, g *grant) *turn {
	r.settleDoubt(s, false)
	s.replay = replay{} // what is shown from now on is not the history alone
	t := r.begin(s)
	s.prompts++
	r.ask(id, request{method: methodPrompt, session: s, grant: g, turn: t})
	return t
}

func (u *up) write(b []byte) error { return u.queue.write(b) }

func (u *up) diverted(piece []byte, _ bool) { _ = u.queue.write(piece) }

// tapped reads the user's words off a prompt that has left.
func (u *up) tapped(line []byte) {
	t := u.taps[0]
	u.taps = u.taps[1:]
	wanted := !bytes.Contains(line, []byte(`signet.ai`)) || !off(frame.Mend(line)) // of a long one only what matters was kept
	u.r.mu.Lock()
	if wanted {
		u.r.hear(t, line)
		u.r.obeyed(t) // a quick harness has answered by now
	} else {
		u.r.switchOff(t.session)
	}
	u.r.mu.Unlock()
	u.r.journal.nudge()
}

// held handles a frame that was kept whole.
func (u *up) held(line []byte) error {
	frame.Peek(line, true, func([]byte) frame.Need { return frame.All }, &u.head)
	if string(u.head.Method) == methodPrompt {
		return u.holdPrompt(line)
	}
	if !frame.Valid(line) {
		return u.queue.write(line)
	}
	switch string(u.head.Method) {
	case "":
		answer := concession(u.head.ID)
		u.r.edited("acpx's answer", nil, line, answer)
		return u.queue.write(answer)
	case methodInitialize:
		greeted := u.initialize(line)
		u.r.edited("acpx's initialize", nil, line, greeted)
		line = greeted
	case methodNew, methodLoad, methodResume, methodFork:
		if u.r.editing.Load() {
			line = u.openSession(line)
		} else {
			u.early(line)
		}
	case methodList, methodClose, methodDelete:
		u.r.mu.Lock()
		u.r.ask(u.head.ID, request{method: string(u.head.Method), session: u.r.sessionOf(u.head.Session)})
		u.r.mu.Unlock()
	case methodCancelRequest:
		if id, ok := frame.Find(line, "params", "requestId"); ok {
			u.queue.cancelRequest(idKey(id.Of(line)))
		}
	}
	return u.queue.write(line)
}

// early notes a request that opens a session before it is known whether we
// may edit. If its response finds that we may, the session is one as any other.
func (u *up) early(line []byte) {
	cwd, _ := stringAt(line, "params", "cwd")
	u.r.mu.Lock()
	defer u.r.mu.Unlock()
	u.r.ask(u.head.ID, request{method: string(u.head.Method), early: true, off: off(line), target: string(u.head.Session), cwd: cwd})
}

// initialize takes in who the client is, and gives the request as the harness is to have it.
func (u *up) initialize(line []byte) []byte {
	name, _ := stringAt(line, "params", "clientInfo", "name")
	version, _ := stringAt(line, "params", "clientInfo", "version")
	u.r.mu.Lock()
	defer u.r.mu.Unlock()
	u.r.client = party{name, version}
	u.r.ask(u.head.ID, request{method: methodInitialize})
	if !u.r.isAcpx() {
		return line
	}
	return u.r.o.Customs.greet(line)
}

// openSession notes a request that opens a session, starts to find out what
// that session is to be told, and adds our MCP server.
func (u *up) openSession(line []byte) []byte {
	r := u.r
	cwd, _ := stringAt(line, "params", "cwd")
	method, target := string(u.head.Method), string(u.head.Session)
	r.mu.Lock()
	req := r.open(method, target, cwd)
	r.ask(u.head.ID, req)
	s := req.session
	if off(line) {
		r.switchOff(s)
	}
	acpx, version := r.isAcpx(), r.client.version
	r.mu.Unlock()
	if method == methodLoad || method == methodResume {
		r.awaitKnown(s)
	}
	if acpx && method == methodNew {
		settled := r.o.Customs.settle(line, version)
		r.edited("acpx's settings", s, line, settled)
		line = settled
	}
	placed := r.place(line, method, target, s)
	r.edited("system prompt", s, line, placed)
	served := u.addServer(placed, s)
	r.edited("memory tools", s, placed, served)
	return served
}

// awaitKnown waits, briefly, for the ledger to say what it knows of a session: one that was switched off gets nothing of ours.
func (r *Relay) awaitKnown(s *session) {
	limit := time.NewTimer(placeLimit)
	defer limit.Stop()
	select {
	case <-s.ready:
	case <-limit.C:
	}
}

// serverName is what our MCP server is called: a daemon's prompts name its tools mcp__signet__….
const serverName = "signet"

// addServer puts our MCP server into the request's mcpServers, unless the
// client sends one of the same name or wants nothing of us.
func (u *up) addServer(line []byte, s *session) []byte {
	r := u.r
	if r.o.MCPServer == nil {
		return line
	}
	if at, ok := frame.Find(line, "params", "mcpServers"); ok {
		for server := range frame.Elements(line, at) {
			if theirs, _ := stringAt(server.Of(line), "name"); theirs == serverName {
				return line
			}
		}
	}
	r.mu.Lock()
	agent, off := r.harness(), s.off
	r.mu.Unlock()
	if off {
		return line
	}
	server := r.o.MCPServer(agent, func() memory.Session {
		r.mu.Lock()
		defer r.mu.Unlock()
		return s.who
	})
	if server == nil {
		return line
	}
	if edited, ok := frame.Append(line, server, "params", "mcpServers"); ok {
		return edited
	}
	return line
}

// off reports whether a request asks us to leave its session alone.
func off(line []byte) bool {
	at, ok := frame.Find(line, "params", "_meta", "signet.ai", "inject")
	return ok && bytes.Equal(at.Of(line), []byte("false"))
}

// holdPrompt queues a prompt until its context is there, or its time is up.
// The frame may be large, so it is walked as seldom as can be.
func (u *up) holdPrompt(line []byte) error {
	r := u.r
	h := &heldPrompt{line: line, id: bytes.Clone(u.head.ID), read: r.o.Now(), cancelled: make(chan struct{})}
	prompt, found := frame.Find(line, "params", "prompt")
	first, switchedOff := "", false
	if found {
		h.words, first = promptWords(line, prompt)
		switchedOff = bytes.Contains(line, []byte("signet.ai")) && off(line)
	}
	r.mu.Lock()
	s := r.sessionOf(u.head.Session)
	if s != nil && switchedOff {
		r.switchOff(s)
	}
	if s == nil || s.off {
		r.mu.Unlock()
		return u.queue.write(line)
	}
	h.session = s
	command := s.slashCommand(first, r.o.SlashPrefix)
	if command != "" || !found || !holds(line, prompt) {
		t := r.expect(s, h.id, nil)
		r.hear(t, line)
		t.command = command
		r.mu.Unlock()
		r.journal.nudge()
		return u.queue.write(line)
	}
	s.prompts++ // from here on it is in flight: a second prompt passes untouched behind it
	r.mu.Unlock()
	r.beginRecall(h)
	return u.queue.hold(h)
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
