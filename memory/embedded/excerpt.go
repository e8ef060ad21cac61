package embedded

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// Of a passage whole sentences are told, whole lines of a list, and lines of code.

// A sentence of a text, a line of a list, or a block of code, which has several lines. Equal keys say the same.
type sentence struct {
	text, key string
	code      bool
}

// ownLine begins a line that goes on with nothing before it: of a list, a table, a quotation, a heading.
var ownLine = pattern.New(`^\s*(?:[-*+•|>#]|\d{1,3}[.)]\s)`)

// sentencesOf cuts a text into sentences.
func sentencesOf(text string) (list []sentence) {
	add := func(text string, code bool) {
		list = append(list, sentence{text, strings.Join(language.Terms(text), " "), code})
	}
	var prose []string
	flush := func() {
		for _, s := range language.SplitSentences(chars.OneLine(strings.Join(prose, " "))) {
			add(s, false)
		}
		prose = prose[:0]
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if end := memory.FenceEnd(lines, i); end > 0 {
			flush()
			add(strings.Join(lines[i:end+1], "\n"), true)
			i = end
			continue
		}
		if strings.TrimSpace(lines[i]) == "" || ownLine().MatchString(lines[i]) {
			flush()
		}
		prose = append(prose, lines[i])
	}
	flush()
	return list
}

// narration is what an agent says about its own going on: it tells nothing later.
var narration = pattern.New(`(?i)^(?:(?:perfect|great|excellent|good|done|ok(?:ay)?|sure|noted|got it|` +
	`understood|right)[!.]?|(?:now,? |next,? |ok(?:ay)?,? |great[,!] |perfect[,!] |good[,!] |first,? )?` +
	`(?:let me|let's|i'll|i will|i'm going to|let us) (?:now |also |first |quickly )?(?:check|look|see|start|read|` +
	`examine|run|try|fix|update|create|search|find|verify|test|take|add|review|continue|begin|open|inspect|` +
	`analy[sz]e)\b.*|(?:perfect|great|excellent)[!,].{0,60}|(?:lass mich|ich schaue mir|ich sehe mir|ich prüfe|` +
	`laisse-moi|laissez-moi|je vais|voyons|déjame|voy a|veamos|lasciami|fammi|deixe-me|laat me|` +
	`давайте посмотрим|让我|我来|제가 ).*)$`)

// narrates reports whether a sentence of an agent's is about its own going on, or only announces.
func (s sentence) narrates() bool {
	return !s.code && (narration().MatchString(s.text) || strings.HasSuffix(s.text, ":") ||
		strings.HasSuffix(s.text, "："))
}

// A part of a text is sentences of it that follow each other.
type part struct {
	sentences     []sentence
	before, after bool // there is more
}

// partAround returns the sentences around one, some most bytes in all.
func partAround(list []sentence, at, most int) part {
	isThere := func(i int) bool { return i >= 0 && i < len(list) }
	first, last, size := at, at, len(list[at].text)
	for grown := true; grown; {
		grown = false
		if isThere(last+1) && size+1+len(list[last+1].text) <= most {
			last, size, grown = last+1, size+1+len(list[last+1].text), true
		}
		if isThere(first-1) && size+1+len(list[first-1].text) <= most {
			first, size, grown = first-1, size+1+len(list[first-1].text), true
		}
	}
	return part{list[first : last+1], first > 0, last+1 < len(list)}
}

// text writes a part: sentences on one line, code on lines of its own, most bytes of it.
func (p part) text(most int) string {
	var b strings.Builder
	code := false // what was written last
	write := func(text string, isCode bool) {
		switch {
		case b.Len() == 0:
		case code || isCode:
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(text)
		code = isCode
	}
	if p.before {
		write("…", false)
	}
	for _, s := range p.sentences {
		switch {
		case s.code:
			write(memory.ClipCode(s.text, most), true)
		case len(p.sentences) == 1:
			write(clip(s.text, most), false)
		default:
			write(s.text, false)
		}
	}
	if p.after && !strings.HasSuffix(b.String(), "…") {
		write("…", false)
	}
	return b.String()
}

// clip shortens a line to most bytes, between two words, or between two characters of a script that sets no spaces.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := chars.Boundary(text, most-len(" …"))
	if space := strings.LastIndexByte(text[:end], ' '); space > end/2 &&
		!strings.ContainsFunc(text[space:end], language.SetsNoSpaces) {
		end = space
	}
	return text[:end] + " …"
}
