package privacy

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

var (
	cookieLine = pattern.New(`(?i)^cookie["']?\s{0,4}[:=,]\s{0,4}["'` + "`" + `]?`)
	cookiePair = pattern.New(`([\w.$-]{1,60})=("?[^\s"'` + "`" + `;,<>]+)`)
	// The names of cookies by which servers recognise a session.
	sessionCookie = pattern.New(`(?i)^(?:PHPSESSID|JSESSIONID|ASPSESSIONID\w*|ASP\.NET_SessionId|` +
		`connect\.sid|laravel_session|_gitlab_session|_session_id|sessionid|sid|` +
		`wordpress_logged_in_\w+|remember_(?:me|token|web_\w+)|__Secure-[\w.-]+|__Host-[\w.-]+)$`)
)

// cookie looks for values that identify a session, in a Cookie or Set-Cookie header where an "ookie" stands.
func (f *findings) cookie(text string, at int) {
	if at--; at < 0 {
		return
	}
	line, _, _ := strings.Cut(text[at:min(len(text), at+maxValue)], "\n")
	head := cookieLine().FindStringIndex(line)
	if head == nil {
		return
	}
	for _, m := range cookiePair().FindAllStringSubmatchIndex(line[head[1]:], -1) {
		start := at + head[1]
		name, value := text[start+m[2]:start+m[3]], text[start+m[4]:start+m[5]]
		made := mixed(value) && digitsIn(value) && !wordy(value) && entropy(value) >= 2.5
		if len(value) >= 8 && !placeholder(value) && (made || sessionCookie().MatchString(name)) {
			f.addNamed(start+m[4], start+m[5], "cookie")
		}
	}
}
