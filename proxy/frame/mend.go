package frame

// Mend makes valid JSON of a frame that was cut off, by closing the string, arrays and objects that are open at its
// end, so that what there is of a text can be read. A frame that is whole, or that cannot be mended so, is returned as
// it is.
func Mend(beginning []byte) []byte {
	if Valid(beginning) {
		return beginning
	}
	var open []byte // what closes the containers that are open, outermost first
	inString, last := false, 0
	for i := 0; i < len(beginning); i++ {
		c := beginning[i]
		if inString {
			switch c {
			case '\\':
				i++
			case '"':
				inString = false
			}
			continue
		}
		switch c {
		case '"':
			inString, last = true, i
		case '{':
			open = append(open, '}')
		case '[':
			open = append(open, ']')
		case '}', ']':
			if len(open) == 0 {
				return beginning
			}
			open = open[:len(open)-1]
		}
	}
	mended := append([]byte(nil), beginning...)
	if inString {
		mended = append(mended[:len(mended)-len(unfinished(mended[last+1:]))], '"')
	}
	for i := len(open) - 1; i >= 0; i-- {
		mended = append(mended, open[i])
	}
	if Valid(mended) {
		return mended
	}
	return beginning
}
