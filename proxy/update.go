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
	turnChanges uint64        // the table's TurnChanges when the turn was looked up
	id          string        // of commands: of their session, which may still be without a name
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
