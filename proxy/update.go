package proxy

import (
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// The kinds of session/update that are looked at.
const (
	updateMessage        = "agent_message_chunk"
	updateThought        = "agent_thought_chunk"
	updateTool           = "tool_call"
	updateToolMore       = "tool_call_update"
	updateUser           = "user_message_chunk"
	updateInfo           = "session_info_update"
	updateSessionMessage = "session_message" // from one session to another, in place of user_message
	updateSessionChunk   = "session_message_chunk"
	updateCommands       = "available_commands_update"
	updateCompact        = "compaction_update"
	updateSummary        = "compaction_summary_chunk"
	updateUsage          = "usage_update"
	updateMode           = "current_mode_update"
	updateConfig         = "config_option_update"
)

// Updates of version 2.
const (
	updateState       = "state_update"
	updateUserMessage = "user_message"
	updateAgent       = "agent_message"
)

// A tappedUpdate is an update that is read after it was forwarded.
type tappedUpdate struct {
	kind        string
	session     *session.Session
	turn        *session.Turn // of a message chunk
	turnChanges uint64        // the conversation's when the turn was looked up
	id          string        // of commands and titles: of their session, which may still be without a name
}

// kindOf returns what an update matters for.
func kindOf(update []byte, version2 bool) (kind session.Update, tapped string) {
	switch string(update) {
	case updateMessage:
		return session.Words, updateMessage
	case updateAgent:
		return session.Words, updateAgent
	case updateTool, updateToolMore:
		return session.Words, updateTool
	case updateUsage:
		return session.Reports, updateUsage
	case updateMode:
		return session.Reports, updateMode
	case updateConfig:
		return session.Reports, updateConfig
	case updateThought:
		return session.Thoughts, ""
	case updateCompact:
		return session.Reports, updateCompact
	case updateSummary:
		return session.Reports, updateSummary
	case updateCommands:
		return session.Commands, updateCommands
	case updateInfo:
		return session.Titles, updateInfo
	case updateUser, updateUserMessage, updateSessionMessage, updateSessionChunk:
		return session.Ours, ""
	case updateState:
		if version2 {
			return session.Idles, ""
		}
	}
	return session.Other, ""
}

// downNeeds says what must be known of a harness's frame, by its method, before it can be judged.
func downNeeds(method []byte) frame.Need {
	switch string(method) {
	case methodUpdate:
		return frame.NeedSession | frame.NeedUpdate
	case "":
		return frame.NeedID // a response, perhaps to a request that is watched
	}
	return 0
}
