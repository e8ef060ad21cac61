package proxy

import (
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// The kinds of session/update that are looked at.
const (
	updateMessage    = "agent_message_chunk"
	updateTool       = "tool_call"
	updateToolMore   = "tool_call_update"
	updateUser       = "user_message_chunk"
	updateInfo       = "session_info_update"
	updateLetter     = "session_message" // from one session to another, as user_message is
	updateLetterPart = "session_message_chunk"
	updateCommands   = "available_commands_update"
	updateCompact    = "compaction_update"
	updateSummary    = "compaction_summary_chunk"
	updateUsage      = "usage_update"
)

// Updates of version 2.
const (
	updateState       = "state_update"
	updateUserMessage = "user_message"
	updateAgent       = "agent_message"
)

// A look is a tapped update: what kind it is and whose.
type look struct {
	kind    string
	session *session.Session
	turn    *session.Turn // of a message chunk
	words   uint64        // the table's count when that was found out
	id      string        // of the session whose commands these are, which may be one that is being made
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
