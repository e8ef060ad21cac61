package privacy

import (
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
	secretWords = slices.Concat(passwords, secrets)
	// roots: each of the words above contains one.
	roots = []string{"key", "token", "pass", "secret", "auth", "cred", "pwd", "sig", "sas", "mnemonic"}

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

// nameBehind returns the last name before i: "api" for the "key" of "api key".
func nameBehind(text string, i int) string {
	end := i
	for end > 0 && !inName(text[end-1]) {
		end--
	}
	start := end
	for start > 0 && inName(text[start-1]) {
		start--
	}
	return text[start:end]
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
	for start > 0 && end-start < 80 && inName(text[start-1]) {
		start--
	}
	return plainName(text[start:end])
}

// plainName returns a name in lower case, without what stands between its words.
func plainName(s string) string { return strings.ToLower(betweenWords.Replace(s)) }

var betweenWords = strings.NewReplacer("-", "", "_", "", ".", "")

const maxName = 80 // bytes of a name; a longer one is none

// secretName reports whether a word is a secret-like name; before is the word before it, where that may be its first
// half.
func secretName(word, before string) (name, bool) {
	if len(word) > maxName || len(word) < 3 {
		return name{}, false
	}
	p := plainName(word)
	if p == "key" || p == "phrase" {
		p = plainName(before) + p
	}
	for _, s := range secretWords {
		at := strings.LastIndex(p, s)
		if at < 0 || !means(word, p, s) {
			continue
		}
		n := name{plain: p, secret: s, upperCase: word == strings.ToUpper(word) && strings.ToLower(word) != word}
		n.atEnd = strings.Trim(p[at+len(s):], "0123456789") == ""
		return n, n.atEnd && !contains(p, harmlessWords) || !n.atEnd && !harmless(p)
	}
	return name{}, false
}

// means reports whether a word that stands in a plain name is meant: "author" has no auth in it.
func means(word, plain, s string) bool {
	switch {
	case s == "sig", s == "sas":
		return plain == s
	case s == "pass":
		return endsInPass(word)
	}
	return len(s) > 4 && s != "signature" || s == "pwd" || strings.HasSuffix(plain, s)
}

// countedPasses are the words before "pass" that make it a run over something, as in first_pass.
var countedPasses = []string{
	"first", "second", "third", "last", "next", "one", "two", "multi", "single", "render", "by",
}

// endsInPass reports whether a name ends in the word "pass" and means a password: not compass, not first_pass.
func endsInPass(word string) bool {
	at := len(word) - len("pass")
	if at < 0 || !strings.EqualFold(word[at:], "pass") {
		return false
	}
	before := strings.ToLower(word[:at])
	if before == "" || strings.IndexByte("_-.", before[len(before)-1]) >= 0 {
		return !slices.Contains(countedPasses, strings.Trim(before, "_-."))
	}
	return word[at] == 'P' && class(word[at-1]) == 'a' && !slices.Contains(countedPasses, before)
}

func contains(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
