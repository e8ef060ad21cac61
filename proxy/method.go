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
	methodCancelRequest = "$/cancel_request"
	methodSetTitle      = "session/set_title"
	methodChain         = "proxy/initialize" // a conductor's, in place of initialize, to each proxy of its chain
	methodChainOld      = "_proxy/initialize"
	methodSteering      = "_session/steering" // claude's: words of the user in the middle of a turn
)
