package privacy

import (
	"slices"
	"sort"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// words finds keys and random strings among the words of text.
func (f *findings) words(text string) {
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && wordBytes[text[i]] {
			i++
		}
		if i-start >= minWord {
			f.word(text, start, i)
		}
		if i > start && i < len(text) && (text[i] == '\n' || text[i] == '\r') {
			f.cutKey(text, start, i)
		}
	}
}

// cutKey looks for a key that a line's end has cut: text[start:end] ends a line in the middle of one, and the next line
// begins with its rest.
func (f *findings) cutKey(text string, start, end int) {
	at := start
	for at+1 < end && !slices.ContainsFunc(prefixes().at(text[at], text[at+1]), func(p prefix) bool {
		return p.telling() && strings.HasPrefix(text[at:end], p.text)
	}) {
		at++
	}
	if at+1 >= end {
		return
	}
	indent := text[end:min(len(text), end+maxIndent)]
	from := end + len(indent) - len(strings.TrimLeft(indent, space))
	to := from
	for to < len(text) && inName(text[to]) {
		to++
	}
	if _, _, whole := key(text, at, end); to == len(text) && !whole {
		f.wait(at, "")
	}
	rest := text[from:to]
	isRest := len(rest) >= minRest && (mixed(rest) || digitsIn(rest)) && !wordy(rest)
	if strings.Count(text[end:from], "\n") != 1 || !isRest {
		return
	}
	whole := text[at:end] + rest
	if _, kind, ok := key(whole, 0, len(whole)); ok {
		f.add(at, end, kind)
		f.add(from, to, kind)
	}
}

const (
	maxIndent = 16 // bytes of white space between the parts of a key that a line's end has cut
	minRest   = 4  // bytes of its second part
)

// word looks for a key or a random string in text[start:end], which is one word.
func (f *findings) word(text string, start, end int) {
	for end > start && (text[end-1] == '.' || text[end-1] == '/') { // the sentence's full stop
		end--
	}
	if end-start < minWord {
		return
	}
	if at, kind, ok := key(text, start, end); ok {
		f.add(at, end, kind)
		return
	}
	if end-start >= 58 && discordBot().MatchString(text[start:end]) {
		f.add(start, end, "discord")
		return
	}
	value := start + 1 + strings.LastIndexByte(strings.TrimRight(text[start:end], "="), '=')
	if kind, ok := encodedKey(text[value:end]); ok {
		f.add(value, end, kind)
		return
	}
	if isTrello(text, value, end) {
		f.add(value, end, "trello")
		return
	}
	f.randomStrings(text, start, end)
}

// isTrello reports whether text[start:end] is a key of Trello's: it looks like a hash, and only what stands before it
// says what it is.
func isTrello(text string, start, end int) bool {
	return end-start == 32 && hexadecimal(text[start:end]) && mixed(text[start:end]) &&
		strings.Contains(strings.ToLower(text[max(0, start-64):start]), "trello")
}

var discordBot = pattern.New(`^[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}$`)

// randomStrings finds what is too random to be anything but a secret, between the signs of a word.
func (f *findings) randomStrings(text string, start, end int) {
	before := text[max(0, start-16):start]
	if f.isPublic(start) || strings.Contains(text[start:end], "//") ||
		slices.ContainsFunc(publicBehind, func(s string) bool { return strings.HasSuffix(before, s) }) {
		return
	}
	for i := start; i < end; {
		stop := i
		for stop < end && strings.IndexByte(".~%=", text[stop]) < 0 {
			stop++
		}
		if randomString(text, i, stop) {
			f.add(i, stop, "high-entropy")
		}
		i = stop + 1
	}
}

// publicBehind are what stands before a URL's rest, an image or a hash.
var publicBehind = []string{"://", "base64,", "h1:", "zh:", "SHA256:", "sha256:", "sha512:"}

// isPublic reports whether what begins at i stands in a public block or a URL.
func (f *findings) isPublic(i int) bool {
	n := sort.Search(len(f.public), func(n int) bool { return f.public[n].start > i })
	return n > 0 && i < f.public[n-1].end
}

// randomString reports whether text[start:end] is random, 32 to 200 characters, and neither something public nor the
// name of a function.
func randomString(text string, start, end int) bool {
	s, isCalled := text[start:end], end < len(text) && text[end] == '('
	return len(s) >= 32 && len(s) <= 200 && !isCalled && !publicByPrefix(s) && veryRandom(s) &&
		!harmless(nameBefore(text, start))
}

// publicByPrefix reports whether part begins like something public: a hash that says so, a compiler's symbol, a public
// key, or an id such as "chatcmpl-…", whose prefix says what it is and names no secret.
func publicByPrefix(part string) bool {
	for _, p := range []string{"sha1-", "sha256-", "sha384-", "sha512-", "md5-", "_Z", "__Z", "_R", "AAAAB3Nza",
		"AAAAC3Nza", "AAAAE2Vj", "MII"} {
		if strings.HasPrefix(part, p) {
			return true
		}
	}
	at := strings.IndexAny(part, "_-")
	if at < 2 || at > 12 || len(part)-at > 40 {
		return false
	}
	for i := range at {
		if class(part[i]) != 'a' {
			return false
		}
	}
	for _, s := range []string{"sk", "key", "secret", "token", "pat", "pw", "api", "live", "test", "auth"} {
		if strings.Contains(part[:at], s) {
			return false
		}
	}
	return true
}
