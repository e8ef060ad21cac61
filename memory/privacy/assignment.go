package privacy

import (
	"slices"
	"strings"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// separator is what stands between a name and its value: a quote that closes the name, an operator or "is", perhaps a
// type. The groups are the operator, the type, and the quote that opens the value.
var separator = pattern.New("^(?:\\\\?[\"'`]|%22)?\\]?\\s{0,4}(?:[A-Za-z.]{1,20}\\s{1,3})??((?::{1,3}|[?.+|])?={1,3}>?|:|\\|\\||>|,|%3[AaDd]|\\s(?:is|was|ist)\\s*:?)\\s*(?:([A-Za-z.]{1,20})\\s*=\\s*)?(\\\\?[\"'`]|%22)?")

// assigned looks for the value that follows the name n, and adds it if it is a secret.
func (f *findings) assigned(text string, n name) {
	if f.tabled(text, n) {
		return
	}
	rest := text[n.end:min(len(text), n.end+maxValue)]
	l, ok := linkBehind(text, n, rest)
	if !ok || !l.assigns(text, n, rest) {
		return
	}
	value, closed, ok := l.value(rest[l.size:])
	if !closed && n.end+maxValue > len(text) { // more text may belong to it
		f.wait(n.start, l.quote)
	}
	start, isLine := n.end+l.size, false
	if l.operator == ":" && l.quote == "" {
		if scalar, at := blockScalar(text, n.end); at > 0 {
			value, start, isLine = scalar, at, true
		} else if value != "" {
			isLine = f.inYAML(text, n.start)
		}
	}
	if a := (assignment{n, value, l.quote != "", l.operator, isLine}); ok && a.isSecret() {
		f.addNamed(start, start+len(value), a.kind())
	}
}

// A link is what stands between a name and its value.
type link struct {
	before   byte   // what stands before the name
	operator string // "" behind a flag
	quote    string // that opens the value
	size     int    // bytes from the name to the value
}

func linkBehind(text string, n name, rest string) (l link, ok bool) {
	if n.start > 0 {
		l.before = text[n.start-1]
	}
	isFlag := strings.HasPrefix(text[n.start:], "--")
	at := separator().FindStringSubmatchIndex(rest)
	switch {
	case at != nil:
		l.operator, l.size = strings.TrimSpace(rest[at[2]:at[3]]), at[1]
		if at[6] >= 0 {
			l.quote = rest[at[6]:at[7]]
		}
	case isFlag && strings.HasPrefix(rest, " "):
		l.size = 1
	default:
		return l, false
	}
	if isFlag && l.quote == "" && l.size < len(rest) && strings.IndexByte("\"'", rest[l.size]) >= 0 {
		l.quote = rest[l.size : l.size+1]
		l.size++
	}
	return l, true
}

// assigns reports whether a link means that the name is given a value.
func (l link) assigns(text string, n name, rest string) bool {
	switch {
	case l.before == '{' && n.start > 1 && text[n.start-2] == '$', // ${NAME:-default}
		l.before == ':' && l.operator == ":", // a part of a resource name
		l.before != '<' && l.operator == ">", // not an XML element
		text[n.start:n.end] == "PASS" && testRunner(rest):
		return false
	case l.operator == ",": // the next argument of a call, on the same line: prose has commas, too
		return l.quote != "" && l.quote != "`" && strings.IndexByte("\"'", rest[0]) >= 0 &&
			!strings.Contains(rest[:l.size], "\n")
	}
	return true
}

// value returns the value at the start of s. closed: its end is seen. ok is false where it is none.
func (l link) value(s string) (value string, closed, ok bool) {
	if l.quote != "" {
		value, _, closed = strings.Cut(s, l.quote)
		return value, closed, true
	}
	value = unquoted(s, l.before == '?' || l.before == '&')
	if strings.HasPrefix(l.operator, "%") {
		value, _, _ = strings.Cut(value, "%")
	}
	if l.operator != ">" {
		return value, true, true
	}
	after := strings.TrimLeft(s[len(value):], " \t\r\n")
	return value, len(after) >= 2, strings.HasPrefix(after, "</")
}

// testRunner reports whether PASS is what a test runner prints.
func testRunner(rest string) bool {
	return !strings.HasPrefix(rest, "=") || strings.Contains(rest, "PASS")
}

const maxValue = 4 << 10 // bytes behind a name that are looked at

// unquoted returns the value at the start of s, up to white space, a quote, an angle bracket, or what separates it from
// the next assignment; with query, also to the end of a URL's parameter.
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
	isYAML   bool // a line of YAML
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
	codePath = pattern.New(`^[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)+$`)
	filePath = pattern.New(`^(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@-]+(?:[/\\]|\.[a-z]{1,5}$)|` +
		`^[\w./-]+\.(?:pem|key|crt|cer|p12|pfx|jks|json|ya?ml|toml|txt|env|go|ts|js|py|md)$`)
	number  = pattern.New(`^[+-]?(?:0[xX][0-9a-fA-F_]{1,16}|[0-9][0-9_.]*)$`)
	version = pattern.New(`^v?\d+(?:[.:/-]\d+)+\w{0,10}$`)
)

