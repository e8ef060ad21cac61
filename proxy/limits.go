package proxy

// What the relay keeps of a frame. Package session limits what is kept of a conversation, package wire how much of a
// frame is held on its way.
const (
	// bytes from which the memory of a held prompt is returned to the system at once
	largePrompt = 1 << 20
	// bytes of an update's frame that are read, without images and files; chunks of a stream have no limit
	maxUpdate   = 112 << 10
	maxPrompt   = 64 << 10 // bytes of a prompt's texts that are kept whole; of a single longer text no more are kept
	maxTitle    = 500      // bytes of a tool call's title
	maxID       = 128      // bytes of a request's id, and of a tool call's, that are kept
	maxUsage    = 4 << 10  // bytes of what a harness reports of its usage
	maxPlaces   = 16       // locations of a tool call that are kept
	maxToolWord = 32       // bytes of a tool call's kind and status, which the protocol enumerates
	titleLength = 80       // characters of a first prompt that replace a title that was nothing but our block
)
