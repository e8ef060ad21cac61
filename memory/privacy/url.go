package privacy

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// urls finds the passwords, and the random user names, before the @ of a URL, and notes where the URLs are, because
// random strings in them are ids.
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
		if n := strings.IndexAny(authority, "/?#"); n >= 0 && !passwordGoesOn(authority[:n], authority[n:]) {
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

// passwordGoesOn reports whether what looks like a host is a user and half a password, which has a sign in it that
// should have been encoded: the other half ends before an @ with a host behind it.
func passwordGoesOn(host, rest string) bool {
	_, password, ok := strings.Cut(host, ":")
	if !ok || password == "" || strings.Contains(host, "@") || port().MatchString(password) && rest[0] == '/' {
		return false
	}
	return hostBehind().MatchString(rest)
}

var (
	port       = pattern.New(`^\d{2,5}$`)
	hostBehind = pattern.New(`@[\w.-]+(?::\d+)?(?:[/?#]|$)`)
)
