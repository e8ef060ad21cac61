package proxy

import (
	"io"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// down decides about the frames from the harness to the client.
type down struct {
	*env

	out    io.Writer
	head   frame.Head
	tapped []tappedUpdate // updates that are being forwarded, in order
	next   int            // index in tapped of the update whose bytes come next
	stream stream
	long   *frame.Thinner // of a tapped frame that is long, or comes in pieces
	strays int            // how many lines of the harness were no frames
}

// Judge says what becomes of a frame.
func (d *down) Judge(b []byte, whole bool) wire.Verdict {
	guard.Point("judging down")
	if t := d.stream.turnOf(b); t != nil {
		d.tapped = append(d.tapped, tappedUpdate{
			kind: updateMessage, session: t.Session, turn: t, turnChanges: d.stream.turnChanges,
		})
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
		return d.judgeUpdate(d.head.Update)
	case methodReadFile, methodWriteFile:
		d.noteRequest(&d.head)
		return d.judgeUpdate(d.head.Method)
	}
	d.noteRequest(&d.head)
	return wire.Pass
}

// judgeResponse says what becomes of a response: one to a request that is watched is held.
func (d *down) judgeResponse() wire.Verdict {
	if !d.head.Result && !d.head.Error {
		return wire.Pass
	}
	v := wire.Pass
	d.talk.Do(func(c *session.Connection) {
		if c.Awaits(func() string { return idKey(d.head.ID) }) {
			v = wire.Hold
		}
	})
	return v
}

// judgeUpdate says what becomes of a session/update of a kind, or of a request that is read like one.
func (d *down) judgeUpdate(kind []byte) wire.Verdict {
	v := wire.Pass
	update := watchedUpdates[string(kind)]
	if update.kind == session.Idles && !d.version2() {
		update.kind = session.Other
	}
	l := tappedUpdate{kind: update.tapped, turnChanges: d.talk.TurnChanges()}
	d.talk.Do(func(c *session.Connection) { v, l.session, l.turn = c.JudgeUpdate(d.head.Session, update.kind) })
	if v == wire.Tap {
		if update.kind == session.Commands || update.kind == session.Titles {
			l.id = string(d.head.Session)
		}
		d.tapped = append(d.tapped, l)
	}
	return v
}

// Tapped reads an update that was forwarded.
func (d *down) Tapped(piece []byte, first, last bool) {
	l := d.tapped[d.next]
	if last {
		if d.next++; d.next == len(d.tapped) {
			d.tapped, d.next = d.tapped[:0], 0
		}
	}
	guard.Point("reading down")
	if l.kind == updateMessage && d.stream.take(l, piece, first, last) {
		return
	}
	if !first || !last || len(piece) > maxUpdate {
		if first {
			d.long = &frame.Thinner{Limit: maxUpdate}
		}
		if d.long.Write(piece); !last {
			return
		}
		piece, d.long = d.long.Kept, nil
	}
	switch l.kind {
	case updateMessage:
		d.stream.readChunk(l, piece)
	case updateAgent:
		d.stream.readMessage(l, piece)
	default:
		if says := readUpdate(l, piece); says != nil {
			d.talk.Do(says)
		}
	}
}

// TooLong has a frame pass that is too long to be held.
func (d *down) TooLong([]byte) wire.Verdict { return wire.Pass }

// Write forwards bytes to the client.
func (d *down) Write(b []byte) error {
	if _, err := d.out.Write(b); err != nil {
		return wire.ErrNoReader
	}
	return nil
}

// Stray writes a line that is no frame to stderr: ACP allows only frames on stdout, and acpx 0.7.0 crashes on a bare
// `1`.
func (d *down) Stray(piece []byte, first bool) {
	if first { // in one write: the harness's stderr goes the same way
		d.strays++
		piece = append([]byte("signet-acp-proxy: not a frame, on the agent's stdout: "), piece...)
	}
	_, _ = d.o.Client.Stderr.Write(piece)
}

// Held handles a frame that was held: a response to a request that is watched, an update that may show our block, or
// one that may end a turn (version 2).
func (d *down) Held(line []byte) error {
	var notice []byte
	edited := line
	guard.Run("editing a frame", func() { notice, edited = d.edit(line) })
	for _, b := range [][]byte{notice, edited} {
		if b == nil {
			continue
		}
		if err := d.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// edit returns a frame that was held as the client is to get it, nil for not at all, and a notice in front of it.
func (d *down) edit(line []byte) (notice, edited []byte) {
	guard.Point("editing down")
	frame.Peek(line, true, func([]byte) frame.Need { return frame.All }, &d.head)
	if !frame.Valid(line) {
		return nil, line
	}
	switch update := string(d.head.Update); update {
	case updateUser, updateUserMessage, updateSessionChunk, updateSessionMessage:
		users := update == updateUser || update == updateUserMessage
		return nil, d.stripMessage(line, d.head.Session, users)
	case updateSubagent:
		return nil, d.stripSubagent(line, string(d.head.Session))
	case updateState:
		d.state(line, d.head.Session)
		return nil, line
	case updateInfo:
		line = d.stripInfo(line, string(d.head.Session))
		d.talk.Do(titleIn(d.head.Session, line))
		return nil, line
	}
	return d.response(line, &d.head)
}

// needs says what must be known of a frame, by its method, before it can be judged.
func (d *down) needs(method []byte) frame.Need {
	if slices.Contains(d.o.Compat.Answers, string(method)) {
		return frame.NeedID
	}
	return downNeeds(method)
}
