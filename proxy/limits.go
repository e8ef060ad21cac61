package proxy

// What the relay keeps of a frame. What it keeps of a conversation is package session's matter, and how much of a
// frame is held on its way package wire's.
const (
	largePrompt = 1 << 20 // bytes of a held prompt, whose memory is given back at once
	// bytes of an update's frame that is looked at and no chunk of a stream, images and files not counted
	maxUpdate = 112 << 10
	maxPrompt = 64 << 10 // bytes of a prompt's texts, as they came, of which all is kept; of a single one never more
	// bytes of a prompt's frame that is read at once, for it may be a command; longer ones are read when they are
	// written down
	shortPrompt = 1 << 10
	maxTitle    = 500     // bytes of a tool call's title
	maxID       = 128     // bytes of a request's id, and of a tool call's, that are kept
	maxUsage    = 4 << 10 // bytes of what a harness reports of its usage
	maxPlaces   = 16      // of a tool call, that are kept
	maxToolWord = 32      // bytes of its kind and of its status, which the protocol enumerates
	titleLength = 80      // characters of a first prompt that stand in for a title that was all ours
)
