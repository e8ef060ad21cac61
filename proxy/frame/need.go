package frame

// Need is a set: what Peek has to find out besides the method.
type Need uint8

const (
	NeedID Need = 1 << iota
	NeedSession
	NeedUpdate
	needEnd // known only at the frame's end

	All = NeedID | NeedSession | NeedUpdate | needEnd
)
