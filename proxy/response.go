package proxy

import (
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// How the harness's responses are handled to requests that are watched, and in version 2 the updates that end turns.

// response returns a response as the client is to get it, and a notice in front of it. What a turn has said, and the
// event that it ended, is written by then.
func (d *down) response(line []byte, head *frame.Head) (notice, edited []byte) {
	var req session.Request
	var opened *session.Session
	var ended correlation.Event
	awaited := false
	d.talk.Do(func(c *session.Connection) {
		if req, awaited = c.Answered(idKey(head.ID)); !awaited {
			return
		}
		switch {
		case req.Turn != nil:
			ended = c.PromptAnswered(req, d.promptAnswer(line, head))
		case req.Method == methodInitialize:
			d.initialized(c, line)
		case req.Method == methodList:
			c.Listed(listed(line))
		case req.Method == methodClose, req.Method == methodDelete:
			if !head.Error && req.Session != nil {
				c.Closed(req.Session, req.Method)
			}
		default:
			opened = c.OpeningAnswered(req, d.openingAnswer(line, head.Error))
		}
	})
	if !awaited {
		return nil, line
	}
	if !head.Error {
		notice = d.notice(req)
	}
	switch {
	case req.Method == methodList:
		edited = d.stripList(line)
		d.logEdit("list", nil, line, edited)
		return notice, edited
	case opened != nil: // and frames may be edited
		return notice, d.announce(opened, line)
	}
	d.recorder.end(req.Turn, ended)
	return notice, line
}

// listed reads which sessions the harness has, and in which folders.
func listed(line []byte) (folders map[string]string) {
	list, ok := frame.Find(line, "result", "sessions")
	if !ok {
		return nil
	}
	folders = map[string]string{}
	for element := range frame.Elements(line, list) {
		id, _ := stringAt(element.Of(line), "sessionId")
		if cwd, ok := stringAt(element.Of(line), "cwd"); ok {
			folders[id] = cwd
		}
	}
	return folders
}

// promptAnswer reads the response to a prompt.
func (d *down) promptAnswer(line []byte, head *frame.Head) session.PromptAnswer {
	stop, _ := stringAt(line, "result", "stopReason")
	code, _ := intAt(line, "error", "code")
	var used []session.Usage
	if u, ok := usageAt(byResult, line, "result", "usage"); ok {
		used = append(used, session.Usage{Usage: u})
	}
	// claude's and codex' repeats what usage says
	if u, ok := usageAt(byQuota, line, "result", "_meta", "quota"); ok && (u.Input != nil || u.Output != nil) {
		used = append(used, session.Usage{Usage: u, OfTurn: true})
	}
	return session.PromptAnswer{
		ID: chars.Cut(string(head.ID), maxID), Failed: head.Error, Code: code,
		Stop: stop, Accepted: d.version2(), Usage: used,
	}
}

// state handles a state_update (version 2), which ends turns when it says idle.
func (d *down) state(line, id []byte) {
	if state, _ := stringAt(line, "params", "update", "state"); state != "idle" {
		return
	}
	idle := session.PromptAnswer{Stop: session.StopEnd}
	if stop, ok := stringAt(line, "params", "update", "stopReason"); ok {
		idle.Stop = stop
	}
	idle.Code, _ = intAt(line, "params", "update", "error", "code")
	if u, ok := usageAt(byResult, line, "params", "update", "usage"); ok {
		idle.Usage = append(idle.Usage, session.Usage{Usage: u})
	}
	var last *session.Turn
	var ended correlation.Event
	d.talk.Do(func(c *session.Connection) { last, ended = c.HarnessIdle(id, idle) })
	d.recorder.end(last, ended)
}

// openingAnswer reads the response to a request that opens a session.
func (d *down) openingAnswer(line []byte, failed bool) session.OpeningAnswer {
	answer := session.OpeningAnswer{Failed: failed, Editing: d.editing()}
	if failed {
		answer.Code, _ = intAt(line, "error", "code")
	}
	answer.ID, _ = stringAt(line, "result", "sessionId")
	answer.Mode, _ = stringAt(line, "result", "modes", "currentModeId")
	if list, ok := frame.Find(line, "result", "availableCommands"); ok { // of version 2
		answer.Commands = commandNames(line, list)
	}
	return answer
}

// announce adds the session's Signet key to the _meta of the response that opened it, for the client to show. The key
// is known once the ledger was asked; the response waits for that no longer than a part of HoldLimit.
func (d *down) announce(s *session.Session, line []byte) []byte {
	if !d.o.Announce {
		return line
	}
	if at, ok := frame.Find(line, "result"); !ok || line[at.Start] != '{' {
		return line
	}
	of := d.settled(s, d.o.HoldLimit/lookShare)
	if of.Off || of.Who.Key == "" {
		return line
	}
	edited := add(line, quote(of.Who.Key), "result", "_meta", "signet.ai", "sessionKey")
	d.logEdit("announcement", s, line, edited)
	return edited
}
