package proxy

import (
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A capture reads session updates after they were forwarded: tool calls, titles, usage, the commands that the harness
// advertises, its compactions. A stream reads the agent's text. Thoughts, tool output and replayed turns are not kept.
type capture struct{ *env }

// read reads an update. Its frame may be thinned (frame.Thinner) where it was long.
func (p *capture) read(l tappedUpdate, line []byte) {
	switch l.kind {
	case updateTool:
		p.tool(l.session, line)
	case updateCommands:
		p.commands(l.id, line)
	case updateUsage:
		p.usage(l.session, line)
	case updateMode:
		p.mode(l.session, line, "params", "update", "currentModeId")
	case updateConfig:
		p.config(l.session, line)
	case updateInfo:
		p.title([]byte(l.id), line)
	case updateCompact:
		p.compaction(l.session, line)
	case updateSummary:
		p.summary(l.session, line)
	}
}

func (p *capture) tool(s *session.Session, line []byte) {
	at, ok := frame.Find(line, "params", "update")
	if !ok {
		return
	}
	update := at.Of(line)
	var call correlation.ToolCall
	call.ID, _ = stringAt(update, "toolCallId")
	call.Title, _ = stringAt(update, "title")
	call.Kind, _ = stringAt(update, "kind")
	call.Status, _ = stringAt(update, "status")
	call.Title = chars.Cut(call.Title, 2*maxTitle) // twice what is stored: a secret at this cut lies behind that
	call.Kind, call.Status = chars.Cut(call.Kind, maxToolWord), chars.Cut(call.Status, maxToolWord)
	name, _ := stringAt(update, "_meta", "claudeCode", "toolName")
	call.ID = chars.Cut(call.ID, maxID)
	if places, ok := frame.Find(update, "locations"); ok {
		for place := range frame.Elements(update, places) {
			if path, ok := stringAt(place.Of(update), "path"); ok && len(call.Locations) < maxPlaces {
				call.Locations = append(call.Locations, chars.Cut(path, 2*maxTitle))
			}
		}
	}
	if t := p.talk.see(session.ToolCalled{Session: s, Call: call, Compacts: name == compactTool}).Turn; t != nil {
		t.Answer.ToolCalled()
	}
}

// compactTool is the toolName of claude's compaction.
const compactTool = "compact"

func (p *capture) commands(id string, line []byte) {
	list, ok := frame.Find(line, "params", "update", "availableCommands")
	if !ok {
		return
	}
	p.talk.see(session.Advertised{ID: id, Commands: commandNames(line, list)})
}

// commandNames returns the names in a list of available commands.
func commandNames(line []byte, list frame.Span) map[string]bool {
	names := map[string]bool{}
	for command := range frame.Elements(line, list) {
		if name, ok := stringAt(command.Of(line), "name"); ok {
			names[name] = true
		}
	}
	return names
}

// summary reads a compaction_summary_chunk.
func (p *capture) summary(s *session.Session, line []byte) {
	id, _ := stringAt(line, "params", "update", "compactionId")
	if text, ok := stringAt(line, "params", "update", "content", "text"); ok {
		p.talk.see(session.Compaction{Session: s, ID: id, Piece: text})
	}
}

// compaction reads a compaction_update. Harnesses send it only to clients that asked for it.
func (p *capture) compaction(s *session.Session, line []byte) {
	if len(line) == maxUpdate {
		line = frame.Mend(line)
	}
	id, _ := stringAt(line, "params", "update", "compactionId")
	status, _ := stringAt(line, "params", "update", "status")
	var whole []string
	if summary, ok := frame.Find(line, "params", "update", "summary"); ok {
		for block := range frame.Elements(line, summary) {
			if kind, text := blockOf(line, block); kind == "text" {
				whole = append(whole, text)
			}
		}
	}
	p.talk.see(session.Compaction{Session: s, ID: id, Status: status, Whole: whole})
}

// title reads a session's title, from which our block was taken out.
func (p *capture) title(id, line []byte) {
	if text, ok := stringAt(line, "params", "update", "title"); ok {
		p.talk.see(session.Titled{ID: id, Text: chars.Cut(text, 2*maxTitle)})
	}
}

// mode notes the mode that a session is in.
func (p *capture) mode(s *session.Session, line []byte, path ...string) {
	if mode, ok := stringAt(line, path...); ok {
		p.talk.see(session.ModeSet{Session: s, Mode: mode})
	}
}

// config reads the mode among a session's options: claude says it there after session/set_mode.
func (p *capture) config(s *session.Session, line []byte) {
	list, ok := frame.Find(line, "params", "update", "configOptions")
	if !ok {
		return
	}
	for option := range frame.Elements(line, list) {
		if id, _ := stringAt(option.Of(line), "id"); id == "mode" {
			p.mode(s, option.Of(line), "currentValue")
		}
	}
}

// usage reads a usage_update.
func (p *capture) usage(s *session.Session, line []byte) {
	if u, ok := usageAt(byUpdate, line, "params", "update"); ok {
		p.talk.see(session.Used{Session: s, Usage: session.Usage{Usage: u, Window: true}})
	}
}

// usageOf reads the usage in a prompt's result.
func usageOf(line []byte) (all []session.Usage) {
	if u, ok := usageAt(byResult, line, "result", "usage"); ok {
		all = append(all, session.Usage{Usage: u})
	}
	// claude's and codex' repeats what usage says
	if u, ok := usageAt(byQuota, line, "result", "_meta", "quota"); ok && (u.Input != nil || u.Output != nil) {
		all = append(all, session.Usage{Usage: u, OfTurn: true})
	}
	return all
}
