package language

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// A sentence is one of a text in prose.
type sentence struct {
	Text    string // white space folded, without Markdown's bullet and emphasis
	Heading string // the heading that it stands under
	Item    bool   // it is in a list
}

var (
	bulletMark  = pattern.New(`^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?`)
	headingMark = pattern.New(`^\s{0,3}#{1,6}\s+`)
	tableRow    = pattern.New(`^\s*\|.*\|\s*$`)
	tableRule   = pattern.New(`^[\s|:-]+$`)
	link        = pattern.New(`!?\[([^\]]*)\]\([^)\s]*\)`)
	emphasis    = pattern.New(`(\*\*|__)(\S(?:.*?\S)?)(\*\*|__)`)
)

const maxProse = 64 << 10 // bytes of a text that are read; a longer one is pasted output

// Sentences cuts Markdown into its sentences. Code blocks, quoted logs and horizontal rules are left out; a code block
// that is a single command counts as a sentence.
func Sentences(text string) []sentence {
	if len(text) > maxProse {
		text = chars.Cut(text, maxProse)
	}
	var list []sentence
	var para strings.Builder
	heading, item := "", false
	flush := func() {
		for _, s := range SplitSentences(clean(para.String())) {
			list = append(list, sentence{Text: s, Heading: heading, Item: item})
		}
		para.Reset()
		item = false
	}
	var fence Fence
	var code []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimLeft(line, " \t")
		opens, closes := fence.Read(bare)
		switch {
		case opens:
			flush()
		case closes:
			if len(code) == 1 && isCommand(code[0]) {
				list = append(list, sentence{Text: "`" + strings.TrimPrefix(code[0], "$ ") + "`", Heading: heading})
			}
			code = nil
		case fence != "":
			if bare != "" {
				code = append(code, bare)
			}
		case bare == "", tableRule().MatchString(bare):
			flush()
		case headingMark().MatchString(line):
			flush()
			heading = strings.TrimRight(clean(headingMark().ReplaceAllString(line, "")), ":#. ")
		case tableRow().MatchString(line):
			flush()
			para.WriteString(strings.Join(strings.FieldsFunc(bare, func(r rune) bool { return r == '|' }), ": "))
			item = true
			flush()
		case bulletMark().MatchString(line):
			flush()
			para.WriteString(bulletMark().ReplaceAllString(line, ""))
			item = true
		case IsDump(bare):
			flush()
		default:
			para.WriteString(" " + strings.TrimLeft(bare, "> "))
		}
	}
	flush()
	return list
}

// A Fence is what the block of code began with that a line stands in, empty outside of one.
type Fence string

// Read reports whether a line, without its indentation, opens or closes a block, and notes it.
func (f *Fence) Read(bare string) (opens, closes bool) {
	opens = *f == "" && (strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"))
	closes = *f != "" && strings.HasPrefix(bare, string(*f)) && strings.Trim(bare, string((*f)[:1])) == ""
	if opens {
		*f = Fence(bare[:3])
	} else if closes {
		*f = ""
	}
	return opens, closes
}

// clean folds white space and takes out emphasis and the targets of links. Code spans keep their back quotes, because
// these mark names.
func clean(text string) string {
	if strings.ContainsAny(text, "[*_") { // few have them, and looking for both costs more than all else
		text = emphasis().ReplaceAllString(link().ReplaceAllString(text, "$1"), "$2")
	}
	return chars.OneLine(text)
}

var commandStart = pattern.New(`^(?:\$ )?[a-z./][\w./-]*(?: \S+)+$`)

// isCommand reports whether a line of code is one that a person would type.
func isCommand(line string) bool {
	return len(line) <= 120 && commandStart().MatchString(line) && !strings.ContainsAny(line, "{};=")
}

var dumpLine = pattern.New(`^(?:at \S+\(|[\w.*/()-]+\([^()]*\)$|\S+\.\w{1,4}:\d+(?::\d+)?:? \+?0x|\s*File ".*", line \d+|goroutine \d+|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|[{}\[\]();,]+$|[+-]{3} [ab]/|@@ |diff --git|import .* from |package \w+$|func |def |class |const |let |var |return\b.*[;)]$|if \(|\}|<\/?\w+[^>]*>$)`)

// IsDump reports whether a line is of code, a log, a stack trace or a diff, pasted without a fence.
func IsDump(line string) bool {
	if dumpLine().MatchString(line) || len(line) > 4000 {
		return true
	}
	letters, signs := 0, 0
	for _, r := range line {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsPunct(r), unicode.IsSymbol(r):
			signs++
		}
	}
	return signs*2 > letters && len(line) > 12
}

// abbreviations: the full stop behind them does not end a sentence.
var abbreviations = map[string]bool{"e.g": true, "i.e": true, "etc": true, "vs": true, "cf": true, "mr": true,
	"mrs": true, "dr": true, "z.b": true,
	"approx": true, "no": true, "fig": true, "bzw": true, "ca": true, "usw": true, "incl": true, "resp": true,
	"p.ej": true, "d.h": true}

// SplitSentences cuts a text at the ends of its sentences, but not inside code spans, versions or abbreviations.
func SplitSentences(text string) []string {
	var list []string
	start, code := 0, false
	add := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			list = append(list, s)
		}
		start = end
	}
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		switch r {
		case '`':
			code = !code && strings.IndexByte(text[next:], '`') >= 0
		case '。', '！', '？':
			add(next)
		case '.', '!', '?', ';':
			if !code && (next == len(text) || text[next] == ' ') && ends(r, text[start:i], text[next:]) {
				add(next)
			}
		}
	}
	add(len(text))
	return list
}

// ends reports whether a sign behind a word ends the sentence before it: a semicolon where that is long, a full stop
// unless it is an abbreviation's or a number's.
func ends(sign rune, before, behind string) bool {
	word := strings.TrimLeft(before[strings.LastIndexByte(before, ' ')+1:], "([\"'")
	switch {
	case sign == ';':
		return len(before) >= 39
	case sign != '.':
		return true
	case abbreviations[strings.ToLower(word)], strings.Trim(before, "0123456789 ") == "": // "1." of a list
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(behind, " "))
	return !unicode.IsLower(next) || len(word) >= 3 || strings.ContainsRune(word, '.')
}
