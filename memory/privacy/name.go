package privacy

import (
	"bytes"
	"slices"
	"strings"
)

// A name is an identifier that something may be assigned to.
type name struct {
	start, end int
	plain      string // lower case, without "-", "_" and "."
	shouting   bool   // LIKE_THIS
	secret     string // the secret-like word in it
	last       bool   // that word is its end
}

// secrets are the words that make a name secret-like; password ones mean that a person may have made the secret up.
var (
	passwords = []string{"password", "passwort", "passwd", "passphrase", "pwd", "pass"}
	secrets   = []string{
		"secretaccesskey", "secretid", "secret", "token", "apikey", "accesskey", "privatekey", "encryptionkey",
		"signingkey", "authkey", "accountkey", "sharedkey",
		"masterkey", "licensekey", "storagekey", "servicekey", "adminkey", "deploykey", "userkey", "appkey", "credentials",
		"credential", "creds", "signature", "sig",
		"sas", "auth", "authorization", "mnemonic", "clientkeydata",
	}
	// roots are in all of them, for a quick no.
	roots = [][]byte{
		[]byte("key"), []byte("token"), []byte("pass"), []byte("secret"), []byte("auth"), []byte("cred"), []byte("pwd"),
		[]byte("sig"), []byte("sas"), []byte("mnemonic"),
	}

	// harmlessEnds and harmlessWords turn a secret-like name into one that tells about a secret, or of something else.
	harmlessEnds = []string{
		"count", "limit", "budget", "length", "len", "size", "name", "id", "ids", "type", "url", "uri", "endpoint", "host",
		"path", "file", "dir", "field", "label", "hint",
		"policy", "expiry", "expires", "expiration", "expiresin", "expiresat", "ttl", "ref", "prefix", "header",
		"provider", "manager", "version", "usage", "used", "hash",
		"at", "tokens", "secrets", "audience", "scope", "author", "algorithm", "alg", "format", "class", "kind", "method",
		"mode", "state", "regex", "pattern", "digest", "checksum",
	}
	harmlessWords = []string{
		"public", "pubkey", "csrf", "xsrf", "pagetoken", "nexttoken", "continuationtoken", "synctoken", "tokeniz",
		"tokenis", "author.", "maxtoken", "numtoken", "monkey",
		"hash", "checksum", "integrity", "digest", "etag", "fingerprint", "issuer",
	}
)

// harmless reports whether a name promises a value that is public or no secret.
func harmless(plain string) bool {
	return contains(plain, harmlessWords) ||
		slices.ContainsFunc(harmlessEnds, func(w string) bool { return strings.HasSuffix(plain, w) }) &&
			!strings.HasSuffix(plain, "secretid")
}

func identifier(c byte) bool { return characters[c]&^otherSign != 0 }

// letters are those of a word, in whatever case, and a bit each for what else stands in it.
type letters uint32

const (
	anyLetter letters = 1<<26 - 1
	nameSign  letters = 1 << 26 // of names
	otherSign letters = 1 << 27 // of tokens, and of no names
)

// characters are those of tokens of any kind; strings of them are looked at as one.
var characters = func() (set [256]letters) {
	for c := range set {
		switch c := byte(c); class(c) {
		case 'a', 'A':
			set[c] = 1 << (c | 0x20 - 'a')
		case '0':
			set[c] = nameSign
		}
	}
	for _, c := range []byte("_-.") {
		set[c] = nameSign
	}
	for _, c := range []byte("~+/=%") {
		set[c] = otherSign
	}
	return set
}()

func lettersOf(word string) (set letters) {
	for i := range len(word) {
		set |= characters[word[i]]
	}
	return set
}

var (
	keyLetters, phraseLetters = lettersOf("key"), lettersOf("phrase")
	sigLetters, sasLetters    = lettersOf("sig"), lettersOf("sas")
	signature                 = lettersOf("signature")

	// secretLetters are those of what makes a name secret-like: the roots, and "phrase" behind the name before it.
	secretLetters = func() (sets []letters) {
		for _, root := range roots {
			sets = append(sets, lettersOf(string(root)))
		}
		return append(sets, phraseLetters)
	}()
)

