package frame

// Need says what of a frame must be known besides its method. The zero value: nothing.
type Need uint8

const (
	NeedID Need = 1 << iota
	NeedSession
	NeedUpdate
	needEnd // never met before the frame's end

	All = NeedID | NeedSession | NeedUpdate | needEnd
)
