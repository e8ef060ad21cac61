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

// cookies finds the values in Cookie and Set-Cookie headers that identify a session.
func (f *findings) cookies(text string) {
	for _, at := range f.headers {
		if at >= 0 {
			f.cookie(text, at)
		}
	}
}

// cookie looks at the header whose "cookie" begins at at.
func (f *findings) cookie(text string, at int) {
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
			f.add(start+m[4], start+m[5], "cookie")
		}
	}
}
