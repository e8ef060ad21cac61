package proxy

import (
	"bytes"
	"io"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// The kinds of session/update that are looked at.
const (
	updateMessage  = "agent_message_chunk"
	updateTool     = "tool_call"
	updateToolMore = "tool_call_update"
	updateUser     = "user_message_chunk"
	updateInfo     = "session_info_update"
	updateCommands = "available_commands_update"
	updateCompact  = "compaction_update"
	updateBrief    = "compaction_summary_chunk"
)

// protocolVersion is the one whose frames are edited.
const protocolVersion = "1"

// down decides about the frames from the harness to the client.
type down struct {
	r     *Relay
	needs func(method []byte) frame.Need
	out   io.Writer
	head  frame.Head
	looks []look // of the tapped frames, in order
	same  sameAsLast
}

// sameAsLast recognises a stream of message chunks: frames that begin with
// the same bytes as the last one, up to its kind, are of the same session and
// kind, and need no look of their own while no other turn has begun.
type sameAsLast struct {
	head []byte
	turn *turn
	era  uint64
}

// A look is a tapped update: what kind it is and whose.
type look struct {
	kind    string
	session *session
}

func newDown(r *Relay) *down {
	return &down{r: r, needs: r.o.Customs.needs(downNeeds), out: r.o.Client.Out}
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

func (d *down) judge(b []byte, whole bool) verdict {
	if last := &d.same; len(last.head) > 0 && bytes.HasPrefix(b, last.head) && last.era == d.r.era.Load() {
		d.looks = append(d.looks, look{updateMessage, last.turn.session})
		return tap
	}
	if !frame.Peek(b, whole, d.needs, &d.head) {
		return more
	}
	switch d.head.Kind {
	case frame.Noise:
		return divert
	case frame.Object:
	default:
		return pass
	}
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	if len(d.head.Method) == 0 {
		if (d.head.Result || d.head.Error) && len(d.r.asked) > 0 {
			if _, ours := d.r.asked[idKey(d.head.ID)]; ours {
				return hold
			}
		}
		return pass
	}
	if string(d.head.Method) != methodUpdate {
		d.r.question(&d.head)
		return pass
	}
	s := d.r.sessionFor(d.head.Session)
	if s == nil {
		return pass
	}
	v := d.judgeUpdate(s)
	d.remember(b, s)
	return v
}

// remember keeps the beginning of a message chunk, to know the next one by. The relay's lock is held.
func (d *down) remember(b []byte, s *session) {
	d.same.head = d.same.head[:0]
	if string(d.head.Update) != updateMessage || s.turn == nil {
		return
	}
	i := bytes.Index(b, []byte(updateMessage+`"`))
	if i < 0 {
		return
	}
	head := b[:i+len(updateMessage)+1]
	var h frame.Head
	if !frame.Peek(head, false, downNeeds, &h) || !bytes.Equal(h.Update, d.head.Update) || !bytes.Equal(h.Session, d.head.Session) {
		return // the kind that counted stands elsewhere in the frame
	}
	d.same = sameAsLast{head: append(d.same.head, head...), turn: s.turn, era: d.r.era.Load()}
}

// judgeUpdate says what becomes of an update of a session that we know. The relay's lock is held.
func (d *down) judgeUpdate(s *session) verdict {
	kind := ""
	switch string(d.head.Update) {
	case updateMessage:
		if s.turn == nil {
			return pass
		}
		kind = updateMessage
	case updateTool, updateToolMore:
		if s.turn == nil {
			return pass
		}
		kind = updateTool
	case updateCommands:
		kind = updateCommands
	case updateCompact:
		kind = updateCompact
	case updateBrief:
		kind = updateBrief
	case updateUser, updateInfo:
		if len(s.given) > 0 || s.replay.open || !s.settled() {
			return hold
		}
		return pass
	default:
		return pass
	}
	d.looks = append(d.looks, look{kind, s})
	return tap
}

func (d *down) write(b []byte) error {
	if _, err := d.out.Write(b); err != nil {
		return errNoReader
	}
	return nil
}

// diverted sends what is no frame to people: acpx 0.7.0 crashes on a bare
// `1`, and the protocol allows nothing else on stdout.
func (d *down) diverted(piece []byte, first bool) {
	if first { // in one write: the harness's stderr goes the same way
		d.r.strays++
		piece = append([]byte("signet-acp-proxy: not a frame, on the harness's stdout: "), piece...)
	}
	_, _ = d.r.o.Client.Talk.Write(piece)
}

// held handles a frame that was kept whole: a response that was waited for, or an update that may show our block.
func (d *down) held(line []byte) error {
	frame.Peek(line, true, func([]byte) frame.Need { return frame.All }, &d.head)
	if !frame.Valid(line) {
		return d.write(line)
	}
	switch string(d.head.Update) {
	case updateUser:
		return d.userChunk(line)
	case updateInfo:
		return d.write(d.r.cleanInfo(line, string(d.head.Session)))
	}
	d.r.mu.Lock()
	req, ok := d.r.answered(d.head.ID)
	d.r.mu.Unlock()
	if ok {
		line = d.r.announced(req, d.response(req, line))
	}
	return d.write(line)
}

// response follows what a response says, and gives it as the client is to see it.
func (d *down) response(req request, line []byte) []byte {
	r := d.r
	failed := d.head.Error
	switch req.method {
	case methodInitialize:
		r.initialized(line)
		return line
	case methodList:
		clean := r.cleanList(line)
		r.edited("list", nil, line, clean)
		return clean
	}
	defer r.journal.nudge()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch req.method {
	case methodPrompt:
		r.promptEnded(req, line, failed)
	case methodNew, methodFork, methodLoad, methodResume:
		switch {
		case req.early && (failed || !r.editing.Load()):
		case req.early:
			r.openLate(req, line)
		case failed:
			r.notOpened(req)
		default:
			r.opened(req, line)
		}
	case methodClose, methodDelete:
		if !failed && req.session != nil {
			r.closed(req)
		}
	}
	return line
}

// initialized decides whether this conversation is one that we can edit.
func (r *Relay) initialized(line []byte) {
	at, ok := frame.Find(line, "result", "protocolVersion")
	if !ok {
		return
	}
	name, _ := stringAt(line, "result", "agentInfo", "name")
	version, _ := stringAt(line, "result", "agentInfo", "version")
	r.mu.Lock()
	r.agent = party{name, version}
	r.takesSystem = takesSystemPrompt(line)
	r.mu.Unlock()
	if got := string(at.Of(line)); got != protocolVersion {
		r.tell("the harness speaks protocol version %.20s; this program adds memory to version %s only, so everything passes as it is", got, protocolVersion)
		return
	}
	r.editing.Store(true)
}
