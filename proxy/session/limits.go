package session

// maxLabel is how many bytes of a session's id stand in logs: nothing says that a harness may not send one of a
// megabyte.
const maxLabel = 128

// maxSummary is how many bytes of a harness's own summary of a conversation are kept.
const maxSummary = 96 << 10

// bytesPerToken is what harnesses reckon with that have no tokenizer at hand.
const bytesPerToken = 4

const (
	maxNotices = 16 << 10 // bytes of what a harness says of itself as if it were an answer
	maxEarly   = 32       // sessions whose commands are kept before their responses have come
)
