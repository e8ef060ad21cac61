package memory

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
	passwords = []string{"password", "passwort", "passwd", "passphrase", "pwd"}
	secrets   = []string{
		"secretaccesskey", "secretid", "secret", "token", "apikey", "accesskey", "privatekey", "encryptionkey", "signingkey", "authkey", "accountkey", "sharedkey",
		"masterkey", "licensekey", "storagekey", "servicekey", "adminkey", "deploykey", "userkey", "appkey", "credentials", "credential", "creds", "signature", "sig",
		"sas", "auth", "authorization",
	}
	// roots are in all of them, for a quick no.
	roots = [][]byte{[]byte("key"), []byte("token"), []byte("pass"), []byte("secret"), []byte("auth"), []byte("cred"), []byte("pwd"), []byte("sig"), []byte("sas")}

	// harmlessEnds and harmlessWords turn a secret-like name into one that tells about a secret, or of something else.
	harmlessEnds = []string{
		"count", "limit", "budget", "length", "len", "size", "name", "id", "ids", "type", "url", "uri", "endpoint", "host", "path", "file", "dir", "field", "label", "hint",
		"policy", "expiry", "expires", "expiration", "expiresin", "expiresat", "ttl", "ref", "prefix", "header", "provider", "manager", "version", "usage", "used", "hash",
		"at", "tokens", "secrets", "audience", "scope", "author", "algorithm", "alg", "format", "class", "kind", "method", "mode", "state", "regex", "pattern", "digest", "checksum",
	}
	harmlessWords = []string{
		"public", "pubkey", "csrf", "xsrf", "pagetoken", "nexttoken", "continuationtoken", "synctoken", "tokeniz", "tokenis", "author.", "maxtoken", "numtoken", "monkey",
		"hash", "checksum", "integrity", "digest", "etag", "fingerprint", "issuer",
	}
)

// harmless reports whether a name promises a value that is public or no secret.
func harmless(plain string) bool {
	return contains(plain, harmlessWords) ||
		slices.ContainsFunc(harmlessEnds, func(w string) bool { return strings.HasSuffix(plain, w) }) && !strings.HasSuffix(plain, "secretid")
}

func identifier(c byte) bool { return class(c) != 0 || c == '_' || c == '-' || c == '.' }

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

// assignments finds the values of secret-like names: NAME=value, "name": "value", name := `value`, --name value, <name>value, name is value.
func (f *findings) assignments(text string) {
	before := "" // the word before, for "api key"
	for i := 0; i < len(text); {
		if !identifier(text[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(text) && identifier(text[end]) {
			end++
		}
		word := text[i:end]
		if n, ok := secretName(word, before); ok {
			n.start, n.end = i, end
			f.assigned(text, n)
		}
		before = word
		i = end
	}
}

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
			if at < 0 || (len(s) <= 4 && s != "pwd" || s == "signature") && at+len(s) != len(p) || (s == "sig" || s == "sas") && len(p) != 3 { // "author" has no auth in it
				continue
			}
			n := name{plain: string(p), secret: s, shouting: word == strings.ToUpper(word) && strings.ToLower(word) != word}
			n.last = strings.Trim(n.plain[at+len(s):], "0123456789") == ""
			return n, n.last && !contains(n.plain, harmlessWords) || !n.last && !harmless(n.plain)
		}
	}
	return name{}, false
}