// isPassphrase tells a password of several words from a text about passwords, as forms and error messages have it.
func (a assignment) isPassphrase() bool {
	v := strings.ToLower(a.value)
	if !a.quoted || !a.password() || !a.name.atEnd || strings.Contains(v, "pass") {
		return false
	}
	if a.name.secret == "passphrase" {
		return true
	}
	words := strings.Fields(v)
	said := func(word string) bool { return sentenceWords()[strings.Trim(word, ".,:!?")] }
	switch {
	case len(v) > 80 || strings.ContainsAny(v, "\n{}()<>"):
		return false
	case a.name.upperCase:
		return true
	case len(words) > 8 || slices.ContainsFunc(words, said):
		return false
	case digitsIn(v) || strings.ContainsAny(v, "!@#$%^&*+~"):
		return true
	}
	return len(words) >= 3 && class(a.value[0]) != 'A' && !strings.ContainsAny(v, ".:?,/=")
}

// sentenceWords occur in texts about passwords, and seldom in passphrases.
var sentenceWords = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`a an the is are was be must should can cannot not no of for to in on at by with
		from your you my our their it this that these and or if when then than please enter type choose confirm invalid
		wrong incorrect missing required least characters minimum maximum new old current empty does do match user name
		use used using`) {
		set[w] = true
	}
	return set
})

// variable looks for what Terraform gives to a secret-like variable when nobody sets it.
func (f *findings) variable(text string, at int) {
	m := variableDefault().FindStringSubmatchIndex(text[at:min(len(text), at+maxValue)])
	if m == nil {
		return
	}
	n, ok := secretName(text[at+m[2]:at+m[3]], "")
	if v := (assignment{n, text[at+m[4] : at+m[5]], true, "=", false}); ok && v.isSecret() {
		f.addNamed(at+m[4], at+m[5], v.kind())
	}
}

var variableDefault = pattern.New(`^variable\s+"([^"]{1,80})"\s*\{[^{}]{0,400}?\bdefault\s*=\s*"([^"\n]{4,})"`)

// isSecret decides whether the value is a secret. The clearer the name says so, and the more the assignment looks like
// configuration, the less must the value itself look like a secret.
func (a assignment) isSecret() bool {
	v := a.value
	isProse := slices.Contains([]string{"is", "was", "ist", "|"}, a.operator)
	if isProse {
		v = strings.TrimRight(v, ".,;:!?")
	}
	switch {
	case a.isOther(v), !a.quoted && a.isExpression(v):
		return false
	case strings.ContainsAny(v, space):
		return a.isPassphrase()
	case len(v) >= 16 && (random(v) || hexadecimal(v) && digitsIn(v) && entropy(v) >= 2.5):
		return true
	case !a.name.atEnd, slices.Contains([]string{"auth", "sig", "sas"}, a.name.secret):
		return false
	case len(v) >= 10 && 3*classChanges(v) >= len(v) && !wordy(v):
		return true
	}
	return a.isChosen(v, isProse)
}

func isLatin(r rune) bool { return r < 0x80 && isLetter(byte(r)) }

// isOther reports whether a value is known to be something else, such as a path, a version or a number.
func (a assignment) isOther(v string) bool {
	return len(v) < 6 || placeholder(v) || strings.Contains(v, "://") ||
		strings.HasPrefix(plainName(v), a.name.plain) || filePath().MatchString(v) ||
		version().MatchString(v) || number().MatchString(v)
}

// isExpression reports whether a value without quotes is code: a call, a path of names, or the name of another variable
// (token = access_token).
func (a assignment) isExpression(v string) bool {
	if strings.ContainsAny(v, "()[]{}") || codePath().MatchString(v) && wordy(v) {
		return true
	}
	low := strings.ToLower(v)
	return !a.name.upperCase && len(v) < 40 && !a.password() &&
		slices.ContainsFunc(roots, func(root string) bool { return strings.HasSuffix(low, root) })
}

// isChosen reports whether a person may have thought of a value.
func (a assignment) isChosen(v string, isProse bool) bool {
	strong := digitsIn(v) || strings.ContainsAny(v, "!@#%^&*+~?$")
	letters := strings.IndexFunc(v, isLatin) >= 0
	if a.password() {
		return strong || !isProse && letters &&
			(a.quoted && !strings.Contains(v, "assw") || a.name.upperCase && len(v) >= 8 ||
				a.isYAML && len(v) >= 8 && !strings.Contains(v, "assw") && v == strings.ToLower(v))
	}
	isTold := a.quoted || a.name.upperCase
	return strong && letters && len(v) >= 8 && (!wordy(v) || isTold && !codePath().MatchString(v))
}
