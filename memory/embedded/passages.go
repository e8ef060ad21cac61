package embedded

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

const (
	passageLength = 600      // bytes of a passage: what is longer is cut at the end of a line or a sentence
	mostSide      = 64 << 10 // bytes of one side of a turn that are cut into passages: its beginning and its end
)

// passagesOf cuts one side of a turn into what is searched and told: its paragraphs, code blocks whole as far as they
// fit. What holds no word is left out.
func passagesOf(text string) []string {
	if len(text) > mostSide {
		text = strings.ToValidUTF8(text[:mostSide*3/4],
			"") + "\n\n" + strings.ToValidUTF8(text[len(text)-mostSide/4:], "")
	}
	var list []string
	var lines []string
	size, fence := 0, ""
	flush := func() {
		if p := strings.TrimSpace(strings.Join(lines,
			"\n")); strings.ContainsFunc(strings.ReplaceAll(p, forgotten, ""), word) {
			list = append(list, p)
		}
		lines, size = lines[:0], 0
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimLeft(line, " \t")
		opens := fence == "" && (strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"))
		closes := fence != "" && strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == ""
		switch {
		case opens && size > passageLength/2, fence == "" && bare == "" && !headingOnly(lines),
			size+len(line) > passageLength && size > 0:
			flush()
		}
		switch {
		case opens:
			fence = bare[:3]
		case closes:
			fence = ""
		}
		if bare == "" && len(lines) == 0 {
			continue
		}
		for len(line) > passageLength {
			end := cutAt(line, passageLength)
			lines = append(lines, line[:end])
			flush()
			line = strings.TrimLeft(line[end:], " ")
		}
		lines, size = append(lines, line), size+len(line)+1
	}
	flush()
	return list
}

func word(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// headingOnly reports whether lines are a heading that waits for its text.
func headingOnly(lines []string) bool {
	return len(lines) == 1 &&
		(strings.HasPrefix(lines[0], "#") || strings.HasSuffix(lines[0], ":") && len(lines[0]) < 120)
}

// cutAt is where a line is cut that is longer than most bytes: after a sentence, else between words, else between
// characters.
func cutAt(line string, most int) int {
	end := most
	for !utf8.RuneStart(line[end]) {
		end--
	}
	sentence, space := 0, 0
	for i, r := range line[:end] {
		switch r {
		case '。', '！', '？':
			sentence = i + utf8.RuneLen(r)
		case ' ':
			if space = i + 1; i > 0 && strings.IndexByte(".!?", line[i-1]) >= 0 {
				sentence = i + 1
			}
		}
	}
	switch {
	case sentence > end/3:
		return sentence
	case space > end/2:
		return space
	}
	return end
}

// traits are what questions may ask for, as bits of the column of that name.
type traits uint16

const (
	asks       traits = 1 << iota // ends in a question
	timed                         // has a word of time
	counts                        // has a number
	newer                         // says that something changed
	surely                        // and can be meant in no other sense
	firstShift = 5                // how often the speaker speaks of himself, up to 3: two bits
	nameShift  = 7                // how many names stand in it, up to 7: three bits
)

func (t traits) has(bit traits) bool { return t&bit != 0 }
func (t traits) first() int          { return int(t>>firstShift) & 3 }
func (t traits) names() int          { return int(t>>nameShift) & 7 }

// traitsOf notes what a text may answer.
func traitsOf(text string, read language.Text) traits {
	var t traits
	changed, sure := tellsChange(text)
	for bit, on := range map[traits]bool{asks: read.Asks, timed: read.Time, counts: read.Many,
		newer: changed, surely: sure} {
		if on {
			t |= bit
		}
	}
	return t | traits(min(read.First, 3))<<firstShift | traits(min(read.Names, 7))<<nameShift
}
