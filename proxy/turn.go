package proxy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

const (
	maxTurnText = 96 << 10  // bytes of one side of a turn, more than a daemon takes of a whole session; what is longer is left out of the middle and marked
	tailSlack   = 16 << 10  // bytes by which the end of it may be longer, so that it is not moved with every word
	seamSlack   = 1 << 10   // bytes that may be left out beside the middle, to cut between lines
	maxUnsaved  = 512 << 10 // bytes of turns that may wait for the ledger; past this they are given up
	maxBatch    = 64 << 10  // bytes of turns that are written at a time, give or take one turn
	maxPrompt   = 64 << 10  // bytes of a prompt's frame, without its images and files, that its words are looked for in: what is longer is a paste
	maxBatches  = 4         // of one session in a row
	maxTitle    = 500       // bytes of a tool call's title
	maxToolWord = 32        // bytes of its kind and of its status, which the protocol enumerates
)

// A turn is one prompt and what was said to it. The relay's lock guards it.
// It stays its session's current turn until the next prompt, for some agents
// send updates after the response.
type turn struct {
	session *session
	row     int64 // the ledger's; 0 until it stands there
	key     string
	command string // the slash command that the prompt is
	line    []byte // a long prompt, or its beginning, until the journal has read it
	words   string // what the user said
	known   bool   // line or words stand
	started time.Time

	text    []byte // the assistant's words so far: of many the beginning, and
	tail    []byte // what came last of those that follow it,
	left    int    // this many bytes behind it
	tools   []correlation.ToolCall
	toolAt  map[string]int
	gap     bool      // a tool ran since the last words: they begin a new paragraph
	lost    int       // bytes that did not fit
	counted int       // bytes of it among the relay's unsaved ones
	changed bool      // since the ledger was last told
	spoken  time.Time // when text was last brought to the ledger
	begun   bool      // on its way to the ledger
	listed  bool      // among the session's turns
	stop    string
	code    int
	ended   time.Time
}

// say adds assistant text. The relay's lock is held.
func (r *Relay) say(t *turn, text string) {
	if t.gap && len(t.text) > 0 && t.last() != '\n' {
		text = "\n\n" + text
	}
	t.gap = false
	text = text[:r.fit(t, text, len(text))]
	if len(t.tail) == 0 {
		n := boundary(text, maxTurnText/2-len(t.text))
		t.text, text = append(t.text, text[:n]...), text[n:]
	}
	t.tail = append(t.tail, text...)
	if len(t.tail) > maxTurnText/2+tailSlack {
		r.trim(t)
	}
}

// trim takes off what of the end has become the middle.
func (r *Relay) trim(t *turn) {
	n := boundary(t.tail, len(t.tail)-maxTurnText/2)
	t.tail = append(t.tail[:0], t.tail[n:]...)
	t.left += n
	t.lost += n
	r.lost += n
	n = min(n, t.counted) // of a turn that was written nothing is counted
	t.counted -= n
	r.unsaved -= n
}

// last is the last byte that was said.
func (t *turn) last() byte {
	if n := len(t.tail); n > 0 {
		return t.tail[n-1]
	}
	return t.text[len(t.text)-1]
}

// said is the assistant's text as far as it is kept: of a long one the
// beginning, for what it is about, and the end, for what it came to. Both end
// at a line's end or between words where there is one near, so that no secret is cut in two.
func (t *turn) said() (text string, cut bool) {
	size := len(t.text) + t.left + len(t.tail)
	if size <= maxTurnText {
		return string(t.text) + string(t.tail), false
	}
	head, tail := t.text, t.tail[boundary(t.tail, len(t.tail)-maxTurnText/2):]
	for _, between := range []byte("\n ") {
		if n := bytes.LastIndexByte(head, between); n > len(head)-seamSlack {
			head = head[:n]
			break
		}
	}
	for _, between := range []byte("\n ") {
		if n := bytes.IndexByte(tail, between); n >= 0 && n < seamSlack {
			tail = tail[n+1:]
			break
		}
	}
	return fmt.Sprintf("%s\n[%d bytes left out …]\n%s", head, size-len(head)-len(tail), tail), true
}

