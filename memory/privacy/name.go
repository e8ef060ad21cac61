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
	upperCase  bool   // LIKE_THIS
	secret     string // the secret-like word in it
	atEnd      bool   // the name ends in that word, perhaps with a number behind it
}

// passwords and secrets are the words that make a name secret-like. A password may have been thought of by a person,
// and then does not look random.
var (
	passwords = []string{"password", "passwort", "passwd", "passphrase", "pwd", "pass"}
	secrets   = []string{
		"secretaccesskey", "secretid", "secret", "token", "apikey", "accesskey", "privatekey", "encryptionkey",
		"signingkey", "authkey", "accountkey", "sharedkey", "masterkey", "licensekey", "storagekey", "servicekey",
		"adminkey", "deploykey", "userkey", "appkey", "credentials", "credential", "creds", "signature", "sig", "sas",
		"auth", "authorization", "mnemonic", "clientkeydata",
	}
	// roots: each of the words above contains one, so that most names are ruled out quickly.
	roots = [][]byte{
		[]byte("key"), []byte("token"), []byte("pass"), []byte("secret"), []byte("auth"), []byte("cred"), []byte("pwd"),
		[]byte("sig"), []byte("sas"), []byte("mnemonic"),
	}

	// Names that end in one of harmlessEnds, or contain one of harmlessWords, say something about a secret
	// (token_count), or mean something else (tokenizer).
	harmlessEnds = []string{
		"count", "limit", "budget", "length", "len", "size", "name", "id", "ids", "type", "url", "uri", "endpoint", "host",
		"path", "file", "dir", "field", "label", "hint", "policy", "expiry", "expires", "expiration", "expiresin",
		"expiresat", "ttl", "ref", "prefix", "header", "provider", "manager", "version", "usage", "used", "hash", "at",
		"tokens", "secrets", "audience", "scope", "author", "algorithm", "alg", "format", "class", "kind", "method",
		"mode", "state", "regex", "pattern", "digest", "checksum",
	}
	harmlessWords = []string{
		"public", "pubkey", "csrf", "xsrf", "pagetoken", "nexttoken", "continuationtoken", "synctoken", "tokeniz",
		"tokenis", "author.", "maxtoken", "numtoken", "monkey", "hash", "checksum", "integrity", "digest", "etag",
		"fingerprint", "issuer",
	}
)

// harmless reports whether a plain name (plainName) says that its value is no secret.
func harmless(plain string) bool {
	return contains(plain, harmlessWords) ||
		slices.ContainsFunc(harmlessEnds, func(w string) bool { return strings.HasSuffix(plain, w) }) &&
			!strings.HasSuffix(plain, "secretid")
}

// identifier reports whether c may stand in a name.
func identifier(c byte) bool { return characters[c]&^otherSign != 0 }

// letters is the set of letters in a word, whatever their case: bit 0 is a. Two more bits say whether other characters
// stand in it.
type letters uint32

const (
	anyLetter letters = 1<<26 - 1
	nameSign  letters = 1 << 26 // a digit or a sign that names have
	otherSign letters = 1 << 27 // a sign that tokens have, and names do not
)

// characters has the characters that names and tokens of any kind consist of, each with its bit. A word is an unbroken
// run of them.
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

	// secretLetters are the sets of letters of the roots, and of the "phrase" in "pass phrase".
	secretLetters = func() (sets []letters) {
		for _, root := range roots {
			sets = append(sets, lettersOf(string(root)))
		}
		return append(sets, phraseLetters)
	}()
)

// mayBeSecret reports whether a word of these letters may contain a secret-like name. It rules out most words of a text
// at little cost.
func (l letters) mayBeSecret() bool {
	for _, set := range secretLetters {
		if l&set != set {
			continue
		}
		// "sig" and "sas" count alone, or in "signature": many words contain their letters
		if (set == sigLetters || set == sasLetters) && l&otherSign == 0 && l&anyLetter != set &&
			l&signature != signature {
			continue
		}
		return true
	}
	return false
}

// mayContinueName reports whether a word of these letters may be the second half of a name in two words: the "key" of
// "api key", the "phrase" of "pass phrase".
func (l letters) mayContinueName() bool {
	return l&anyLetter == keyLetters || l&anyLetter == phraseLetters
}

// nameBefore returns the plain name that the value at i is assigned to; empty where nothing is assigned.
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
	var buf [maxName]byte
	return string(plain(buf[:0], s))
}

// plain appends a name to buf: lower case, without its separators, no more than maxName bytes of it.
func plain(buf []byte, s string) []byte {
	for i := range min(len(s), maxName) {
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

const maxName = 80 // bytes of a name; a longer one is none

// secretName reports whether a word is a secret-like name; before is the word before it, where that may be its first
// half.
func secretName(word, before string) (name, bool) {
	if len(word) > maxName || len(word) < 3 {
		return name{}, false
	}
	var buf [2 * maxName]byte
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
			if s == "pass" && !endsInPass(word) {
				continue
			}
			n := name{plain: string(p), secret: s,
				upperCase: word == strings.ToUpper(word) && strings.ToLower(word) != word}
			n.atEnd = strings.Trim(n.plain[at+len(s):], "0123456789") == ""
			return n, n.atEnd && !contains(n.plain, harmlessWords) || !n.atEnd && !harmless(n.plain)
		}
	}
	return name{}, false
}

// countedPasses are the words before "pass" that make it a run over something, as in first_pass.
var countedPasses = []string{
	"first", "second", "third", "last", "next", "one", "two", "multi", "single", "render", "by",
}

// endsInPass reports whether a name ends in the word "pass" and means a password: not compass, not first_pass.
func endsInPass(word string) bool {
	before, ok := cutSuffixFold(word, "pass")
	if !ok {
		return false
	}
	if before == "" || strings.IndexByte("_-.", before[len(before)-1]) >= 0 {
		return !slices.Contains(countedPasses, strings.ToLower(strings.Trim(before, "_-.")))
	}
	return word[len(before)] == 'P' && class(before[len(before)-1]) == 'a' &&
		!slices.Contains(countedPasses, strings.ToLower(before))
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