func contains(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// joint is what stands between a name and its value: quotes that close the name, an operator or "is", a type in between. The groups are the operator, the
// type, and the quote that opens the value.
var joint = newPattern("^(?:\\\\?[\"'`])?\\]?\\s{0,4}(?:[A-Za-z.]{1,20}\\s{1,3})??((?::{1,3}|[?.+|])?={1,3}>?|:|\\|\\||>|,|\\s(?:is|was|ist)\\s*:?)\\s*(?:([A-Za-z.]{1,20})\\s*=\\s*)?(\\\\?[\"'`])?")

func (f *findings) assigned(text string, n name) {
	rest := text[n.end:min(len(text), n.end+mostValue)]
	flag := strings.HasPrefix(text[n.start:], "--")
	at := joint().FindStringSubmatchIndex(rest)
	if at == nil {
		if !flag || !strings.HasPrefix(rest, " ") {
			return
		}
		at = []int{0, 1, 0, 1, -1, -1, -1, -1}
	}
	operator := strings.TrimSpace(rest[at[2]:at[3]])
	opening := byte(0)
	if n.start > 0 {
		opening = text[n.start-1]
	}
	switch {
	case opening == '{' && n.start > 1 && text[n.start-2] == '$', // ${NAME:-default}
		opening == ':' && operator == ":", // a part of a resource name
		opening != '<' && operator == ">": // no element
		return
	}
	quote := ""
	if at[6] >= 0 {
		quote = rest[at[6]:at[7]]
	} else if flag && at[1] < len(rest) && strings.IndexByte("\"'", rest[at[1]]) >= 0 {
		quote = rest[at[1] : at[1]+1]
		at[1]++
	}
	if operator == "," && (quote == "" || strings.IndexByte("\"'`", rest[0]) < 0) {
		return
	}
	value := rest[at[1]:]
	if quote != "" {
		value, _, _ = strings.Cut(value, quote)
	} else {
		value = unquoted(value, opening == '?' || opening == '&')
		if operator == ">" && !strings.HasPrefix(strings.TrimLeft(rest[at[1]+len(value):], " \t\r\n"), "</") {
			return
		}
	}
	v := assignment{n, value, quote != "", operator}
	if v.secret() {
		start := n.end + at[1]
		f.add(start, start+len(value), v.kind())
	}
}

const mostValue = 4 << 10

// unquoted gives the value at the start of s: to white space, a quote, a bracket of markup, or what separates it from the next.
func unquoted(s string, query bool) string {
	stop := "\"'`<> \t\r\n;"
	if query {
		stop += "&#"
	}
	if end := strings.IndexAny(s, stop); end >= 0 {
		s = s[:end]
	}
	if end := strings.Index(s, "\\n"); end >= 0 {
		s = s[:end]
	}
	if end := strings.IndexByte(s, ','); end >= 0 && strings.IndexByte(s[end:], '=') > 0 {
		s = s[:end]
	}
	return strings.TrimRight(s, ".,:)]}")
}

// An assignment is a secret-like name and what it was given.
type assignment struct {
	name     name
	value    string
	quoted   bool
	operator string
}

func (a assignment) password() bool {
	return slices.Contains(passwords, a.name.secret)
}

func (a assignment) kind() string {
	if a.password() {
		return "password"
	}
	return "secret"
}

var (
	codePath = newPattern(`^[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)+$`)
	filePath = newPattern(`^(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@-]+(?:[/\\]|\.[a-z]{1,5}$)|^[\w./-]+\.(?:pem|key|crt|cer|p12|pfx|jks|json|ya?ml|toml|txt|env|go|ts|js|py|md)$`)
	version  = newPattern(`^v?\d+(?:[.:/-]\d+)+\w*$`)
)

// secret decides. The surer the name and the more the writing looks like configuration, the less must the value look like a secret by itself.
func (a assignment) secret() bool {
	v := a.value
	if len(v) < 6 || placeholder(v) || strings.Contains(v, "://") || filePath().MatchString(v) || version().MatchString(v) {
		return false
	}
	if strings.HasPrefix(plainName(v), a.name.plain) || !a.quoted && (strings.ContainsAny(v, "()[]{}") || codePath().MatchString(v) && wordy(v)) {
		return false
	}
	if low := []byte(strings.ToLower(v)); !a.quoted && !a.name.shouting && len(v) < 40 && !a.password() && slices.ContainsFunc(roots, func(r []byte) bool { return bytes.HasSuffix(low, r) }) {
		return false // a variable that is named like what it holds
	}
	prose := a.operator == "is" || a.operator == "was" || a.operator == "ist"
	if strings.Contains(v, " ") {
		return a.quoted && a.name.secret == "passphrase" && a.name.last && !strings.Contains(v, "pass")
	}
	if len(v) >= 16 && (random(v) || hexadecimal(v) && digitsIn(v) && entropy(v) >= 2.5) {
		return true
	}
	if !a.name.last || a.name.secret == "auth" || a.name.secret == "sig" || a.name.secret == "sas" {
		return false
	}
	strong := digitsIn(v) || strings.ContainsAny(v, "!@#%^&*+~?$")
	letters := strings.ContainsFunc(v, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
	switch {
	case len(v) >= 10 && 3*turns(v) >= len(v) && !wordy(v):
		return true
	case a.password() && strong:
		return true
	case a.password():
		return !prose && letters && (a.quoted && !strings.Contains(v, "assw") || a.name.shouting && len(v) >= 8)
	case strong && letters && len(v) >= 8 && !wordy(v):
		return true
	}
	return strong && letters && len(v) >= 8 && (a.quoted || a.name.shouting) && !codePath().MatchString(v)
}
