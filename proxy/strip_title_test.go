package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

const firstAsked = "what the user asked first, in so many words that a title of eighty characters ca"

// Titles are made of first prompts, whole or cut off, or of our block alone. What is all ours becomes what the user
// asked.
func TestStripTitles(t *testing.T) {
	bare := strings.TrimRight(sampleBlock, "\n")
	folded := strings.Join(strings.Fields(sampleBlock), " ")
	for _, tt := range []struct {
		name, title, left string
		shortens          bool
	}{
		{"whole", bare, firstAsked, false},
		{"folded, and the user's words", folded + " hello", "hello", false},
		{"cut off, folded", folded[:100], firstAsked, false},
		{"cut off with dots", bare[:60] + "...", firstAsked, false},
		{"cut off with an ellipsis", bare[:60] + "…", firstAsked, false},
		{"cut off in a character", bare[:60] + "\ufffd", firstAsked, false},
		{"cut off in our mark", bare[:13], bare[:13], false}, // too little to know it by
		{"cut off behind it", bare[:14], firstAsked, false},
		{"somebody's", "<signet-memory>mine</signet-memory>", "<signet-memory>mine</signet-memory>", false},
		{"in the middle", "About " + bare[:60], "About " + bare[:60], false},
		{"made of the block", "Clerk of a yard", "Clerk of a yard", false},
		{"made of the block, by a harness that shortens", "Clerk of a yard", firstAsked, true},
		{"another", "Masts", "Masts", true},
	} {
		info := func(title string) string {
			return update("s1", `{"sessionUpdate":"session_info_update","updatedAt":"x","title":`+unescaped(title)+`}`)
		}
		q := newQuiet(t, remembering(newSource()), func(o *Options) {
			if tt.shortens {
				o.Traits = func(string) session.Traits { return session.Traits{TitleLength: 4000} }
			}
		})
		if got := q.says(t, info(tt.title)); got != info(tt.left) {
			t.Errorf("%s: the client gets %s", tt.name, got)
		}
		child := func(title string) string { // as which a session presents a child, and its work
			return update("s1", `{"sessionUpdate":"subagent_update","sessionId":"c","title":`+unescaped(title)+
				`,"description":`+unescaped(title)+`}`)
		}
		if got := q.says(t, child(tt.title)); got != child(tt.left) {
			t.Errorf("%s: of a child the client gets %s", tt.name, got)
		}
	}
}

// A title that a harness makes from a prompt of which it has seen our block alone is noted in the ledger, once.
func TestTitleOfBlockAlone(t *testing.T) {
	mem := newSource()
	mem.context.Identity = strings.Repeat("x", 5000)
	q := newQuiet(t, remembering(mem), func(o *Options) {
		o.Traits = func(string) session.Traits { return session.Traits{TitleLength: 4000} }
	})
	q.sends(t, upNew)
	q.says(t, strings.Replace(downNew, "s1", "s2", 1))
	prompt := q.sends(t, strings.Replace(upHello, "s1", "s2", 1))
	title := func(text string) string {
		return update("s2", `{"sessionUpdate":"session_info_update","title":`+unescaped(text)+`}`)
	}
	if got := q.says(t, title("Clerk"), title("Masts"), title("Clerk")); got != title(firstAsked)+"\n"+title("Masts")+"\n"+title(firstAsked) {
		t.Errorf("the client gets\n%s", got)
	}
	select {
	case block := <-q.database.backend.Load().Ledger.(*shelf).titled:
		if !strings.Contains(prompt, block) {
			t.Errorf("a title of block %q is noted", block)
		}
	case <-time.After(patience):
		t.Error("no title is noted")
	}
}

// A list of sessions shows titles and previews of sessions that this connection never opened.
func TestStripList(t *testing.T) {
	result := func(title, preview, own string) string {
		return `{"jsonrpc":"2.0","id":1,"result":{"sessions":[{"sessionId":"s9","title":` + unescaped(sampleBlock) +
			`},{"title":` + title + `,"_meta":{"preview":` + preview + `,"n":1.0},"sessionId":"s0"},{"sessionId":"s1","preview":` + own +
			`},{"title":null},7],"nextCursor":null}}`
	}
	q := newQuiet(t, remembering(newSource()))
	q.sends(t, `{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}`)
	got := q.says(t, result(escaped(sampleBlock[:70]), unescaped(sampleBlock+"hello"), unescaped("untouched")))
	if want := result(unescaped(firstAsked), `"hello"`, `"untouched"`); got != want {
		t.Errorf("the client gets\n%s, want\n%s", got, want)
	}
}
