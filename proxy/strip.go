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

// How our blocks are taken out of the user messages that a harness replays, and out of titles, which harnesses make
// from first prompts.

// Every block begins with these letters, which no encoder escapes: a frame without them holds none.
const markLetters = "signet-memory"

// stripMessage returns a user message, or a chunk of one, without our block, every other byte as it was; nil for a
// chunk that was nothing else. users is false for what one session says to another.
func (d *down) stripMessage(line []byte, id []byte, users bool) []byte {
	var texts []string
	var at []place // of each
	content, ok := frame.Find(line, "params", "update", "content")
	chunk := ok && line[content.Start] == '{'
	if ok && bytes.Contains(line, []byte(markLetters)) {
		blocks := frame.Elements(line, content)
		if chunk {
			blocks = slices.Values([]frame.Span{content})
		}
		last := 0
		for block := range blocks {
			if token, ok := frame.Find(block.Of(line), "text"); ok {
				text := frame.Span{Start: block.Start + token.Start, End: block.Start + token.End}
				words, _ := frame.String(text.Of(line))
				texts, at = append(texts, words), append(at, place{text, block, last})
			}
			last = block.End
		}
	}
	s, cut, text := d.show(line, id, users && !preamble(line), texts)
	if cut == 0 {
		return line
	}
	ours := at[text]
	var edited []byte
	switch nothingElse := cut == len(texts[text]); {
	case nothingElse && chunk:
	case nothingElse:
		edited = withoutElement(line, content, ours.block, ours.before)
	default:
		if edited, ok = frame.CutString(line, ours.text, cut); !ok {
			return line
		}
	}
	d.logEdit("replay", s, line, edited)
	return edited
}

// preamble reports whether a chunk begins with a tag that is not our block's: harnesses put what they tell the model
// under the user's name, gemini before it answers a load (docs/facts/harnesses.md). That says nothing of which of the
// user's words they have kept.
func preamble(line []byte) bool {
	text, ok := frame.Find(line, "params", "update", "content", "text")
	if !ok {
		return false
	}
	words, tag := bytes.CutPrefix(bytes.TrimPrefix(text.Of(line), []byte{'"'}), []byte{'<'})
	return tag && !bytes.HasPrefix(words, []byte(markLetters))
}

// A place is where a text stands in a message: in a block of its content, behind the end of another, 0 if it is the
// first.
type place struct {
	text, block frame.Span
	before      int
}

// withoutElement returns a line without an element of an array and the comma beside it. before is the end of the
// element in front, 0 if it is the first.
func withoutElement(line []byte, array, element frame.Span, before int) []byte {
	from, to := element.Start, element.End
	if before > 0 {
		from = before
	} else if n := bytes.IndexByte(line[to:array.End], ','); n >= 0 && len(bytes.TrimSpace(line[to:to+n])) == 0 {
		to += n + 1
	}
	return append(append(make([]byte, 0, len(line)), line[:from]...), line[to:]...)
}

