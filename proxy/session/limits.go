package session

// maxLabel is how many bytes of a session's id are logged: ACP does not limit its length.
const maxLabel = 128

// maxSummary is how many bytes of a harness's own summary of a conversation are kept.
const maxSummary = 96 << 10

// bytesPerToken is the estimate of harnesses that have no tokenizer at hand.
const bytesPerToken = 4

const (
	maxNotices = 16 << 10 // bytes of a turn's message chunks that are notices
	maxEarly   = 32       // sessions whose commands are kept before the response that names them
)

// maxUnread is how many bytes of prompts may wait to be read; with more they are recorded at once.
const maxUnread = 192 << 10
