package session

import "testing"

// Of what follows a block, its own line ends and one space or line end more are the harness's.
func TestLeadingBlock(t *testing.T) {
	for _, tt := range []struct{ text, block, rest string }{
		{"A b", "A b", ""},
		{"A bwords", "A b", "words"},
		{"A b words", "A b", "words"},
		{"A b  words", "A b", " words"},
		{"A b\nwords", "A b", "words"},
		{"A b\n\nwords", "A b", "\nwords"},
		{"A b\twords", "A b", "\twords"},
		{"A b\nwords", "A b\n\n", "words"},
		{"A b\n\nwords", "A b\n\n", "words"},
		{"A b\n\n\nwords", "A b\n\n", "words"},
		{"A b\n\n\n\nwords", "A b\n\n", "\nwords"},
		{"A b\n\n words", "A b\n\n", "words"},
		{"A b\n", "A b\n\n", ""},
		{" A \n b\twords", "A b", "\twords"},
		{"A c", "A b", "A c"},
		{"A", "A b", "A"},
	} {
		if n := LeadingBlock(tt.text, tt.block); tt.text[n:] != tt.rest {
			t.Errorf("%q with %q: %q is left, want %q", tt.text, tt.block, tt.text[n:], tt.rest)
		}
	}
}

func TestFoldedPrefix(t *testing.T) {
	for _, tt := range []struct {
		text, block string
		n           int
		whole       bool
	}{
		{"A b", "A b\n", 3, true},
		{"A  b c", " A b", 4, true},
		{"A \n", "A b", 3, false}, // a beginning, with the white space behind it
		{"A", "A b", 1, false},
		{"Ab", "A b", 1, false},
		{"A b", "Ab", 1, false},
		{"A c", "A b", 2, false},
		{"", "A", 0, false},
		{"\u00a0A", "A", 3, true},
	} {
		if n, whole := FoldedPrefix(tt.text, tt.block); n != tt.n || whole != tt.whole {
			t.Errorf("%q with %q: %d, %v, want %d, %v", tt.text, tt.block, n, whole, tt.n, tt.whole)
		}
	}
}
