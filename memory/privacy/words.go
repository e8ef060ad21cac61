package privacy

import (
	"sort"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// wordBytes are the bytes that names and tokens of any kind consist of. A word is an unbroken run of them.
var wordBytes = func() (set [256]bool) {
	for c := range set {
		set[c] = inName(byte(c)) || strings.IndexByte("~+/=%", byte(c)) >= 0
	}
	return set
}()

// inName reports whether c may stand in a name.
func inName(c byte) bool { return class(c) != 0 || c == '_' || c == '-' || c == '.' }

// words finds keys and random strings among the words of text.
func (f *findings) words(text string) {
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && wordBytes[text[i]] {
			i++
		}
		if i-start >= leastWord {
			f.word(text, start, i)
		}
	}
}

const leastWord = 17 // bytes of the shortest key, prefix included

// word looks for a key or a random string in text[start:end], which is one word.
func (f *findings) word(text string, start, end int) {
	for end > start && (text[end-1] == '.' || text[end-1] == '/') { // the sentence's full stop
		end--
	}
	if end-start < leastWord {
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
	f.randomStrings(text, start, end)
}

var discordBot = pattern.New(`^[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}$`)

// unbroken reports whether s is letters and digits alone.
func unbroken(s string) bool {
	for i := range len(s) {
		if class(s[i]) == 0 {
			return false
		}
	}
	return true
}

// randomStrings finds what is too random to be anything but a secret: 32 to 200 characters, outside of URLs, hashes,
// public keys and symbol names.
func (f *findings) randomStrings(text string, start, end int) {
	if n := sort.Search(len(f.public), func(n int) bool { return f.public[n].start > start }); n > 0 &&
		start < f.public[n-1].end {
		return
	}
	before := text[max(0, start-16):start]
	if strings.Contains(text[start:end], "//") || strings.HasSuffix(before, "://") ||
		strings.HasSuffix(before, "base64,") || strings.HasSuffix(before, "h1:") ||
		strings.HasSuffix(before, "zh:") || strings.HasSuffix(before, "SHA256:") ||
		strings.HasSuffix(before, "sha256:") || strings.HasSuffix(before, "sha512:") {
		return
	}
	for i := start; i < end; {
		if c := text[i]; c == '.' || c == '~' || c == '%' || c == '=' {
			i++
			continue
		}
		stop := i
		for stop < end && strings.IndexByte(".~%=", text[stop]) < 0 {
			stop++
		}
		called := stop < len(text) && text[stop] == '(' // a function's name
		part := text[i:stop]
		if !called && len(part) >= 32 && len(part) <= 200 && !publicByPrefix(part) && veryRandom(part) &&
			!harmless(nameBefore(text, i)) {
			f.add(i, stop, "high-entropy")
		}
		i = stop
	}
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
