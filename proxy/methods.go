package proxy

// The methods that are watched. Spelled out here because the SDK's table lacks several of them (docs/facts/acp.md, "The
// Go SDK on the wire").
const (
	methodInitialize    = "initialize"
	methodNew           = "session/new"
	methodLoad          = "session/load"
	methodResume        = "session/resume"
	methodFork          = "session/fork"
	methodList          = "session/list"
	methodPrompt        = "session/prompt"
	methodCancel        = "session/cancel"
	methodClose         = "session/close"
	methodDelete        = "session/delete"
	methodUpdate        = "session/update"
	methodReadFile      = "fs/read_text_file"
	methodWriteFile     = "fs/write_text_file"
	methodCancelRequest = "$/cancel_request"
	methodSetTitle      = "session/set_title"
	methodChain         = "proxy/initialize" // a conductor's, in place of initialize, to each proxy of its chain
	methodChainOld      = "_proxy/initialize"
	methodSteering      = "_session/steering" // claude's: words of the user in the middle of a turn
)

// The versions of the protocol whose frames are edited. In version 2 (docs/facts/acp.md, "Version 2") a prompt's
// response comes when the prompt is accepted, a state_update ends the turn, user messages are shown live and whole, and
// a stdio server names its type.
const (
	version1 = "1"
	version2 = "2"
)

// The kinds of session/update that are looked at.
const (
	updateMessage        = "agent_message_chunk"
	updateThought        = "agent_thought_chunk"
	updateTool           = "tool_call"
	updateToolMore       = "tool_call_update"
	updatePlan           = "plan"
	updateUser           = "user_message_chunk"
	updateInfo           = "session_info_update"
	updateSessionMessage = "session_message" // from one session to another, in place of user_message
	updateSessionChunk   = "session_message_chunk"
	updateSubagent       = "subagent_update" // in which a session presents a child
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
