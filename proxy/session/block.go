package session

import (
	"slices"
	"strings"
	"unicode"
)

// SystemBlock returns the newest of the blocks that went into a system prompt, which a compaction does not touch; nil:
// none.
func SystemBlock(blocks []*Injection) *Injection {
	for _, b := range slices.Backward(blocks) {
		if b.Kind == KindSystem {
			return b
		}
	}
	return nil
}

// Every block of ours, of whatever session, begins and ends with these.
const (
	OpenMark  = `<signet-memory source="acp-proxy"`
	closeMark = `</signet-memory>`
)

// BlockID returns the id of the block that a text begins with, "" if it begins with none.
func BlockID(text string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), OpenMark+` id="`)
	id, _, closed := strings.Cut(rest[:min(len(rest), maxBlockID)], `"`)
	if !ok || !closed {
		return ""
	}
	return id
}

// maxBlockID is how long the id of a block may be, with the quotation mark behind it.
const maxBlockID = 65

// LeadingBlock returns how many bytes at the start of text are a block, together with what the harness has put between
// it and the user's words: nothing, a space or a newline. It returns 0 if text does not start with the block.
func LeadingBlock(text, block string) int {
	n, whole := FoldedPrefix(text, block)
	if !whole {
		return 0
	}
	end := len(block) - len(strings.TrimRight(block, "\n"))
	for ; end > 0 && n < len(text) && text[n] == '\n'; end-- {
		n++
	}
	if n < len(text) && (text[n] == ' ' || text[n] == '\n') {
		n++
	}
	return n
}

// FoldedPrefix compares the start of text with a block; any run of white space equals any other. n is how many bytes of
// text match the block's beginning; whole says that they are all of the block, its trailing white space aside.
func FoldedPrefix(text, block string) (n int, whole bool) {
	block = strings.TrimSpace(block)
	i, j := 0, 0
	for {
		if j == len(block) {
			return i, true
		}
		textSpace, blockSpace := spaceAt(text[i:]), spaceAt(block[j:])
		if i+textSpace == len(text) {
			return len(text), false
		}
		if (textSpace > 0) != (blockSpace > 0) && i > 0 {
			return i, false
		}
		i, j = i+textSpace, j+blockSpace
		if text[i] != block[j] {
			return i, false
		}
		i, j = i+1, j+1
	}
}

// spaceAt returns the length in bytes of the white space that s begins with.
func spaceAt(s string) int { return len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace)) }
