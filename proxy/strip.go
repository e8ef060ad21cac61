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

// A stripper takes our blocks out of what a harness shows again of its history, and out of the titles that it makes
// of first prompts.
type stripper struct {
	*env
	database *database
	recorder *recorder
	finder   *finder
}

// Every form of our block begins with these letters, which no encoder
// escapes: a frame without them needs no closer look.
const markLetters = "signet-memory"

// userChunk gives a user's turn that the harness shows again without our block; nil where it was nothing else. Any
// other byte stays. What one session says to another is none of the user's turns.
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
	p.awaitLook(s)
	n := 0
	p.table.Update(func(*session.Connection) { n = s.MatchBlock(text) })
	switch edited, ok := frame.CutString(line, at, n); {
	case n == 0, !ok:
		return line
	case n == len(text):
		p.edited("replay", s, line, nil)
		return nil
	default:
		p.edited("replay", s, line, edited)
		return edited
	}
}

// awaitLook gives the look-up of a session a moment, once: a load is answered
// later than a look-up takes, so this hardly ever waits.
func (p *stripper) awaitLook(s *session.Session) {
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

// titleCut gives how much of a title is ours: a whole block in front, or all of it where it is the beginning of one,
// cut off with or without an ellipsis, or where the harness made it of nothing else.
func titleCut(title string, blocks []*session.Injection) int {
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
	if !marked && !p.shortens() {
		return line
	}
	at, ok := frame.Find(line, "params", "update", "title")
	if !ok {
		return line
	}
	var s *session.Session
	var ours *session.Injection // that the title is made of
	p.table.Update(func(c *session.Connection) {
		if s = c.Session(id); s != nil && !marked {
			if text, ok := frame.String(at.Of(line)); ok {
				ours = c.TitledFromBlock(s, text)
			}
		}
	})
	if ours != nil {
		p.keepTitle(s, ours.BlockID, ours.Title)
	}
	clean := p.clean(line, []title{{at, id}})
	p.edited("title", s, line, clean)
	return clean
}

// shortens reports whether the harness makes titles of the beginning of a first prompt, where our block stands: a title
// may then be ours without our mark.
func (p *stripper) shortens() (does bool) {
	p.table.Update(func(c *session.Connection) { does = c.Traits().TitleLength > 0 })
	return does
}

// keepTitle has the ledger know a title that was made of our block, for the harness shows it again.
func (p *stripper) keepTitle(s *session.Session, block, hash string) {
	p.tasks.run(func(ctx context.Context) {
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
	shortens := p.shortens()
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
	return p.clean(line, all)
}

// A title is the place in a frame of a text that is made of a session's first prompt.
type title struct {
	at      frame.Span
	session string
}

// clean takes our blocks out of titles. What was nothing else becomes the
// beginning of the user's first prompt. The ledger has no more than a moment
// for all of them together.
func (p *stripper) clean(line []byte, titles []title) []byte {
	ctx, cancel := context.WithTimeout(p.ctx, p.o.LookLimit)
	defer cancel()
	shortens := p.shortens()
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
		n := titleCut(text, blocks)
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

// firstWords gives the beginning of the first prompt of a session.
func (p *stripper) firstWords(ctx context.Context, id string, row int64) string {
	var s *session.Session
	p.table.Update(func(c *session.Connection) { s = c.Session(id) })
	if s != nil { // its first prompt may be the one that has just been sent
		p.recorder.flush()
		if known, err := p.database.events.Row(ctx, s.Number); err == nil {
			row = known
		}
		_ = p.database.events.Folded(ctx)
	}
	words, _ := inquire(ctx, p.database, func(ctx context.Context, l Ledger) (string, error) {
		return l.FirstPrompt(ctx, row)
	})
	words = strings.Join(strings.Fields(words), " ")
	if runes := []rune(words); len(runes) > titleLength {
		words = string(runes[:titleLength])
	}
	return words
}