// mayBeSecret reports whether a word of such letters may be, or hold, a secret-like name: most words of a text have not
// what it takes.
func (l letters) mayBeSecret() bool {
	for _, set := range secretLetters {
		if l&set != set {
			continue
		}
		// these count alone, or in "signature"
		if (set == sigLetters || set == sasLetters) && l&otherSign == 0 && l&anyLetter != set &&
			l&signature != signature {
			continue
		}
		return true
	}
	return false
}

// follow reports whether a name of such letters may be the second half of one: "key" or "phrase".
func (l letters) follow() bool { return l&anyLetter == keyLetters || l&anyLetter == phraseLetters }

// nameBefore gives the plain name that the value at i is assigned to; empty when it is not.
func nameBefore(text string, i int) string {
	end := i
	for end > 0 && strings.IndexByte(" \t\"'`=:>", text[end-1]) >= 0 {
		end--
	}
	if end == i || strings.TrimSpace(text[end:i]) == "" {
		return ""
	}
	start := end
	for start > 0 && end-start < 80 && identifier(text[start-1]) {
		start--
	}
	return plainName(text[start:end])
}

func plainName(s string) string {
	var buf [mostName]byte
	return string(plain(buf[:0], s))
}

// plain appends a name to buf: lower case, without its separators, no more than mostName bytes of it.
func plain(buf []byte, s string) []byte {
	for i := range min(len(s), mostName) {
		switch c := s[i]; {
		case c == '-', c == '_', c == '.':
		case 'A' <= c && c <= 'Z':
			buf = append(buf, c+'a'-'A')
		default:
			buf = append(buf, c)
		}
	}
	return buf
}

const mostName = 80

func secretName(word, before string) (name, bool) {
	if len(word) > mostName || len(word) < 3 {
		return name{}, false
	}
	var buf [2 * mostName]byte
	p := plain(buf[:0], word)
	if string(p) == "key" || string(p) == "phrase" {
		p = plain(plain(buf[:0], before), word)
	}
	if !slices.ContainsFunc(roots, func(r []byte) bool { return bytes.Contains(p, r) }) {
		return name{}, false
	}
	for _, list := range [][]string{passwords, secrets} {
		for _, s := range list {
			at := bytes.LastIndex(p, []byte(s))
			if at < 0 || (s == "sig" || s == "sas") && len(p) != 3 {
				continue
			}
			if (len(s) <= 4 && s != "pwd" || s == "signature") && at+len(s) != len(p) { // "author" has no auth in it
				continue
			}
			if s == "pass" && !passes(word) {
				continue
			}
			n := name{plain: string(p), secret: s,
				shouting: word == strings.ToUpper(word) && strings.ToLower(word) != word}
			n.last = strings.Trim(n.plain[at+len(s):], "0123456789") == ""
			return n, n.last && !contains(n.plain, harmlessWords) || !n.last && !harmless(n.plain)
		}
	}
	return name{}, false
}

// runs are the words before "pass" that make it a run over something.
var runs = []string{"first", "second", "third", "last", "next", "one", "two", "multi", "single", "render", "by"}

// passes reports whether a name ends in the word "pass" and not in a compass or a first pass.
func passes(word string) bool {
	before, ok := cutSuffixFold(word, "pass")
	if !ok || word == "PASS" { // what tests print
		return false
	}
	if before == "" || strings.IndexByte("_-.", before[len(before)-1]) >= 0 {
		return !slices.Contains(runs, strings.ToLower(strings.Trim(before, "_-.")))
	}
	return word[len(before)] == 'P' && class(before[len(before)-1]) == 'a' &&
		!slices.Contains(runs, strings.ToLower(before))
}

func cutSuffixFold(s, suffix string) (before string, ok bool) {
	n := len(s) - len(suffix)
	if n < 0 || !strings.EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}

func contains(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
