package mcpserver

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// sessionKey returns the key that a call is made for: the session's own or, where it has none, the one among the
// arguments.
func sessionKey(who memory.Session, v values) string {
	if who.Key != "" {
		return who.Key
	}
	return v.text("session_key")
}

// fill returns a call's arguments with those that the client cannot know, or does not give because its list of tools is
// older than the daemon: the session's key, the project that it is limited to, and hints, without which 0.145.8 refuses
// to store. All else stays as the client sent it.
func (l *daemonInfo) fill(q toolCall, s scope) json.RawMessage {
	properties, required := l.schema(q.name)
	if len(properties) == 0 && q.name == feedbackTool { // both versions refuse it without the key
		properties = map[string]any{"session_key": nil}
	}
	var given map[string]json.RawMessage
	if len(properties) == 0 || len(q.raw) > 0 && json.Unmarshal(q.raw, &given) != nil {
		return q.raw
	}
	edited, err := edit(q.raw, q.filling(s, properties, required, given))
	if err != nil {
		return q.raw
	}
	return edited
}

// filling returns the fields to be added, or replaced, among those given.
func (q toolCall) filling(s scope, properties map[string]any, required []string,
	given map[string]json.RawMessage) map[string]any {
	missing := func(field string) bool {
		_, has := given[field]
		return !has
	}
	with := map[string]any{}
	for _, field := range []string{"session_key", "sessionKey"} {
		_, takes := properties[field]
		wanted := q.name == feedbackTool || missing(field) && slices.Contains(required, field)
		if takes && q.who.Key != "" && wanted {
			with[field] = q.who.Key
		}
	}
	if _, takes := properties["project"]; takes && s.project != "" {
		// without a project the memory tools also find what belongs to none
		if _, ours := toolNamed(q.name); !missing("project") || !ours {
			with["project"] = s.project
		}
	}
	if missing("hints") && slices.Contains(required, "hints") {
		with["hints"] = hints(q.values)
	}
	return with
}

// maxHinted is how many words of a memory make its hint.
const maxHinted = 8

// hints returns the words by which a memory is to be found: its tags or, without tags, its first words.
func hints(v values) []string {
	var list []string
	for tag := range strings.SplitSeq(v.text("tags"), ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			list = append(list, tag)
		}
	}
	if words := strings.Fields(v.text("content")); len(list) == 0 && len(words) > 0 {
		list = append(list, strings.Join(words[:min(len(words), maxHinted)], " "))
	}
	return list
}
