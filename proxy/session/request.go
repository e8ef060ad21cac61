package session

import (
	"slices"
	"strconv"
)

// Await notes a request whose response is to be watched. key is its id (IDKey).
func (c *Connection) Await(key string, req Request) {
	if old, ok := c.pending[key]; ok && old.Turn != nil { // an id that is used twice gets one answer
		c.closeUnanswered(old.Turn)
	}
	c.requests++
	req.n = c.requests
	c.pending[key] = req
}

// Awaits reports whether a response with this id is awaited. key is called only if anything is.
func (c *Connection) Awaits(key func() string) bool {
	if len(c.pending) == 0 {
		return false
	}
	_, ok := c.pending[key()]
	return ok
}

// Answered returns the request that a response with this id answers, and awaits it no more.
func (c *Connection) Answered(key string) (Request, bool) {
	req, ok := c.pending[key]
	delete(c.pending, key)
	return req, ok
}

// IDKey returns a request id in a form in which equal ids are equal strings: a peer may spell a number or a string
// differently when it answers. text decodes a JSON string. A string never equals a number.
func IDKey(token []byte, text func([]byte) (string, bool)) string {
	if len(token) > 0 && token[0] == '"' {
		if s, ok := text(token); ok {
			return `"` + s
		}
	}
	if slices.ContainsFunc(token, func(b byte) bool { return b == '.' || b == 'e' || b == 'E' }) {
		if f, err := strconv.ParseFloat(string(token), 64); err == nil {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	return string(token)
}
