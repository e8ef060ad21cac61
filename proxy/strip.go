package proxy

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// Every form of our block begins with these letters, which no encoder
// escapes: a frame without them needs no closer look.
const markLetters = "signet-memory"

// A block of ours, of whatever session, begins and ends with these.
const (
	openMark  = `<signet-memory source="acp-proxy"`
	closeMark = `</signet-memory>`
)

const titleLength = 80 // characters of the first prompt that stand in for a title that was all ours

// userChunk takes our block out of a user's turn that the harness shows
// again. A chunk that was nothing else is dropped; any other byte stays.
func (d *down) userChunk(line []byte) error {
	r := d.r
	marked := bytes.Contains(line, []byte(markLetters))
	r.mu.Lock()
	s := r.sessionFor(d.head.Session)
	if s != nil && s.replay.open {
		s.replay.user = true
	}
	r.mu.Unlock()
	if s == nil || !marked {
		return d.write(line)
	}
	at, found := frame.Find(line, "params", "update", "content", "text")
	if !found {
		return d.write(line)
	}
	text, ok := frame.String(at.Of(line))
	if !ok {
		return d.write(line)
	}
	r.awaitLook(s)
	r.mu.Lock()
	n := s.ours(text)
	r.mu.Unlock()
	switch edited, ok := frame.CutString(line, at, n); {
	case n == 0, !ok:
		return d.write(line)
	case n == len(text):
		r.edited("replay", s, line, nil)
		return nil
	default:
		r.edited("replay", s, line, edited)
		return d.write(edited)
	}
}

// ours gives how many bytes at the start of a user's text are a block that
// went in, and takes notice of it. Each block comes back once: a second copy is
// what the user sent. The relay's lock is held.
func (s *session) ours(text string) int {
	for i := range s.given {
		g := &s.given[i]
		if g.shown {
			continue
		}
		n := leadingBlock(text, g.Text)
		if n == 0 {
			continue
		}
		g.shown = true
		if last, ok := s.last(); ok && s.replay.open && last.Text == g.Text {
			s.replay.marked = true
		}
		return n
	}
	text = strings.TrimSpace(text)
	if s.stranger && s.replay.open && strings.HasPrefix(text, openMark) && strings.Contains(text, closeMark) {
		s.replay.marked = true // by another proxy, or one whose database is lost
	}
	return 0
}

// awaitLook gives the look-up of a session a moment, once: a load is answered
// later than a look-up takes, so this hardly ever waits.
func (r *Relay) awaitLook(s *session) {
	r.mu.Lock()
	ready, tried := s.ready, s.awaited
	s.awaited = true
	r.mu.Unlock()
	select {
	case <-ready:
		return
	default:
	}
	if tried {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.o.LookLimit)
	defer cancel()
	await(ctx, ready)
}

// leadingBlock gives how many bytes at the start of text are a block, with
// the separator that a harness glued it to the user's words by: nothing, a space
// or a newline. 0 if the text does not start with it.
func leadingBlock(text, block string) int {
	n, whole := foldedPrefix(text, block)
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
func titleCut(title string, blocks []given) int {
	bare := strings.TrimRight(strings.TrimSpace(title), ".…\ufffd")
	for _, block := range blocks {
		if n := leadingBlock(title, block.Text); n > 0 {
			return n
		}
		if n, _ := foldedPrefix(bare, block.Text); n == len(bare) && n > len(markLetters) {
			return len(title)
		}
	}
	return 0
}

// cleanInfo takes our block out of the title in a session_info_update.
func (r *Relay) cleanInfo(line []byte, id string) []byte {
	if !bytes.Contains(line, []byte(markLetters)) {
		return line
	}
	at, ok := frame.Find(line, "params", "update", "title")
	if !ok {
		return line
	}
	clean := r.clean(line, []title{{at, id}})
	r.mu.Lock()
	s := r.sessionOf([]byte(id))
	r.mu.Unlock()
	r.edited("title", s, line, clean)
	return clean
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
	var all []title
	for element := range frame.Elements(line, list) {
		one := element.Of(line)
		if !bytes.Contains(one, []byte(markLetters)) {
			continue
		}
		id, _ := stringAt(one, "sessionId")
		for _, path := range [][]string{{"title"}, {"preview"}, {"_meta", "preview"}} {
			if at, ok := frame.Find(one, path...); ok {
				all = append(all, title{frame.Span{Start: element.Start + at.Start, End: element.Start + at.End}, id})
			}
		}
	}
	return r.clean(line, all)
}

// A title is the place in a frame of a text that is made of a session's first prompt.
type title struct {
	at      frame.Span
	session string
}

// clean takes our blocks out of titles. What was nothing else becomes the
// beginning of the user's first prompt. The ledger has no more than a moment
// for all of them together.
func (r *Relay) clean(line []byte, titles []title) []byte {
	ctx, cancel := context.WithTimeout(r.ctx, r.o.LookLimit)
	defer cancel()
	slices.SortFunc(titles, func(a, b title) int { return a.at.Start - b.at.Start })
	var out []byte
	done := 0
	for _, t := range titles {
		token := t.at.Of(line)
		text, ok := frame.String(token)
		if !ok || !strings.Contains(text, markLetters) || t.at.Start < done {
			continue
		}
		blocks, row := r.givenTo(ctx, t.session)
		n := titleCut(text, blocks)
		if n == 0 {
			continue
		}
		edited, ok := frame.CutString(token, frame.Span{End: len(token)}, n)
		if n == len(text) {
			edited, ok = quote(r.firstWords(ctx, row)), true
		}
		if ok {
			out = append(append(out, line[done:t.at.Start]...), edited...)
			done = t.at.End
		}
	}
	if done == 0 {
		return line
	}
	return append(out, line[done:]...)
}

// givenTo gives the blocks of a session, of this connection or the ledger's.
func (r *Relay) givenTo(ctx context.Context, id string) (blocks []given, row int64) {
	r.mu.Lock()
	s, harness := r.sessionFor([]byte(id)), r.harness()
	var mine []given
	known := s != nil && s.settled()
	if known {
		mine, row = slices.Clone(s.given), s.row
	}
	r.mu.Unlock()
	if known {
		return mine, row
	}
	type found struct {
		row    int64
		blocks []correlation.Injection
	}
	got, err := inquire(ctx, r.journal, func(ctx context.Context, l Ledger) (f found, err error) {
		session, err := l.Find(ctx, harness, id)
		if err == nil {
			f.row = session.ID
			f.blocks, err = l.Injections(ctx, f.row)
		}
		return f, err
	})
	if err != nil {
		return nil, 0
	}
	for _, in := range slices.Backward(got.blocks) {
		blocks = append(blocks, given{Injection: in})
	}
	return blocks, got.row
}

// firstWords gives the beginning of the first prompt of a session.
func (r *Relay) firstWords(ctx context.Context, row int64) string {
	words, _ := inquire(ctx, r.journal, func(ctx context.Context, l Ledger) (string, error) { return l.FirstPrompt(ctx, row) })
	words = strings.Join(strings.Fields(words), " ")
	if runes := []rune(words); len(runes) > titleLength {
		words = string(runes[:titleLength])
	}
	return words
}
