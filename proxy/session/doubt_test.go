package session

import (
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// A load that shows words and not the block says that the conversation was taken back to before it, once a prompt comes:
// gemini shows all but its own first message behind the answer.
func TestRewind(t *testing.T) {
	for name, tt := range map[string]struct {
		behind bool // the history is shown behind the answer
		dumb   bool // the ledger answers when the prompt is held
		want   string
	}{
		"shown behind the answer":                    {behind: true},
		"shown behind the answer, and a late ledger": {behind: true, dumb: true},
		"taken back":                    {want: whole},
		"taken back, and a late ledger": {dumb: true, want: whole},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(p *stage) {
				p.start()
				p.open(OpensNew, Opening{}, false)
				p.prompt("first", succeeds)
				p.start()
				p.dumb = tt.dumb
				p.asks("load", Opening{Kind: OpensKnown, Target: p.id, Cwd: "/tmp/x"})
				p.shows(p.id, "<session_context> of its own")
				p.opens("load", OpeningAnswer{ID: p.id})
				if tt.behind {
					p.shows(p.id, p.kept[p.id]...)
				}
				carried := ""
				if v, _ := p.judges("second"); v == wire.Hold {
					left := p.releases(p.hold("second"))
					p.dumb = false
					p.answer()
					if in := <-left; in != nil {
						carried = carries(in.Text)
					}
				}
				if carried != tt.want {
					t.Errorf("the prompt carries %q, want %q", carried, tt.want)
				}
			})
		})
	}
}
