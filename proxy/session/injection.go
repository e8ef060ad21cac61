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

// The kinds of injections, as the ledger stores them.
const (
	KindContext  = "context"  // identity and memories, with a session's first prompt
	KindIdentity = "identity" // the local files only: the rest was not there in time
	KindMemories = "memories" // the rest, with a later prompt
	KindRecall   = "recall"   // what was found for the text of a later prompt
	KindMessages = "messages" // what other agents have sent, with a later prompt
	KindSystem   = "system"   // the identity alone, in the system prompt
)

// WithFetch sets the fetch that the injection uses up. Both may be nil.
func (in *Injection) WithFetch(f *Fetch) *Injection {
	if in != nil {
		in.Fetch = f
	}
	return in
}

// Injections returns the blocks that went into the session, with their texts, oldest first.
func (s *Session) Injections() []*Injection {
	all := make([]*Injection, len(s.injections))
	for i, g := range s.injections {
		own := *g // read beside the conversation, which goes on changing it
		all[i] = &own
	}
	return all
}

// SeenItems returns the items that the session was given: their ids, or their texts where they have none.
func (s *Session) SeenItems() []string { return slices.Clone(s.seenItems) }

// newest returns the newest block that the session's state is about: not recall or messages, which concern one prompt,
// and not the system prompt.
func (s *Session) newest() (*Injection, bool) {
	for _, g := range slices.Backward(s.injections) {
		switch g.Kind {
		case KindRecall, KindMessages, KindSystem:
		default:
			return g, true
		}
	}
	return nil, false
}

// BlockInDoubt returns the block that may or may not have reached the harness, to be sent once more.
func (s *Session) BlockInDoubt() (*Injection, bool) {
	sent, ok := s.newest()
	if !ok {
		return nil, false
	}
	block := memory.Block{ID: sent.BlockID, Hash: sent.BlockID, Text: sent.Text, Items: sent.Items}
	return &Injection{Injection: correlation.Injection{Kind: sent.Kind, Source: sent.Source}, Block: block}, true
}

// addInjection notes a block that goes in. A refused one with the same text is replaced: it was never in the
// conversation.
func (s *Session) addInjection(in *Injection) {
	s.injections = slices.DeleteFunc(s.injections, func(g *Injection) bool {
		return g.Outcome == correlation.WasRefused && g.Text == in.Text
	})
	s.injections = append(s.injections, in)
	s.textSinceBlock = len(in.Text)
}

// CountUserText counts text of the user, in bytes: a compaction that keeps the newest messages may keep the block too.
func (s *Session) CountUserText(bytes int) { s.textSinceBlock += bytes }

// Blocks returns the texts of the blocks that went in, oldest first.
func (s *Session) Blocks() []string {
	texts := make([]string, len(s.injections))
	for i, g := range s.injections {
		texts[i] = g.Text
	}
	return texts
}

// loadInjections sets a session's injections to those that the ledger has, which come newest first. Those of sessions
// that it continues are left out, because this session's harness has not seen them. A fork has its parent's from before
// the fork.
func (s *Session) loadInjections(blocks []correlation.Injection, known correlation.Session) {
	s.injections, s.seenItems = nil, nil
	for _, in := range slices.Backward(blocks) {
		if in.Session != known.ID && (known.ForkOf == 0 || in.At.After(known.Started)) {
			continue
		}
		s.addInjection(&Injection{Injection: in})
		if in.Outcome != correlation.WasRefused {
			s.seenItems = append(s.seenItems, in.Items...)
		}
	}
}

// SystemBlock returns the newest of the blocks that went into a system prompt.
func SystemBlock(blocks []*Injection) (*Injection, bool) {
	for _, b := range slices.Backward(blocks) {
		if b.Kind == KindSystem {
			return b, true
		}
	}
	return nil, false
}

// Every block of ours, of whatever session, begins and ends with these.
const (
	OpenMark  = `<signet-memory source="acp-proxy"`
	closeMark = `</signet-memory>`
)

// expectReplay notes that the harness may replay its history from now on: each block may come back once.
func (s *Session) expectReplay() {
	s.replay, s.textSinceBlock = replay{open: true}, 0
	for _, g := range s.injections {
		g.shown = false
	}
}

// EndReplay notes that what the harness shows from now on may be more than its history.
func (s *Session) EndReplay() { s.replay = replay{} }

// UserTextShown notes that the harness has replayed some of the user's text, in bytes of its frame.
func (s *Session) UserTextShown(bytes int) {
	if s.replay.open {
		s.replay.user = true
		s.textSinceBlock += bytes
	}
}

// ShowsBlocks reports whether user messages and titles from the harness may hold a block of ours.
func (s *Session) ShowsBlocks() bool { return len(s.injections) > 0 || s.replay.open || !s.LookedUp() }

// MatchBlock returns how many bytes at the start of a user message are a block that went into this session, and marks
// that block as shown. Each block comes back once: a second copy is the user's own text.
func (s *Session) MatchBlock(text string) int {
	for _, g := range s.injections {
		if g.shown {
			continue
		}
		n := LeadingBlock(text, g.Text)
		if n == 0 {
			continue
		}
		g.shown = true
		if newest, ok := s.newest(); ok && s.replay.open && newest.Text == g.Text {
			s.replay.marked = true
		}
		return n
	}
	text = strings.TrimSpace(text)
	if s.unknown && s.replay.open && strings.HasPrefix(text, OpenMark) && strings.Contains(text, closeMark) {
		s.replay.marked = true // by another proxy, or one whose database is lost
	}
	return 0
}

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

// spaceAt returns the length in bytes of the white space that s begins with.
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

// SetTitledByClient notes that the client has set the session's title: later titles are not made from a prompt.
func (s *Session) SetTitledByClient() { s.titledByClient = true }

// leastSeen is how much of a person's words, in UTF-16 units, a harness must have seen for a title to be about them.
const leastSeen = 80

// TitledFromBlock returns the block from which a harness has made this title, nil if it has seen the person's words
// too. A harness that makes titles from the first TitleLength units of a prompt sees nothing but the block where that
// is as long; the title that follows such a block is noted with it.
func (c *Connection) TitledFromBlock(s *Session, title string) *Injection {
	room := c.Traits().TitleLength - leastSeen
	if room < 0 || s.titledByClient {
		return nil
	}
	for _, g := range s.injections {
		if g.sentHere && g.Title == "" && g.Kind != KindSystem && units(g.Text) > room {
			g.Title = correlation.TitleHash(title)
			return g
		}
	}
	return nil
}

// units returns the length of a text in UTF-16 units, in which JavaScript counts.
func units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
