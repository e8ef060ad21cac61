package memory

import (
	"cmp"
	"slices"
	"strings"
)

// Redact puts [redacted:kind] in the place of secrets: keys of the known providers, tokens in authorization headers, JWTs, private PEM blocks, passwords
// in URLs, values assigned to secret-like names, and strings too random to be anything else. What people need to find their way stays: commit and lock
// file hashes, UUIDs, paths, identifiers, public keys. Text without secrets is given back as it is. Redact(Redact(x)) == Redact(x) for all practical x.
func Redact(text string) string {
	var f findings
	f.pem(text)
	f.urls(text)
	slices.SortFunc(f.public, func(a, b finding) int { return cmp.Compare(a.start, b.start) })
	f.shapes(text)
	f.words(text)
	f.assignments(text)
	if len(f.spans) == 0 {
		return text
	}
	slices.SortStableFunc(f.spans, func(a, b finding) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	done := 0
	for _, s := range f.spans {
		if s.start >= done {
			b.WriteString(text[done:s.start])
			b.WriteString("[redacted:" + s.kind + "]")
		}
		done = max(done, s.end)
	}
	b.WriteString(text[done:])
	return b.String()
}

type finding struct {
	start, end int
	kind       string
}

// findings gathers what the rules find, in any order and overlapping.
type findings struct {
	spans  []finding
	public []finding // blocks and URLs, in which randomness means nothing
}

func (f *findings) add(start, end int, kind string) {
	f.spans = append(f.spans, finding{start, end, kind})
}

// pem finds private keys, also those cut off before their end or written with "\n" for line ends, and notes public blocks.
func (f *findings) pem(text string) {
	for i := 0; ; {
		at := pemBegin().FindStringSubmatchIndex(text[i:])
		if at == nil {
			return
		}
		start, body := i+at[0], i+at[1]
		label := text[i+at[2] : i+at[3]]
		end := body
		if n := strings.Index(text[body:min(len(text), body+mostPEM)], "-----END "+label+"-----"); n >= 0 {
			end = body + n + len("-----END "+label+"-----")
		} else {
			end = body + len(pemBody().FindString(text[body:]))
		}
		i = end
		if end == body { // a header that somebody wrote about
			continue
		}
		if strings.Contains(label, "PRIVATE") {
			f.add(start, end, "private-key")
		} else {
			f.public = append(f.public, finding{start: start, end: end})
		}
	}
}

const mostPEM = 32 << 10

var (
	pemBegin = newPattern(`-----BEGIN ([A-Z0-9 ]{1,60})-----`)
	pemBody  = newPattern(`^(?:\s|\\[nr])*(?:[A-Za-z-]+: [^\n]*\n\s*)*(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nr])*)*`)
)

// urls finds the passwords, and the random user names, before the @ of a URL, and notes where URLs are: they are full of random ids.
func (f *findings) urls(text string) {
	for i := 0; ; {
		n := strings.Index(text[i:], "://")
		if n < 0 {
			return
		}
		start := i + n
		i = start + len("://")
		end := i
		for end < len(text) && strings.IndexByte(" \t\r\n\"'`<>|\\", text[end]) < 0 {
			end++
		}
		f.public = append(f.public, finding{start: start, end: end})
		authority := text[i:end]
		if n := strings.IndexAny(authority, "/?#"); n >= 0 {
			authority = authority[:n]
		}
		at := strings.LastIndexByte(authority, '@')
		if at >= 0 && !strings.Contains(authority, "[redacted:") {
			user, password, found := strings.Cut(authority[:at], ":")
			switch {
			case found && !placeholder(password):
				f.add(i+len(user)+1, i+at, "password")
			case !found && len(user) >= 20 && random(user):
				f.add(i, i+at, "credential")
			}
		}
		i = end
	}
}

// shapes are secrets that a pattern tells and a prefix does not. The first group, where there is one, is the secret. A pattern is tried only where one
// of the strings of need occurs.
var shapes = []struct {
	kind string
	need []string
	re   pattern
	sure bool // not to be doubted for its words
}{
	{"jwt", []string{"eyJ"}, newPattern(`\beyJ[A-Za-z0-9_-]{15,}(?:\.[A-Za-z0-9_-]*){2,4}`), true},
	{"jwt", []string{"ZXlK"}, newPattern(`\bZXlK[A-Za-z0-9+/=]{60,}`), true},
	{"authorization", []string{"uthorization", "UTHORIZATION"}, newPattern(`(?i)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:basic|bearer|token|bot|api-?key|api-?token|negotiate)\s+)?([\w.~+/=:-]{6,})`), false},
	{"bearer", []string{"earer ", "EARER ", "earer:"}, newPattern(`(?i)\bbearer[ :]\s*([\w.~+/-]{12,}=*)`), false},
	{"aws", []string{"AKIA", "ASIA", "ABIA", "ACCA", "A3T"}, newPattern(`\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`), true},
	{"aws", []string{"bedrock-api-key-"}, newPattern(`\bbedrock-api-key-[A-Za-z0-9+/=]{20,}`), true},
	{"slack", []string{"hooks.slack.com/"}, newPattern(`hooks\.slack\.com/(?:services|workflows|triggers)/([\w+/-]{20,})`), true},
	{"discord", []string{"/webhooks/"}, newPattern(`discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(\d+/[\w-]{30,})`), true},
	{"teams", []string{".webhook.office.com/"}, newPattern(`\.webhook\.office\.com/webhookb2/(\S{40,})`), true},
	{"telegram", []string{":A"}, newPattern(`\b\d{5,16}:A[\w-]{34}\b`), false},
	{"azure", []string{"Q~"}, newPattern(`[\w~.]{3}\dQ~[\w~.-]{31,34}`), true},
	{"terraform", []string{".atlasv1."}, newPattern(`\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}`), true},
	{"mailchimp", []string{"-us"}, newPattern(`\b[0-9a-f]{32}-us\d{1,2}\b`), false},
	{"airtable", []string{"pat"}, newPattern(`\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b`), true},
	{"harness", []string{"pat.", "sat."}, newPattern(`\b[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}\b`), true},
	{"facebook", []string{"|"}, newPattern(`\b\d{15,16}\|[\w-]{27,40}`), false},
	{"maxmind", []string{"_mmk"}, newPattern(`\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b`), true},
	{"mapbox", []string{"sk.eyJ", "pk.eyJ"}, newPattern(`\b[sp]k\.eyJ[\w-]{20,}\.[\w-]{20,}`), true},
	{"1password", []string{"A3-"}, newPattern(`\bA3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b`), true},
	{"twilio", []string{"SK"}, newPattern(`\bSK[0-9a-f]{32}\b`), false},
	{"octopus", []string{"API-"}, newPattern(`\bAPI-[A-Z0-9]{26}\b`), false},
	{"vault", []string{"s."}, newPattern(`\bs\.[A-Za-z0-9]{24}\b`), false},
	{"password", []string{"curl"}, newPattern(`(?s)\bcurl\b.{0,400}?\s(?:-u|--user)[ =]\s*["']?[^\s"'<>\[:]*:([^\s"'<>\[]{4,})`), false},
	{"password", []string{"ssword"}, newPattern(`(?i)key="[^"]*password"\s+value="([^"]{6,})"`), false},
}

func (f *findings) shapes(text string) {
	for _, s := range shapes {
		if !slices.ContainsFunc(s.need, func(n string) bool { return strings.Contains(text, n) }) {
			continue
		}
		for _, at := range s.re().FindAllStringSubmatchIndex(text, -1) {
			start, end := at[0], at[1]
			if len(at) > 2 {
				start, end = at[2], at[3]
			}
			if value := text[start:end]; !placeholder(value) && (s.sure || mixed(value) && !wordy(value)) {
				f.add(start, end, s.kind)
			}
		}
	}
}
