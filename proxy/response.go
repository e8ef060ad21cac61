package proxy

import (
	"context"
	"strconv"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// The versions of the protocol whose frames are edited.
const (
	version1 = "1"
	version2 = "2"
)

// responses handles the harness's responses to requests that are watched, and in version 2 the updates that end turns.
type responses struct {
	*env
	finder   *finder
	stripper *stripper
	capture  *capture
	recorder *recorder
}

// read handles a response, and returns it as the client is to get it.
func (r *responses) read(req session.Request, line []byte, head *frame.Head) []byte {
	switch req.Method {
	case methodInitialize:
		r.initialized(line)
	case methodList:
		clean := r.stripper.list(line)
		r.logEdit("list", nil, line, clean)
		return clean
	case methodPrompt:
		r.promptEnded(req, line, head)
	case methodClose, methodDelete:
		if !head.Error && req.Session != nil {
			r.table.Update(func(c *session.Connection) { c.Closed(req.Session, req.Method) })
		}
	default:
		if s := r.opened(req, line, head.Error); s != nil {
			return r.announce(s, line)
		}
	}
	return line
}

// promptEnded handles a prompt's response. What the turn said, and the event that it ended, is in the file of events
// before the client has the response.
func (r *responses) promptEnded(req session.Request, line []byte, head *frame.Head) {
	stop, _ := stringAt(line, "result", "stopReason")
	code, id := errorCode(line), chars.Cut(string(head.ID), maxID)
	var ended eventlog.Event
	r.table.Update(func(c *session.Connection) {
		if r.version2.Load() && !head.Error {
			c.Accept(req)
			return
		}
		ended = c.EndTurn(req, id, head.Error, stop, code)
	})
	if ended != nil {
		r.recorder.end(req.Turn, ended)
	}
	r.capture.result(req, line)
}

// state handles a state_update (version 2), which ends turns when it says idle.
func (r *responses) state(line, id []byte) {
	if state, _ := stringAt(line, "params", "update", "state"); state != "idle" {
		return
	}
	stop, ok := stringAt(line, "params", "update", "stopReason")
	if !ok {
		stop = session.StopEnd
	}
	code := 0
	if at, ok := frame.Find(line, "params", "update", "error", "code"); ok {
		code, _ = strconv.Atoi(string(at.Of(line)))
	}
	var ended eventlog.Event
	var s *session.Session
	var turn *session.Turn
	r.table.Update(func(c *session.Connection) {
		if s = c.SessionOf(id); s != nil {
			turn = s.Turn()
			ended = c.Idle(s, stop, code)
		}
	})
	if ended != nil {
		r.recorder.end(turn, ended)
	}
	if s == nil {
		return
	}
	if u, ok := usageAt(byResult, line, "params", "update", "usage"); ok {
		r.table.Update(func(c *session.Connection) { c.Usage(s, nil, u) })
	}
}

// opened handles the response to a request that opens a session. It returns the session if its key may be announced: it
// was opened, and frames may be edited.
func (r *responses) opened(req session.Request, line []byte, failed bool) (s *session.Session) {
	if req.Early && (failed || !r.editing.Load()) {
		return nil
	}
	id, _ := stringAt(line, "result", "sessionId")
	announce := req.Session != nil // not for an early one
	r.table.Update(func(c *session.Connection) {
		if req.Early { // by now frames may be edited: the session is like any other
			off := req.Off
			if req = r.finder.openLocked(c, req.Method, req.Target, req.Cwd); off {
				c.SwitchOff(req.Session)
			}
		}
		if failed {
			c.NotOpened(req, makesSession(req.Method), errorCode(line))
			return
		}
		c.Opened(req.Session, makesSession(req.Method), id)
		if list, ok := frame.Find(line, "result", "availableCommands"); ok { // of version 2
			c.Advertise(req.Session.ID, commandNames(line, list))
		}
	})
	if failed {
		return nil
	}
	r.capture.mode(req.Session, line, "result", "modes", "currentModeId")
	if !announce {
		return nil
	}
	return req.Session
}

// announce adds the session's Signet key to the _meta of the response that opened it, for the client to show. The key
// is known once the ledger was asked; the response waits for that no longer than LookLimit.
func (r *responses) announce(s *session.Session, line []byte) []byte {
	if !r.o.Announce {
		return line
	}
	if at, ok := frame.Find(line, "result"); !ok || line[at.Start] != '{' {
		return line
	}
	var ready chan struct{}
	key, off := "", false
	look := func() {
		r.table.Update(func(*session.Connection) { ready, key, off = s.Ready, s.Who.Key, s.Off })
	}
	if look(); off {
		return line
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.o.LookLimit)
	defer cancel()
	await(ctx, ready)
	if look(); off || key == "" { // the ledger may have switched it off
		return line
	}
	edited := add(line, quote(key), "result", "_meta", "signet.ai", "sessionKey")
	r.logEdit("announcement", s, line, edited)
	return edited
}

// initialized handles the initialize response: what the agent is and takes, and whether frames may be edited in this
// version of the protocol.
func (r *responses) initialized(line []byte) {
	at, ok := frame.Find(line, "result", "protocolVersion")
	if !ok {
		return
	}
	agent := programAt(line, "result")
	r.table.Update(func(c *session.Connection) {
		c.Agent = agent
		c.TakesSystem = takesSystemPrompt(line)
		c.Servers = serversTaken(line)
	})
	switch got := string(at.Of(line)); got {
	case version1:
	case version2:
		r.version2.Store(true)
	default:
		r.tell("the harness speaks protocol version %.20s; this program adds memory to versions %s and %s only, "+
			"so everything passes as it is",
			got, version1, version2)
		return
	}
	r.editing.Store(true)
}
