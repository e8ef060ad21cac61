package signet

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// addressOf accepts an origin only, as the daemon's own clients do: a path would be dropped, and a password would end
// in logs. Over a network it must be encrypted, unless plain says that nobody else can read that.
func addressOf(s string, plain bool) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(s), "/"))
	if err != nil {
		return nil, errors.New("daemon url: not a url") // the parser's error repeats the text
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("daemon url: must begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("daemon url: no host")
	case u.User != nil:
		return nil, errors.New("daemon url: must not hold a user or password; set SIGNET_API_KEY")
	case u.Path != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("daemon url: give the origin only, %s://%s", u.Scheme, u.Host)
	case !plain && u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("daemon url: %s is not encrypted: use https or a tunnel to 127.0.0.1, or set "+
			"daemon_plain: on if only you can read that network", u)
	}
	return u, nil
}
