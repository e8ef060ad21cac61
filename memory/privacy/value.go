package privacy

import (
	"slices"
	"strings"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

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
	case a.password():
		return a.isPassword(v, isProse)
	}
	return a.isChosen(v)
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

// isPassword reports whether a person may have chosen a value as a password.
func (a assignment) isPassword(v string, isProse bool) bool {
	switch {
	case isStrong(v):
		return true
	case isProse || !hasLetters(v):
		return false
	case a.name.upperCase && len(v) >= 8:
		return true
	case strings.Contains(v, "assw"): // it says the name again
		return false
	}
	return a.quoted || a.isYAML && len(v) >= 8 && v == strings.ToLower(v)
}

// isChosen reports whether a person may have thought of a value behind any other name.
func (a assignment) isChosen(v string) bool {
	isTold := a.quoted || a.name.upperCase
	return isStrong(v) && hasLetters(v) && len(v) >= 8 && (!wordy(v) || isTold && !codePath().MatchString(v))
}

func isStrong(v string) bool { return digitsIn(v) || strings.ContainsAny(v, "!@#%^&*+~?$") }

func hasLetters(v string) bool { return strings.IndexFunc(v, isLatin) >= 0 }

const maxValue = 4 << 10 // bytes behind a name that are looked at
