package proxy

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// writeTitles records the titles that were set since the last call. Harnesses make them from first prompts, so they are
// redacted like these.
func writeTitles(table *session.Table) {
	var all []session.Title
	table.Update(func(c *session.Connection) { all = c.TakeTitles() })
	for _, t := range all {
		text := strings.Join(strings.Fields(privacy.Storable(t.Text, t.Blocks, t.Private, false)), " ")
		if text = chars.Cut(text, maxTitle); text != "" {
			table.Update(func(c *session.Connection) { c.RecordTitle(t.Session, text) })
		}
	}
}
