package proxy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// Titles are made of first prompts, whole or cut off. What is all ours becomes what the user asked.
func TestStripTitles(t *testing.T) {
	w, block := told(t)
	const asked = "what the user asked first, in so many words that a title of eighty characters ca"
	bare := strings.TrimRight(block, "\n")
	folded := strings.Join(strings.Fields(block), " ")
	tests := []struct{ name, title, left string }{
		{"whole", bare, asked},
		{"whole, folded", folded, asked},
		{"whole, and the user's words", bare + "\n\nhello", "hello"},
		{"folded, and the user's words", folded + " hello", "hello"},
		{"cut off", bare[:60], asked},
		{"cut off, folded", folded[:100], asked},
		{"cut off with dots", bare[:60] + "...", asked},
		{"cut off with an ellipsis", bare[:60] + "…", asked},
		{"cut off in a character", bare[:60] + "\ufffd", asked},
		{"cut off in our mark", bare[:10], bare[:10]}, // too little to know it by
		{"somebody's", "<signet-memory>mine</signet-memory>", "<signet-memory>mine</signet-memory>"},
		{"in the middle", "About " + bare[:60], "About " + bare[:60]},
		{"about it", "What signet-memory is", "What signet-memory is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			info := func(title string) string {
				return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` +
					`{"sessionUpdate":"session_info_update","updatedAt":"x","title":` + unescaped(title) + `}}}`
			}
			if got := shown(t, w, info(tt.title)); !slices.Equal(got, []string{info(tt.left)}) {
				t.Errorf("the client gets %q", got)
			}
		})
	}
}

// A harness that makes its title of the beginning of a first prompt makes it of our block alone where that is long: the
// person's words are the title, wherever that one is shown. Where they were seen, where the client has given a name,
// and where a later title comes, it stays.
func TestTitleOfBlockAlone(t *testing.T) {
	const words = "How long is the mast?"
	info := func(title string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` +
			`{"sessionUpdate":"session_info_update","title":` + unescaped(title) + `}}}`
	}
	for _, tt := range []struct {
		name     string
		identity int    // characters of it
		says     string // the client, before the title comes
		first    string // what the client sees of the first title, and in the next process
		second   string // of the second one
	}{
		{"long", 5000, "", words, "Masts"},
		{"short", 100, "", "Clerk of a yard", "Masts"},
		{"named", 5000, `{"jsonrpc":"2.0","id":7,"method":"session/set_title","params":{"sessionId":"s1","title":"Clerk of a yard"}}`, "Clerk of a yard", "Masts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, plain := newWorld(t), echo()
			titles := make(chan string, 2)
			harness := func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
				switch method(f) {
				case "session/prompt", "session/load":
					for len(titles) > 0 {
						say("%s", info(<-titles))
					}
				case "session/list":
					say(`{"jsonrpc":"2.0","id":%s,"result":{"sessions":[{"sessionId":"s1","title":"Clerk of a yard"},`+
						`{"sessionId":"s2","title":"Clerk of a yard"}]}}`, f["id"])
					return
				}
				plain(f, line, say)
			}
			shortens := func(o *Options) {
				longLimits(o)
				o.Traits = func(string) session.Traits { return session.Traits{TitleLength: 4000} }
			}
			mem := newSource()
			mem.context.Identity = strings.Repeat("x", tt.identity)
			c := w.start(mem, harness, shortens)
			c.open()
			c.call(1, "session/new", cwd)
			c.prompt(2, "s1", words)
			if tt.says != "" {
				c.send("%s", tt.says)
				c.until(`"id":7,`)
			}
			for i, want := range []string{tt.first, tt.second} {
				titles <- []string{"Clerk of a yard", "Masts"}[i]
				c.sendPrompt(3+i, "s1", "more")
				if got := c.until(fmt.Sprintf(`"id":%d,`, 3+i)); !slices.Contains(got, info(want)) {
					t.Errorf("title %d: the client gets\n%s, want %s", i, strings.Join(got, "\n"), want)
				}
			}
			listed := c.call(5, "session/list", `{}`)
			for tt.first == words && w.titles() == 0 { // the title is noted beside the conversation
				time.Sleep(time.Millisecond)
			}
			c.close()

			c = w.start(newSource(), harness, shortens)
			c.open()
			titles <- "Clerk of a yard"
			c.send(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/tmp/x",` +
				`"mcpServers":[]}}`)
			if got := c.until(`"id":1,`); !slices.Contains(got, info(tt.first)) {
				t.Errorf("loaded, the client gets\n%s", strings.Join(got, "\n"))
			}
			for _, list := range []string{listed, c.call(5, "session/list", `{}`)} {
				want := fmt.Sprintf(`{"sessionId":"s1","title":%q},`+
					`{"sessionId":"s2","title":"Clerk of a yard"}`, tt.first)
				if !strings.Contains(list, want) {
					t.Errorf("the list is\n%s, want\n%s", list, want)
				}
			}
			c.close()
		})
	}
}

// titles counts the blocks of which the database knows that a title was made of them.
func (w *world) titles() (n int) {
	w.t.Helper()
	if err := w.db.QueryRow(`SELECT count(*) FROM injections WHERE title <> ''`).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// A list of sessions shows titles and previews of sessions that this connection never opened.
func TestStripList(t *testing.T) {
	w, block := told(t)
	const asked = `"what the user asked first, in so many words that a title of eighty characters ca"`
	result := func(title, preview, own string) string {
		return `{"jsonrpc":"2.0","id":1,"result":{"sessions":[{"sessionId":"s0","title":` + unescaped(block) +
			`},{"title":` + title +
			`,"_meta":{"preview":` + preview + `,"n":1.0},"sessionId":"s1"},{"sessionId":"s1","preview":` + own +
			`},{"title":null},7],"nextCursor":null}}`
	}
	plain := echo()
	c := w.start(newSource(), func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if method(f) == "session/list" {
			say("%s", result(escaped(block[:70]), unescaped(block+"hello"), unescaped("untouched")))
			return
		}
		plain(f, line, say)
	}, longLimits)
	c.open()
	got := c.call(1, "session/list", `{}`)
	if want := result(asked, `"hello"`, `"untouched"`); got != want {
		t.Errorf("the client gets\n%s, want\n%s", got, want)
	}
}
