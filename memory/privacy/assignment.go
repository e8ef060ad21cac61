package privacy

import (
	"slices"
	"strings"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// separator is what stands between a name and its value: a quote that closes the name, an operator or "is", perhaps a
// type. The groups are the operator, the type, and the quote that opens the value.
var separator = pattern.New("^(?:\\\\?[\"'`]|%22)?\\]?\\s{0,4}(?:[A-Za-z.]{1,20}\\s{1,3})??((?::{1,3}|[?.+|])?={1,3}>?|:|\\|{1,2}|>|,|%3[AaDd]|\\s(?:is|was|ist)\\s*:?)\\s*(?:([A-Za-z.]{1,20})\\s*=\\s*)?(\\\\?[\"'`]|%22)?")

// assigned looks for the value that follows the name n, and adds it if it is a secret.
func (f *findings) assigned(text string, n name) {
	rest := text[n.end:min(len(text), n.end+maxValue)]
	flag := strings.HasPrefix(text[n.start:], "--")
	at := separator().FindStringSubmatchIndex(rest)
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
		opening != '<' && operator == ">", // not an XML element
		text[n.start:n.end] == "PASS" && testRunner(rest),
		operator == "|" && !strings.HasPrefix(lineOf(text, n.start), "|"): // not a table
		return
	}
	quote := ""
	if at[6] >= 0 {
		quote = rest[at[6]:at[7]]
	} else if flag && at[1] < len(rest) && strings.IndexByte("\"'", rest[at[1]]) >= 0 {
		quote = rest[at[1] : at[1]+1]
		at[1]++
	}
	unended := n.end+maxValue > len(text) // more text may belong to it
	// After a comma only a quoted value on the same line counts, the next argument of a call: prose has commas, too.
	if operator == "," {
		if quote == "" || quote == "`" || strings.IndexByte("\"'", rest[0]) < 0 ||
			strings.Contains(rest[:at[1]], "\n") {
			return
		}
	}
	value := rest[at[1]:]
	if quote != "" {
		var closed bool
		if value, _, closed = strings.Cut(value, quote); !closed && unended {
			f.wait(n.start, quote)
		}
	} else {
		value = unquoted(value, opening == '?' || opening == '&')
		if strings.HasPrefix(operator, "%") {
			value, _, _ = strings.Cut(value, "%")
		}
		if operator == ">" {
			after := strings.TrimLeft(rest[at[1]+len(value):], " \t\r\n")
			if unended && len(after) < 2 {
				f.wait(n.start, "")
			}
			if !strings.HasPrefix(after, "</") {
				return
			}
		}
	}
	v := assignment{n, value, quote != "", operator}
	if v.isSecret() {
		start := n.end + at[1]
		f.addNamed(start, start+len(value), v.kind())
	}
}

// testRunner reports whether PASS is what a test runner prints.
func testRunner(rest string) bool {
	return !strings.HasPrefix(rest, "=") || strings.Contains(rest, "PASS")
}

// lineOf returns the text from the start of the line that i stands in.
func lineOf(text string, i int) string {
	return strings.TrimLeft(text[strings.LastIndexByte(text[:i], '\n')+1:], " \t")
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
	if v := (assignment{n, text[at+m[4] : at+m[5]], true, "="}); ok && v.isSecret() {
		f.addNamed(at+m[4], at+m[5], v.kind())
	}
}

var variableDefault = pattern.New(`^variable\s+"([^"]{1,80})"\s*\{[^{}]{0,400}?\bdefault\s*=\s*"([^"\n]{4,})"`)

// isSecret decides whether the value is a secret. The clearer the name says so, and the more the assignment looks like
// configuration, the less must the value itself look like a secret.
func (a assignment) isSecret() bool {
	v := a.value
	prose := a.operator == "is" || a.operator == "was" || a.operator == "ist" || a.operator == "|"
	if prose {
		v = strings.TrimRight(v, ".,;:!?")
	}
	if len(v) < 6 || placeholder(v) || strings.Contains(v, "://") || strings.HasPrefix(plainName(v), a.name.plain) {
		return false
	}
	if filePath().MatchString(v) || version().MatchString(v) || number().MatchString(v) {
		return false
	}
	if !a.quoted && (strings.ContainsAny(v, "()[]{}") || codePath().MatchString(v) && wordy(v)) {
		return false
	}
	if !a.quoted && !a.name.upperCase && len(v) < 40 && !a.password() {
		low := strings.ToLower(v)
		if slices.ContainsFunc(roots, func(root string) bool { return strings.HasSuffix(low, root) }) {
			return false // token = access_token: the name of another variable
		}
	}
	if strings.ContainsAny(v, space) {
		return a.isPassphrase()
	}
	if len(v) >= 16 && (random(v) || hexadecimal(v) && digitsIn(v) && entropy(v) >= 2.5) {
		return true
	}
	if !a.name.atEnd || a.name.secret == "auth" || a.name.secret == "sig" || a.name.secret == "sas" {
		return false
	}
	strong := digitsIn(v) || strings.ContainsAny(v, "!@#%^&*+~?$")
	letters := strings.ContainsFunc(v, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
	switch {
	case len(v) >= 10 && 3*classChanges(v) >= len(v) && !wordy(v):
		return true
	case a.password() && strong:
		return true
	case a.password():
		return !prose && letters && (a.quoted && !strings.Contains(v, "assw") || a.name.upperCase && len(v) >= 8)
	case strong && letters && len(v) >= 8 && !wordy(v):
		return true
	}
	return strong && letters && len(v) >= 8 && (a.quoted || a.name.upperCase) && !codePath().MatchString(v)
}
