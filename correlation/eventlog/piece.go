package eventlog

import "github.com/Signet-AI/signet-acp-proxy/chars"

// maxText is how many bytes of text an event holds: what is longer becomes several.
const maxText = 16 << 10

// textSize is how many bytes of text an event holds.
func textSize(e Event) int {
	switch e := e.(type) {
	case UserSaid:
		return len(e.Text)
	case Said:
		return len(e.Text)
	case Summarised:
		return len(e.Text)
	}
	return 0
}

// pieces cuts an event with a long text into several, so that no line is long. A summary stays in one.
func pieces(e Event) []Event {
	var all []Event
	switch e := e.(type) {
	case Said:
		for len(e.Text) > maxText {
			n := chars.Boundary(e.Text, maxText)
			all = append(all, Said{e.Turn, e.Text[:n], e.Skipped})
			e.Text, e.Skipped = e.Text[n:], 0
		}
		return append(all, e)
	}
	return append(all, e)
}
