package proxy

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A stripper takes our blocks out of the user messages that a harness replays, and out of titles, which harnesses make
// from first prompts.
type stripper struct {
	*env
	database *database
	recorder *recorder
	finder   *finder
}

// Every block begins with these letters, which no encoder escapes: a frame without them holds none.
const markLetters = "signet-memory"

// userChunk returns a chunk of a user message without our block, every other byte as it was; nil if it was nothing but
// the block. users is false for what one session says to another.
func (p *stripper) userChunk(line []byte, id []byte, users bool) []byte {
	marked := bytes.Contains(line, []byte(markLetters))
	var s *session.Session
	p.table.Update(func(c *session.Connection) {
		if s = c.SessionFor(id); s != nil && users {
			s.UserTextShown(len(line))
		}
	})
	if s == nil || !marked {
		return line
	}
	at, found := frame.Find(line, "params", "update", "content", "text")
	if !found {
		return line
	}
	text, ok := frame.String(at.Of(line))
	if !ok {
		return line
	}
	p.awaitLookup(s)
	n := 0
	p.table.Update(func(*session.Connection) { n = s.MatchBlock(text) })
	switch edited, ok := frame.CutString(line, at, n); {
	case n == 0, !ok:
		return line
	case n == len(text):
		p.logEdit("replay", s, line, nil)
		return nil
	default:
		p.logEdit("replay", s, line, edited)
		return edited
	}
}

// awaitLookup waits for the look-up of a session, once and for LookLimit at most. It hardly ever waits: harnesses
// answer a load later than that.
func (p *stripper) awaitLookup(s *session.Session) {
	var ready chan struct{}
	tried := false
	p.table.Update(func(*session.Connection) {
		ready, tried = s.Ready, s.ReplayWaited
		s.ReplayWaited = true
	})
	select {
	case <-ready:
		return
	default:
	}
	if tried {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.o.LookLimit)
	defer cancel()
	await(ctx, ready)
}

// titleBlockLength returns how many bytes at the start of a title are ours: a whole block, or all of the title if that
// is a block's beginning, cut off with or without an ellipsis, or if it was made from the block alone.
func titleBlockLength(title string, blocks []*session.Injection) int {
	bare, hash := strings.TrimRight(strings.TrimSpace(title), ".…\ufffd"), correlation.TitleHash(title)
	for _, block := range blocks {
		if block.Title == hash {
			return len(title)
		}
		if n := session.LeadingBlock(title, block.Text); n > 0 {
			return n
		}
		if n, _ := session.FoldedPrefix(bare, block.Text); n == len(bare) && n > len(markLetters) {
			return len(title)
		}
	}
	return 0
}

// info takes our block out of the title in a session_info_update.
func (p *stripper) info(line []byte, id string) []byte {
	marked := bytes.Contains(line, []byte(markLetters))
	if !marked && !p.cutsTitles() {
		return line
	}
	at, ok := frame.Find(line, "params", "update", "title")
	if !ok {
		return line
	}
	var s *session.Session
	var ours *session.Injection // whose text alone the title was made from
	p.table.Update(func(c *session.Connection) {
		if s = c.Session(id); s != nil && !marked {
			if text, ok := frame.String(at.Of(line)); ok {
				ours = c.TitledFromBlock(s, text)
			}
		}
	})
	if ours != nil {
		p.storeTitle(s, ours.BlockID, ours.Title)
	}
	clean := p.stripTitles(line, []title{{at, id}})
	p.logEdit("title", s, line, clean)
	return clean
}

// cutsTitles reports whether the harness makes titles from the beginning of a first prompt, where our block is: such a
// title may be ours without our mark.
func (p *stripper) cutsTitles() (does bool) {
	p.table.Update(func(c *session.Connection) { does = c.Traits().TitleLength > 0 })
	return does
}

// storeTitle notes in the ledger a title that was made from our block, because the harness shows it again.
func (p *stripper) storeTitle(s *session.Session, block, hash string) {
	p.tasks.run("title", func(ctx context.Context) {
		err := p.database.ask(ctx, func(ctx context.Context, b *Backend) error {
			row, err := p.database.events.Row(ctx, s.Number)
			if err != nil {
				return err
			}
			return b.Ledger.SetTitle(ctx, row, block, hash)
		}, s)
		if err != nil {
			p.o.Log.Info().Err(err).Str("session", s.Label()).Msg("a title was not noted")
		}
	})
}

// list takes our blocks out of the titles and previews in a session/list result.
func (p *stripper) list(line []byte) []byte {
	shortens := p.cutsTitles()
	if !shortens && !bytes.Contains(line, []byte(markLetters)) {
		return line
	}
	list, ok := frame.Find(line, "result", "sessions")
	if !ok {
		return line
	}
	var all []title
	for element := range frame.Elements(line, list) {
		one := element.Of(line)
		if !shortens && !bytes.Contains(one, []byte(markLetters)) {
			continue
		}
		id, _ := stringAt(one, "sessionId")
		for _, path := range [][]string{{"title"}, {"preview"}, {"_meta", "preview"}} {
			if at, ok := frame.Find(one, path...); ok {
				all = append(all, title{frame.Span{Start: element.Start + at.Start, End: element.Start + at.End}, id})
			}
		}
	}
	return p.stripTitles(line, all)
}

// A title is the place in a frame of a session's title or preview.
type title struct {
	at      frame.Span
	session string
}

// stripTitles takes our blocks out of titles. A title that was nothing else becomes the beginning of the user's first
// prompt. The ledger has LookLimit for all of them together.
func (p *stripper) stripTitles(line []byte, titles []title) []byte {
	ctx, cancel := context.WithTimeout(p.ctx, p.o.LookLimit)
	defer cancel()
	shortens := p.cutsTitles()
	slices.SortFunc(titles, func(a, b title) int { return a.at.Start - b.at.Start })
	var out []byte
	done := 0
	for _, t := range titles {
		token := t.at.Of(line)
		text, ok := frame.String(token)
		if !ok || !shortens && !strings.Contains(text, markLetters) || t.at.Start < done {
			continue
		}
		blocks, row := p.finder.blocksOf(ctx, t.session)
		n := titleBlockLength(text, blocks)
		if n == 0 {
			continue
		}
		edited, ok := frame.CutString(token, frame.Span{End: len(token)}, n)
		if n == len(text) {
			edited, ok = quote(p.firstWords(ctx, t.session, row)), true
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

// firstWords returns the beginning of a session's first prompt; "" if it cannot be found before ctx ends.
func (p *stripper) firstWords(ctx context.Context, id string, row int64) string {
	var s *session.Session
	p.table.Update(func(c *session.Connection) { s = c.Session(id) })
	if s != nil { // its first prompt may have been sent just now
		p.recorder.flush()
		if known, err := p.database.events.Row(ctx, s.Number); err == nil {
			row = known
		}
		_ = p.database.events.Folded(ctx)
	}
	words, _ := askFor(ctx, p.database, func(ctx context.Context, l Ledger) (string, error) {
		return l.FirstPrompt(ctx, row)
	})
	words = strings.Join(strings.Fields(words), " ")
	if runes := []rune(words); len(runes) > titleLength {
		words = string(runes[:titleLength])
	}
	return words
}
