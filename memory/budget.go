package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a block may take, in tokens as Tokens counts them.
const (
	blockBudget    = 6000 // the whole block, frame and headings included
	identityBudget = 4000 // the identity section, or more where the memories leave it
	memoriesBudget = 2000 // the memories section, likewise,
	maxTold        = 100  // and its items
)

// Tokens estimates how many tokens a model reads in text: four bytes a token. A CJK character counts as one of four, as
// daemons count it, or what they give would be cut.
func Tokens(text string) int { return (quarters(text) + 3) / 4 }

// quarters counts text in quarters of a token.
func quarters(text string) int {
	n := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, cjkMarks) {
			n++
		} else {
			n += size
		}
	}
	return n
}

// cjkMarks are the punctuation and the wide letters that stand in CJK text.
var cjkMarks = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x3000, Hi: 0x303F, Stride: 1}, {Lo: 0xFF00, Hi: 0xFFEF,
	Stride: 1}}}

// FitLines keeps as many whole lines of text, from the first, as fit into budget tokens, line ends counted. Only a
// first line that is too long by itself is cut inside, between words. A mark says that something was cut, so that
// nobody takes the rest for the whole.
func FitLines(text string, budget int) string {
	const mark = "[truncated]"
	if quarters(text)+1 <= 4*budget {
		return text
	}
	room := 4*budget - quarters(mark) - 1
	kept, used := 0, 0
	for kept < len(text) {
		end := len(text)
		if nl := strings.IndexByte(text[kept:], '\n'); nl >= 0 {
			end = kept + nl + 1
		}
		used += quarters(text[kept:end])
		if used > room {
			break
		}
		kept = end
	}
	if kept > 0 {
		return strings.TrimRight(text[:kept], "\n") + "\n" + mark
	}
	first, _, _ := strings.Cut(text, "\n")
	if first = clip(first, room/4-1); first == "" {
		return ""
	}
	return first + "\n" + mark
}

// clip shortens one line to budget tokens between two words, or between two characters where there are no words.
func clip(line string, budget int) string {
	const mark = " …"
	if quarters(line) <= 4*budget {
		return line
	}
	room, end, space := 4*budget-len(mark), 0, 0
	for i, r := range line {
		_, size := utf8.DecodeRuneInString(line[i:])
		if room -= quarters(line[i : i+size]); room < 0 {
			break
		}
		end = i + size
		switch {
		case r == ' ':
			space = i
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai): // set no spaces
			space = 0
		}
	}
	if space > end/2 { // a line without a space in its second half is cut inside a word, not halved
		end = space
	}
	if end == 0 {
		return ""
	}
	return line[:end] + mark
}
