package session

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// The kinds of injections, as the ledger has them.
const (
	KindContext  = "context"  // what a session's first prompt is told
	KindIdentity = "identity" // the local files only: the rest was not there in time
	KindMemories = "memories" // that rest, with a later prompt
	KindRecall   = "recall"   // what a later prompt brought to mind
	KindMessages = "messages" // what other agents have sent, with a later prompt
	KindSystem   = "system"   // the identity alone, in the system prompt
)

// Using says what the injection comes from. It may be nil, as the injection may.
func (in *Injection) Using(f *Fetch) *Injection {
	if in != nil {
		in.Fetch = f
	}
	return in
}

// Given gives what went in, oldest first.
func (s *Session) Given() []*Injection {
	all := make([]*Injection, len(s.given))
	for i, g := range s.given {
		all[i] = g.whole()
	}
	return all
}

// Seen gives the ids of the items in it, the texts of those that have none.
func (s *Session) Seen() []string { return slices.Clone(s.seen) }

// newest gives the last block that went into a prompt and was not only for it: the one that a doubt is about.
func (s *Session) newest() (*Injection, bool) {
	for _, g := range slices.Backward(s.given) {
		switch g.Kind {
		case KindRecall, KindMessages, KindSystem:
		default:
			return g, true
		}
	}
	return nil, false
}

// Again gives the block that may or may not have reached the harness, to go in once more.
func (s *Session) Again() (*Injection, bool) {
	sent, ok := s.newest()
	if !ok {
		return nil, false
	}
	block := memory.Block{ID: sent.BlockID, Hash: sent.BlockID, Text: sent.words(), Items: sent.Items}
	return &Injection{Injection: correlation.Injection{Kind: sent.Kind, Source: sent.Source}, Block: block}, true
}

// gave notes a block that goes in. One that was refused is no other than that which goes in again.
func (s *Session) gave(in *Injection) {
	s.given = slices.DeleteFunc(s.given, func(g *Injection) bool {
		return g.Outcome == correlation.WasRefused && g.words() == in.Text
	})
	s.given = append(s.given, in)
	s.said = len(in.Text)
}

// Says counts what the user says.
func (s *Session) Says(bytes int) { s.said += bytes }

// Blocks gives the texts that went in.
func (s *Session) Blocks() []string {
	texts := make([]string, len(s.given))
	for i, g := range s.given {
		texts[i] = g.words()
	}
	return texts
}

// take makes a session know what the ledger says that it was given, newest
// first. What the sessions that it continues were given, its harness has not
// seen; a fork has seen what its parent was given before.
func (s *Session) take(blocks []correlation.Injection, known correlation.Session) {
	s.given, s.seen = nil, nil
	for _, in := range slices.Backward(blocks) {
		if in.Session != known.ID && (known.ForkOf == 0 || in.At.After(known.Started)) {
			continue
		}
		s.gave(&Injection{Injection: in})
		if in.Outcome != correlation.WasRefused {
			s.seen = append(s.seen, in.Items...)
		}
	}
}

// SystemBlock gives the newest of blocks that went into the system prompt.
func SystemBlock(blocks []*Injection) (*Injection, bool) {
	for _, b := range slices.Backward(blocks) {
		if b.Kind == KindSystem {
			return b, true
		}
	}
	return nil, false
}

// A block of ours, of whatever session, begins and ends with these.
const (
	OpenMark  = `<signet-memory source="acp-proxy"`
	closeMark = `</signet-memory>`
)

// expectReplay says that the harness may show its history from now on: what went in may come back once each.
func (s *Session) expectReplay() {
	s.replay, s.said = replay{open: true}, 0
	for _, g := range s.given {
		g.shown = false
	}
}

// EndReplay says that what is shown from now on is not the history alone.
func (s *Session) EndReplay() { s.replay = replay{} }

// Replaying reports whether the harness may be showing its history.
func (s *Session) Replaying() bool { return s.replay.open }

// Shown notes that the harness has shown something of a turn of the user's.
func (s *Session) Shown(bytes int) {
	if s.replay.open {
		s.replay.user = true
		s.said += bytes
	}
}

// ShowsBlocks reports whether what the harness shows of the user's turns, and of titles, may hold a block of ours.
func (s *Session) ShowsBlocks() bool { return len(s.given) > 0 || s.replay.open || !s.Settled() }

// Ours gives how many bytes at the start of a user's text are a block that
// went in, and takes notice of it. Each block comes back once: a second copy is
// what the user sent.
func (s *Session) Ours(text string) int {
	for _, g := range s.given {
		if g.shown {
			continue
		}
		n := LeadingBlock(text, g.words())
		if n == 0 {
			continue
		}
		g.shown = true
		if newest, ok := s.newest(); ok && s.replay.open && newest.words() == g.words() {
			s.replay.marked = true
		}
		return n
	}
	text = strings.TrimSpace(text)
	if s.stranger && s.replay.open && strings.HasPrefix(text, OpenMark) && strings.Contains(text, closeMark) {
		s.replay.marked = true // by another proxy, or one whose database is lost
	}
	return 0
}

// LeadingBlock gives how many bytes at the start of text are a block, with
// the separator that a harness glued it to the user's words by: nothing, a space
// or a newline. 0 if the text does not start with it.
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

// FoldedPrefix compares text with a block, white space folded. n is how much
// of text is the block's beginning; whole says that this is all of the block, its trailing space aside.
func FoldedPrefix(text, block string) (n int, whole bool) {
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

// Name notes that the client has given a session its title.
func (s *Session) Name() { s.named = true }

// leastSeen is how much of a person's words a harness must have seen for a title to be about them.
const leastSeen = 80

// Entitled takes notice of a title that a harness has made, and gives the block of which it is made alone: the first
// title behind one that took all the room that a title is made of. nil if the person's words were seen.
func (c *Connection) Entitled(s *Session, title string) *Injection {
	room := c.Traits().TitleLength - leastSeen
	if room < 0 || s.named {
		return nil
	}
	for _, g := range s.given {
		if g.here && g.Title == "" && g.Kind != KindSystem && units(g.words()) > room {
			g.Title = correlation.TitleHash(title)
			return g
		}
	}
	return nil
}

// units counts the UTF-16 units of a text, as JavaScript does.
func units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
