package proxy

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// title takes in what a harness calls a session. Our block is not in it any more.
func (p *capture) title(s *session.Session, line []byte) {
	if text, ok := stringAt(line, "params", "update", "title"); ok {
		p.table.Update(func(c *session.Connection) { c.Title(s, chars.Cut(text, 2*maxTitle)) })
	}
}

// titles writes down what harnesses call their sessions: of a first prompt, mostly, and with what was private in it.
func (r *recorder) titles() {
	var all []session.Title
	r.table.Update(func(c *session.Connection) { all = c.Titles() })
	for _, t := range all {
		text := strings.Join(strings.Fields(privacy.Storable(t.Text, t.Blocks, t.Private, false)), " ")
		if text = chars.Cut(text, maxTitle); text != "" {
			r.table.Update(func(c *session.Connection) { c.Titled(t.Session, text) })
		}
	}
}
