package proxy

import (
	"strconv"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// tapped reads an update that the client already has: the assistant's words
// and tool calls for the turn, the commands that the harness advertises. Thoughts,
// tool output and replayed turns are nobody's words and are not kept.
func (d *down) tapped(line []byte) {
	l := d.looks[0]
	d.looks = d.looks[1:]
	if len(d.looks) == 0 {
		d.looks = nil // lets go of the array that the slice has walked along
	}
	switch l.kind {
	case updateMessage:
		d.message(l.session, line)
	case updateTool:
		d.tool(l.session, line)
	case updateCommands:
		d.commands(l.session, line)
	case updateCompact:
		d.compaction(l.session, line)
	case updateBrief:
		d.briefed(l.session, line)
	}
}

func (d *down) message(s *session, line []byte) {
	text, ok := stringAt(line, "params", "update", "content", "text")
	cut := !ok && len(line) == maxTapped // the frame is longer than what was kept of it
	if cut {
		text, ok = stringAt(frame.Mend(line), "params", "update", "content", "text")
	}
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	if s.turn == nil { // switched off meanwhile
		return
	}
	if !ok {
		s.turn.lost += len(line)
		d.r.lost += len(line)
		return
	}
	if cut || strings.Contains(text, frame.Seam) {
		s.turn.lost++ // nobody knows by how much
	}
	d.r.say(s.turn, text)
	s.touch(s.turn)
}

func (d *down) tool(s *session, line []byte) {
	at, ok := frame.Find(line, "params", "update")
	if !ok {
		return
	}
	update := at.Of(line)
	id, _ := stringAt(update, "toolCallId")
	var call correlation.ToolCall
	call.Title, _ = stringAt(update, "title")
	call.Kind, _ = stringAt(update, "kind")
	call.Status, _ = stringAt(update, "status")
	call.Title = atMost(call.Title, 2*maxTitle) // what is cut in two here does not come into what is stored
	call.Kind, call.Status = atMost(call.Kind, maxToolWord), atMost(call.Status, maxToolWord)
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	if s.turn != nil {
		s.turn.use(id, call)
		s.touch(s.turn)
	}
}

func (d *down) commands(s *session, line []byte) {
	list, ok := frame.Find(line, "params", "update", "availableCommands")
	if !ok {
		return
	}
	names := map[string]bool{}
	for command := range frame.Elements(line, list) {
		if name, ok := stringAt(command.Of(line), "name"); ok {
			names[name] = true
		}
	}
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	s.commands = names
}

// errorCode gives a response's error code, 0 if it has none.
func errorCode(line []byte) int {
	at, ok := frame.Find(line, "error", "code")
	if !ok {
		return 0
	}
	code, err := strconv.Atoi(string(at.Of(line)))
	if err != nil {
		return 0
	}
	return code
}