// show notes what a harness shows of what the user said, and finds our block in it: so many bytes at the start of one
// of its texts. For the look-up of its session that waits once, for a part of HoldLimit at most: hardly ever, because
// harnesses answer a load later than that.
func (d *down) show(line, id []byte, users bool, texts []string) (s *session.Session, cut, text int) {
	wait := false
	d.talk.Do(func(c *session.Connection) { s, wait = c.UserShown(id, len(line), users, len(texts) > 0) })
	if s == nil || len(texts) == 0 {
		return s, 0, 0
	}
	ctx, cancel := context.WithTimeout(d.ctx, d.o.HoldLimit/lookShare)
	defer cancel()
	if wait {
		d.talk.Await(ctx, func(*session.Connection) bool { return s.Settled() })
	}
	for {
		var first *session.Seek
		d.talk.Do(func(c *session.Connection) { cut, text, first = c.Ours(s, texts) })
		if first == nil || ctx.Err() != nil {
			return s, cut, text
		}
		found := d.seek(ctx, first)
		d.talk.Do(func(c *session.Connection) { c.BlockFound(first, found) })
	}
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

// stripInfo takes our block out of the title in a session_info_update.
func (d *down) stripInfo(line []byte, id string) []byte {
	if !d.mayHaveOurs(line) {
		return line
	}
	at, ok := frame.Find(line, "params", "update", "title")
	if !ok {
		return line
	}
	text, ok := frame.String(at.Of(line))
	if !ok || bytes.Contains(line, []byte(markLetters)) {
		text = ""
	}
	var s *session.Session
	d.talk.Do(func(c *session.Connection) {
		var from *session.Injection
		if s, from = c.TitleShown(id, text); from != nil {
			d.storeTitle(s, from.BlockID, from.Title)
		}
	})
	clean := d.stripTitles(line, []title{{at, id}})
	d.logEdit("title", s, line, clean)
	return clean
}

// mayHaveOurs reports whether titles in b may have our block: they have our mark, or the harness makes them from the
// beginning of a first prompt, where our block is, and cuts them before the mark.
func (d *down) mayHaveOurs(b []byte) bool {
	return d.agent.Load().traits.TitleLength > 0 || bytes.Contains(b, []byte(markLetters))
}

// stripSubagent takes our block out of what a subagent_update calls a child and its work.
func (d *down) stripSubagent(line []byte, id string) []byte {
	if !d.mayHaveOurs(line) {
		return line
	}
	var titles []title
	for _, name := range []string{"title", "description"} {
		if at, ok := frame.Find(line, "params", "update", name); ok {
			titles = append(titles, title{at, id})
		}
	}
	clean := d.stripTitles(line, titles)
	d.logEdit("subagent", nil, line, clean)
	return clean
}

// storeTitle notes in the ledger a title that was made from our block, because the harness shows it again.
func (d *down) storeTitle(s *session.Session, block, hash string) {
	d.database.begin(d.ctx, "title", func(b *Backend) error {
		row, err := d.file.Row(d.ctx, s.Number)
		if err == nil {
			err = b.Ledger.SetTitle(d.ctx, row, block, hash)
		}
		return err
	}, func(err error) {
		if err != nil {
			d.o.Log.Info().Err(err).Str("session", s.Label()).Msg("a title was not noted")
		}
	})
}

// stripList takes our blocks out of the titles and previews in a session/list result.
func (d *down) stripList(line []byte) []byte {
	if !d.mayHaveOurs(line) {
		return line
	}
	list, ok := frame.Find(line, "result", "sessions")
	if !ok {
		return line
	}
	var all []title
	for element := range frame.Elements(line, list) {
		one := element.Of(line)
		if !d.mayHaveOurs(one) {
			continue
		}
		id, _ := stringAt(one, "sessionId")
		for _, path := range [][]string{{"title"}, {"preview"}, {"_meta", "preview"}} {
			if at, ok := frame.Find(one, path...); ok {
				all = append(all, title{frame.Span{Start: element.Start + at.Start, End: element.Start + at.End}, id})
			}
		}
	}
	return d.stripTitles(line, all)
}

// A title is the place in a frame of a session's title or preview.
type title struct {
	at      frame.Span
	session string
}

// stripTitles takes our blocks out of titles. A title that was nothing else becomes the beginning of the user's first
// prompt. The ledger has a part of HoldLimit for all of them together.
func (d *down) stripTitles(line []byte, titles []title) []byte {
	ctx, cancel := context.WithTimeout(d.ctx, d.o.HoldLimit/lookShare)
	defer cancel()
	slices.SortFunc(titles, func(a, b title) int { return a.at.Start - b.at.Start })
	var out []byte
	done := 0
	for _, t := range titles {
		token := t.at.Of(line)
		text, ok := frame.String(token)
		if !ok || !d.mayHaveOurs([]byte(text)) || t.at.Start < done {
			continue
		}
		blocks, row, here := d.blocksOf(ctx, t.session)
		n := titleBlockLength(text, blocks)
		if id := session.BlockID(text); n == 0 && id != "" { // of a session with another name, or a copy of one
			found := d.seek(ctx, &session.Seek{Harness: d.harness(), Block: id})
			blocks, row, here = oldestFirst(found.Blocks), found.Of.ID, nil
			n = titleBlockLength(text, blocks)
		}
		if n == 0 {
			continue
		}
		edited, ok := frame.CutString(token, frame.Span{End: len(token)}, n)
		if n == len(text) {
			edited, ok = quote(d.firstWords(ctx, here, row)), true
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

// firstWords returns the beginning of a session's first prompt; "" if it cannot be found before ctx ends. s is nil if
// this connection does not have the session.
func (d *down) firstWords(ctx context.Context, s *session.Session, row int64) string {
	if s != nil { // its first prompt may have been sent just now
		d.recorder.recordNow(ctx)
		if known, err := d.file.Row(ctx, s.Number); err == nil {
			row = known
		}
	}
	words := ""
	if d.database.ask(ctx, func(b *Backend) (err error) {
		words, err = b.Ledger.FirstPrompt(ctx, row)
		return err
	}) != nil {
		return ""
	}
	words = strings.Join(strings.Fields(words), " ")
	if runes := []rune(words); len(runes) > titleLength {
		words = string(runes[:titleLength])
	}
	return words
}
