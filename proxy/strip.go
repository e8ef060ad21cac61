package proxy

import (
	"bytes"
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// Every form of our block begins with these letters, which no encoder
// escapes: a frame without them needs no closer look.
const markLetters = "signet-memory"

// openMark begins a block of ours, of whatever session.
const openMark = `<signet-memory source="acp-proxy"`

const titleLength = 80 // characters of the first prompt that stand in for a title that was all ours

// userChunk takes our block out of a user's turn that the harness shows
// again. A chunk that was nothing else is dropped; any other byte stays.
func (d *down) userChunk(line []byte) error {
	r := d.r
	r.mu.Lock()
	s := r.sessionOf(d.head.Session)
	r.mu.Unlock()
	if s == nil {
		return d.write(line)
	}
	text, ok := "", false
	at, found := frame.Find(line, "params", "update", "content", "text")
	if found {
		text, ok = frame.String(at.Of(line))
	}
	ours := ok && bytes.Contains(line, []byte(markLetters))
	if ours {
		r.awaitReady(s)
	}
	r.mu.Lock()
	if s.turn == nil && s.replay.loaded {
		s.replay.user = true
		s.replay.marked = s.replay.marked || ours && strings.HasPrefix(strings.TrimSpace(text), openMark)
	}
	n := 0
	if ours {
		n = leadingBlock(text, s.blocks)
	}
	r.mu.Unlock()
	if n == 0 {
		return d.write(line)
	}
	if n == len(text) {
		return nil
	}
	if edited, ok := frame.CutString(line, at, n); ok {
		line = edited
	}
	return d.write(line)
}

// leadingBlock gives how many bytes at the start of text are one of the
// blocks, with the separator that a harness glued it to the user's words by:
// nothing, a space or a newline. 0 if the text starts with none of them.
func leadingBlock(text string, blocks []string) int {
	for _, block := range blocks {
		n, whole := foldedPrefix(text, block)
		if !whole {
			continue
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
	return 0
}

// foldedPrefix compares text with a block, white space folded. n is how much
// of text is the block's beginning; whole says that this is all of the block, its trailing space aside.
func foldedPrefix(text, block string) (n int, whole bool) {
	block = strings.TrimSpace(block)
	i, j := 0, 0
	for {
		textSpace, blockSpace := spaceAt(text[i:]), spaceAt(block[j:])
		if j+blockSpace == len(block) {
			return i, true
		}
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

// spaceAt gives the length of the white space that s begins with.
func spaceAt(s string) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !unicode.IsSpace(r) {
			break
		}
		n += size
	}
	return n
}

// titleCut gives how much of a title is ours: a whole block in front, or all
// of it where it is the beginning of one, cut off with or without an ellipsis.
func titleCut(title string, blocks []string) int {
	if n := leadingBlock(title, blocks); n > 0 {
		return n
	}
	bare := strings.TrimRight(strings.TrimSpace(title), ".…")
	if len(bare) < len("<"+markLetters) {
		return 0
	}
	for _, block := range blocks {
		if n, _ := foldedPrefix(bare, block); n == len(bare) {
			return len(title)
		}
	}
	return 0
}

// cleanInfo takes our block out of the title in a session_info_update.
func (r *Relay) cleanInfo(line []byte, id string) []byte {
	at, ok := frame.Find(line, "params", "update", "title")
	if !ok || !bytes.Contains(line, []byte(markLetters)) {
		return line
	}
	return r.cleanTitle(line, at, id)
}

// cleanList takes our blocks out of the titles and previews in a session/list result.
func (r *Relay) cleanList(line []byte) []byte {
	if !bytes.Contains(line, []byte(markLetters)) {
		return line
	}
	list, ok := frame.Find(line, "result", "sessions")
	if !ok {
		return line
	}
	type place struct {
		at frame.Span
		id string
	}
	var places []place
	for element := range frame.Elements(line, list) {
		one := element.Of(line)
		id, _ := stringAt(one, "sessionId")
		for _, path := range [][]string{{"title"}, {"_meta", "preview"}, {"preview"}} {
			if at, ok := frame.Find(one, path...); ok {
				places = append(places, place{frame.Span{Start: element.Start + at.Start, End: element.Start + at.End}, id})
			}
		}
	}
	// From the back, so that what is still to be looked at stays where it was found.
	for len(places) > 0 {
		last := 0
		for i, p := range places {
			if p.at.Start > places[last].at.Start {
				last = i
			}
		}
		line = r.cleanTitle(line, places[last].at, places[last].id)
		places = append(places[:last], places[last+1:]...)
	}
	return line
}

// cleanTitle takes our block out of one title. What was nothing else becomes
// the beginning of the user's first prompt.
func (r *Relay) cleanTitle(line []byte, at frame.Span, id string) []byte {
	title, ok := frame.String(at.Of(line))
	if !ok || !strings.Contains(title, markLetters) {
		return line
	}
	blocks, row := r.blocksOf(id)
	n := titleCut(title, blocks)
	switch {
	case n == 0:
		return line
	case n < len(title):
		if edited, ok := frame.CutString(line, at, n); ok {
			return edited
		}
		return line
	}
	return frame.Replace(line, at, quote(r.firstWords(id, row)))
}

// blocksOf gives the blocks of a session, of this connection or the ledger's.
func (r *Relay) blocksOf(id string) (blocks []string, row int64) {
	r.mu.Lock()
	s, harness := r.sessions[id], r.harness()
	if s != nil {
		blocks, row = s.blocks, s.row
	}
	r.mu.Unlock()
	if len(blocks) > 0 {
		return blocks, row
	}
	ctx, cancel := context.WithTimeout(r.ctx, readyLimit)
	defer cancel()
	_ = r.journal.ask(ctx, func(ctx context.Context, l Ledger) error {
		known, err := l.Find(ctx, harness, id)
		if err != nil {
			return err
		}
		row = known.ID
		blocks, _, err = ledgerBlocks(ctx, l, known.ID)
		return err
	})
	return blocks, row
}

// firstWords gives the beginning of the first prompt of a session.
func (r *Relay) firstWords(id string, row int64) string {
	words := ""
	ctx, cancel := context.WithTimeout(r.ctx, readyLimit)
	defer cancel()
	_ = r.journal.ask(ctx, func(ctx context.Context, l Ledger) error {
		var err error
		words, err = l.FirstPrompt(ctx, row)
		return err
	})
	words = strings.Join(strings.Fields(words), " ")
	if runes := []rune(words); len(runes) > titleLength {
		words = string(runes[:titleLength])
	}
	return words
}
