package passage

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// What a user pastes into a prompt, a log, a stack trace, a diff, a file, is longer than anything they say, and little
// of it tells.

const (
	longPrompt = 1500 // bytes of a prompt that may hold pasted text
	longRun    = 6    // lines of pasted text in a row; a shorter run stays
	maxKept    = 4    // lines of a longer one
)

// wrong are words of the lines of pasted text that say what went wrong.
var wrong = []string{"error", "exception", "fail", "fatal", "panic", "exit code", "exit status", "exited", "denied",
	"refused", "not found", "no such", "cannot", "undefined", "timeout", "timed out", "time out", "traceback", "assert",
	"✗", "❌"}

func tells(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(wrong, func(word string) bool { return strings.Contains(line, word) })
}

// withoutPastes cuts what was pasted into a long prompt to the lines that tell. The person's own lines stay.
func withoutPastes(text string) string {
	if len(text) <= longPrompt {
		return text
	}
	var kept, run []string
	seen := map[string]bool{}
	end := func() {
		kept = append(kept, linesThatTell(run, seen)...)
		run = run[:0]
	}
	var fence language.Fence
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimLeft(line, " \t")
		_, closes := fence.Read(bare)
		switch {
		case fence != "", closes, bare == "" && len(run) > 0, bare != "" && language.IsDump(bare):
			run = append(run, line)
		default:
			end()
			kept = append(kept, line)
		}
	}
	end()
	return strings.Join(kept, "\n")
}

// linesThatTell returns a short run as it is; of a long one those lines that tell what went wrong, else its first,
// each once in a prompt, and each a paragraph: what stood between them is gone. Lines that differ in digits alone, as
// those of a log do, are the same.
func linesThatTell(run []string, seen map[string]bool) []string {
	if len(run) <= longRun {
		return run
	}
	var first, told []string
	any := false
	for _, line := range run {
		bare := strings.Map(withoutDigits, strings.TrimSpace(line))
		tell := tells(bare)
		any = any || tell
		if strings.Trim(bare, "`~") == "" || seen[bare] {
			continue
		}
		paragraph := []string{"", line, ""}
		if len(first) == 0 {
			first = paragraph
		}
		if tell && len(told) < maxKept*len(paragraph) {
			seen[bare] = true
			told = append(told, paragraph...)
		}
	}
	if !any {
		return first
	}
	return told
}

func withoutDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}