// boundary is n, kept within text, or where the character begins that would be cut in two there.
func boundary[T string | []byte](text T, n int) int {
	n = max(min(n, len(text)), 0)
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// fit gives how much of text there is room for, in its turn and among all
// that waits for the ledger. The relay's lock is held.
func (r *Relay) fit(t *turn, text string, room int) int {
	n := len(text)
	if room = min(room, maxUnsaved-r.unsaved); n > room {
		n = boundary(text, room)
		t.lost += len(text) - n
		r.lost += len(text) - n
	}
	t.counted += n
	r.unsaved += n
	return n
}

// hollow reports whether a turn has ended of which nothing could be kept.
func (t *turn) hollow() bool {
	return t.row == 0 && !t.ended.IsZero() && t.lost > 0 && t.counted == 0 && len(t.tools) == 0
}

// use notes a tool call or what became of it.
func (t *turn) use(id string, call correlation.ToolCall) {
	t.gap = true
	at, known := t.toolAt[id]
	if !known {
		if len(t.tools) > correlation.MaxTools { // one too many: the ledger marks the turn as cut
			return
		}
		if t.toolAt == nil {
			t.toolAt = map[string]int{}
		}
		t.toolAt[id] = len(t.tools)
		t.tools = append(t.tools, call)
		return
	}
	old := &t.tools[at]
	if call.Title != "" {
		old.Title = call.Title
	}
	if call.Kind != "" {
		old.Kind = call.Kind
	}
	if call.Status != "" {
		old.Status = call.Status
	}
}

// begin starts a turn; heard fills in what the user said. The relay's lock is held.
func (r *Relay) begin(s *session) *turn {
	r.era.Add(1)
	t := &turn{session: s, key: s.who.Key, started: r.o.Now(), listed: true}
	s.turn = t
	s.turns = append(s.turns, t)
	return t
}

// A prompt that is no longer than this is read at once: it may be a command.
// The words of longer ones are read off a copy when they are written down.
const shortPrompt = 1 << 10

// hear notes a prompt, as the client sent it. The relay's lock is held.
func (r *Relay) hear(t *turn, line []byte) {
	if len(line) <= shortPrompt {
		words, first := "", ""
		if prompt, ok := frame.Find(line, "params", "prompt"); ok {
			words, first = promptWords(line, prompt)
		}
		t.command = t.session.slashCommand(first, r.o.SlashPrefix)
		t.words = words[:r.fit(t, words, maxTurnText)]
	} else if kept, lost := thinPrompt(line); r.unsaved+len(kept) <= maxUnsaved {
		t.line = kept
		t.counted += len(kept)
		r.unsaved += len(kept)
		t.lost += lost
	} else {
		t.lost += len(line)
		r.lost += len(line)
	}
	t.known, t.changed = true, true
}

// thinPrompt gives a prompt's frame, of a long one what may be words of the
// user: every text block has a share, files that are attached have none. lost is how much of it there was too much.
func thinPrompt(line []byte) (kept []byte, lost int) {
	lost = bytes.Count(line, []byte(frame.Seam)) // it may have been cut before
	if len(line) <= maxPrompt {
		return bytes.Clone(line), lost
	}
	t := newThinner(maxPrompt)
	t.Depth = blockDepth
	t.Write(line)
	return t.Bytes(), lost + t.Lost()
}

const blockDepth = 4 // the frame, params, prompt, the block: a resource lies deeper

// read takes the user's words off the copied prompt. It may take a while and
// needs no lock: only the journal calls it.
func read(line []byte, words string, cut bool) (user string, private []string) {
	if line != nil {
		line = frame.Mend(line)
		if prompt, ok := frame.Find(line, "params", "prompt"); ok {
			words, _ = promptWords(line, prompt)
		}
	}
	if cut {
		words = withoutCutPrivate(words)
	}
	user, private = memory.WithoutPrivate(words)
	return memory.Redact(user), private
}

// touch notes that a turn has changed, also after the ledger had it whole.
func (s *session) touch(t *turn) {
	t.changed = true
	if !t.listed {
		t.listed = true
		s.turns = append(s.turns, t)
	}
}

// storable is the assistant's text as it may be stored: without what it
// repeats of our blocks, which would be remembered as if it were new, without what
// the user marked private, and without secrets. growing says that more of it will come.
func storable(text string, blocks, private []string, growing bool) string {
	return clean(withoutEcho(text, blocks), private, growing)
}

// withoutCutPrivate takes out what stands between a cut, whose sign ends in cutEnd, and a </private> whose beginning was cut off.
func withoutCutPrivate(text string) string {
	parts := strings.Split(text, cutEnd)
	for i, part := range parts[1:] {
		if kept, private := memory.WithoutPrivate("<private>" + part + "\x00"); kept != "" || len(private) > 1 {
			parts[i+1] = strings.TrimSuffix(kept, "\x00")
		}
	}
	return strings.Join(parts, cutEnd)
}

const cutEnd = "…]"

// clean is text without what it or the user marked private, and without secrets.
func clean(text string, private []string, growing bool) string {
	text, own := memory.WithoutPrivate(text)
	return memory.Redact(memory.Conceal(text, append(own, private...), growing))
}

// atMost is text of at most n bytes, cut between characters. Of a text that it cuts it keeps no other part alive.
func atMost(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.Clone(text[:boundary(text, n)])
}

// withoutEcho takes out of text what repeats one of the blocks, quoted or not:
// lines that stand there one behind the other. A few short ones may be the assistant's own.
func withoutEcho(text string, blocks []string) string {
	places := map[string][]int{} // where a line stands in the blocks
	n := 0
	for _, block := range blocks {
		for line := range strings.Lines(block) {
			if line = bare(line); line != "" {
				places[line] = append(places[line], n)
				n++
			}
		}
		n++ // no line stands behind the last
	}
	if n == 0 {
		return text
	}
	var kept strings.Builder
	run, size := []string(nil), 0 // lines that may be an echo, and how much they say
	var ends []int                // where in the blocks the run may end
	end := func() {
		for _, line := range run {
			if size < leastEcho || bare(line) == "" {
				kept.WriteString(line)
			}
		}
		run, size, ends = run[:0], 0, nil
	}
	for line := range strings.Lines(text) {
		words := bare(line)
		if words == "" {
			run = append(run, line)
			continue
		}
		var next []int
		for _, at := range places[words] {
			if slices.Contains(ends, at-1) {
				next = append(next, at)
			}
		}
		if len(next) == 0 {
			end()
			next = places[words]
		}
		if ends = next; len(next) == 0 {
			kept.WriteString(line)
			continue
		}
		run = append(run, line)
		size += len(words)
	}
	end()
	return kept.String()
}

const leastEcho = 24 // bytes of lines that are no coincidence

// bare is a line without white space around it and the signs of a quotation.
func bare(line string) string { return strings.TrimSpace(strings.TrimLeft(line, "> \t")) }

// promptWords joins the text blocks of a prompt, an array in a valid frame:
// the user's own words, as they stood before anything was inserted. first is the first text block's.
func promptWords(line []byte, prompt frame.Span) (words, first string) {
	var texts []string
	for block := range frame.Elements(line, prompt) {
		if text, ok := textOf(block.Of(line)); ok {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return "", ""
	}
	return strings.Join(texts, "\n"), texts[0]
}

// textOf gives the text of a content block of type text, of a long one its beginning.
func textOf(block []byte) (string, bool) {
	if len(block) > maxPrompt {
		block = frame.Mend(block[:maxPrompt])
	}
	if kind, ok := stringAt(block, "type"); !ok || kind != "text" {
		return "", false
	}
	return stringAt(block, "text")
}

// stringAt gives the string at a path.
func stringAt(b []byte, path ...string) (string, bool) {
	at, ok := frame.Find(b, path...)
	if !ok {
		return "", false
	}
	return frame.String(at.Of(b))
}
