package mcpserver

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// feedbackTool takes ratings for the session in which memories were given. Its key the model cannot know; a daemon
// rejects what was not given under it.
const feedbackTool = "memory_feedback"

// sessionKey is the key that a call is made for: the session's own, or where there is none the one that was given.
func sessionKey(who memory.Session, v values) string {
	if who.Key != "" {
		return who.Key
	}
	return v.text("session_key")
}

// fill gives a call's arguments with those that only we know, or that a harness with an older list does not give: the
// session's key, the project that it keeps to, and hints, without which 0.145.8 refuses to store. All else stays as
// the client sent it.
func (l *link) fill(name string, raw json.RawMessage, who memory.Session, s scope, v values) json.RawMessage {
	properties, required := l.schema(name)
	fields := map[string]json.RawMessage{}
	if len(properties) == 0 || len(raw) > 0 && json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	if fields == nil { // null
		fields = map[string]json.RawMessage{}
	}
	set := func(name string, value any) bool {
		text, err := json.Marshal(value)
		if err == nil {
			fields[name] = text
		}
		return err == nil
	}
	edited := false
	for _, field := range []string{"session_key", "sessionKey"} {
		_, takes := properties[field]
		_, given := fields[field]
		if takes && who.Key != "" && (name == feedbackTool || !given && slices.Contains(required, field)) {
			edited = set(field, who.Key) || edited
		}
	}
	if _, takes := properties["project"]; takes && s.project != "" {
		_, given := fields["project"]
		// the memory tools look through what is of no project too
		if ours := slices.ContainsFunc(tools, func(t tool) bool { return t.name == name }); given || !ours {
			edited = set("project", s.project) || edited
		}
	}
	if _, given := fields["hints"]; !given && slices.Contains(required, "hints") {
		edited = set("hints", hints(v)) || edited
	}
	text, err := json.Marshal(fields)
	if !edited || err != nil {
		return raw
	}
	return text
}

// mostHinted is how many words of a memory are its hint.
const mostHinted = 8

// hints are what a memory is found by: its tags, or its first words.
func hints(v values) []string {
	var list []string
	for tag := range strings.SplitSeq(v.text("tags"), ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			list = append(list, tag)
		}
	}
	if words := strings.Fields(v.text("content")); len(list) == 0 && len(words) > 0 {
		list = append(list, strings.Join(words[:min(len(words), mostHinted)], " "))
	}
	return list
}
