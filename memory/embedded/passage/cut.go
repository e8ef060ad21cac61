// Package passage cuts what was said into passages, which are what is searched and told, and notes which questions a
// passage may answer.
package passage

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// Length is how many bytes a passage has at most; what is longer is cut at the end of a line or a sentence.
const Length = 600

// Forgotten stands in a text in the place of what a person had forgotten.
const Forgotten = "[forgotten]"

// Cut cuts one side of a turn into passages: paragraphs, and code blocks, whole where they are short enough; each part
// of a longer one has fences. Passages without a word are left out.
func Cut(text string) []string {
	var list []string
	var lines []string
	size := 0
	var fence language.Fence
	flush := func(within language.Fence) {
		p := strings.TrimSpace(strings.Join(lines, "\n"))
		if lines, size = lines[:0], 0; within != "" {
			p += "\n" + string(within)
			lines, size = append(lines, string(within)), len(within)+1
		}
		if strings.ContainsFunc(strings.ReplaceAll(p, Forgotten, ""), func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r)
		}) {
			list = append(list, p)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimLeft(line, " \t")
		before := fence
		opens, closes := fence.Read(bare)
		switch {
		case opens && size > Length/2, before == "" && bare == "" && !headingOnly(lines),
			!closes && size+len(line)+len(before) >= Length && size > len(before)+1:
			flush(before)
		}
		if bare == "" && len(lines) == 0 {
			continue
		}
		for len(line) > Length-2*len(fence)-2 {
			end := cutAt(line, Length-2*len(fence)-2)
			lines = append(lines, line[:end])
			flush(fence)
			line = strings.TrimLeft(line[end:], " ")
		}
		lines, size = append(lines, line), size+len(line)+1
	}
	flush("")
	return list
}

// headingOnly reports whether lines are a heading without its text, which belongs into the same passage.
func headingOnly(lines []string) bool {
	return len(lines) == 1 &&
		(strings.HasPrefix(lines[0], "#") || strings.HasSuffix(lines[0], ":") && len(lines[0]) < 120)
}

// cutAt returns where to cut a line that is longer than most bytes: after a sentence, else between words, else between
// characters.
func cutAt(line string, most int) int {
	end := chars.Boundary(line, most)
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
