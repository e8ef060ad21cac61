package e2e

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// Frames that are odd or wrong: what cannot be edited passes byte for byte, and the conversation goes on.
func TestBadFrames(t *testing.T) {
	t.Parallel()
	const session = `"params":{"sessionId":"scripted-0123456789",`
	big := strings.Repeat("x", 64<<20)
	rows := []struct {
		name   string
		frame  string // sent in the session, answered by nothing that matters
		edited string // where our block stands; empty: the frame arrives as it was sent
	}{
		{name: "no JSON", frame: "this is no JSON"},
		{name: "half a frame", frame: `{"jsonrpc":"2.0","id":2,"method":"session/prompt",` + session + `"prompt":[{"type":"text"`},
		{name: "empty line", frame: ""},
		{name: "a bare number", frame: "1"},
		{name: "invalid UTF-8", frame: "{\"jsonrpc\":\"2.0\",\"method\":\"_x\",\"params\":\"\xff\xfe\"}"},
		{name: "NUL", frame: "\x00\x00"},
		{name: "batch", frame: "[" + strings.TrimSpace(prompted.up) + "]"},
		{name: "empty prompt", frame: `{"jsonrpc":"2.0","id":2,"method":"session/prompt",` + session + `"prompt":[]}}`},
		{name: "prompt is an object", frame: `{"jsonrpc":"2.0","id":2,"method":"session/prompt",` + session + `"prompt":{"type":"text","text":"x"}}}`},
		{name: "prompt is text", frame: `{"jsonrpc":"2.0","id":2,"method":"session/prompt",` + session + `"prompt":"x"}}`},
		{name: "prompt is null", frame: `{"jsonrpc":"2.0","id":2,"method":"session/prompt",` + session + `"prompt":null}}`},
		{name: "no prompt", frame: `{"jsonrpc":"2.0","id":2,"method":"session/prompt",` + session + `"x":1}}`},
		{name: "no params", frame: `{"jsonrpc":"2.0","id":2,"method":"session/prompt"}`},
		{name: "another session", frame: strings.ReplaceAll(strings.TrimSpace(prompted.up), "scripted-0123456789", "scripted-unknown-000")},
		{name: "wrong case", frame: strings.ReplaceAll(strings.TrimSpace(prompted.up), `"method"`, `"Method"`)},
		{name: "mcpServers is text", frame: `{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":"/srv","mcpServers":"none"}}`},
		{name: "mcpServers is an object", frame: `{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":"/srv","mcpServers":{}}}`},
		{name: "64 MB of something unknown", frame: `{"jsonrpc":"2.0","method":"_big","params":"` + big + `"}`},
		{
			name: "duplicate keys",
			frame: `{"jsonrpc":"2.0","id":2,"method":"session/cancel","method":"session/prompt",` + session +
				`"prompt":[],"prompt":[{"type":"text","text":"x"}]}}`,
			edited: `"prompt":[],"prompt":[`,
		},
		{
			name:   "escaped keys",
			frame:  `{"jsonrpc":"2.0","id":2,"meth\u006fd":"session\/prompt","p\u0061rams":{"sessionI\u0064":"scripted\u002d0123456789","\u0070rompt":[{"type":"text","text":"x"}]}}`,
			edited: `"\u0070rompt":[`,
		},
		{
			name: "64 MB of prompt",
			frame: `{"jsonrpc":"2.0","id":2,"method":"session/prompt",` + session +
				`"prompt":[{"type":"text","text":"` + big[:(64<<20)-4096] + `"}]}}`,
			edited: `"prompt":[`,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			// The last frame shows that the conversation goes on, and that everything before it has arrived.
			const after, answered = `{"jsonrpc":"2.0","id":3,"method":"_after"}` + "\n",
				`{"jsonrpc":"2.0","id":3,"result":{}}` + "\n"
			received, _ := b.converse([]string{"--memory", "embedded"}, initialized, opened,
				exchange{row.frame + "\n" + after, answered})
			if row.edited != "" {
				received = withoutBlock(t, received, row.edited)
			}
			if want := initialized.up + opened.up + row.frame + "\n" + after; received != want {
				t.Errorf("the harness was sent %d bytes\n%.2000s\nwant %d\n%.2000s", len(received),
					received, len(want), want)
			}
		})
	}
}

// Missing and null mcpServers are for the harness to judge; we may fill them in, and break nothing.
func TestNoMCPServers(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]string{"missing": `{"cwd":"/srv"}`,
		"null": `{"mcpServers":null,"cwd":"/srv"}`} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			frame := `{"jsonrpc":"2.0","id":1,"method":"session/new","params":` + params + "}\n"
			received, _ := b.converse([]string{"--memory", "embedded"}, initialized, exchange{frame, opened.down},
				prompted)
			if got := withoutBlock(t, received, `"prompt":[`); !strings.HasSuffix(got, prompted.up) {
				t.Errorf("the harness was sent\n%s", got)
			}
		})
	}
}

func (b *box) makeDatabase(path string, statements ...string) {
	db, err := sql.Open("sqlite3", "file:"+path)
	must(b, err)
	defer db.Close()
	for _, s := range statements {
		_, err := db.Exec(s)
		must(b, err)
	}
}

func must(b *box, err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// A disk that fills up in the middle of a conversation is told of once when it does, and at the end; what fits is kept,
// and nobody waits.
func TestDiskFills(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.wrap = []string{"sh", "-c", `ulimit -f 4096; exec "$@"`, "sh"} // 2 MB a file, or 4
	c := b.unleash(t, "leaves")
	c.begin()
	const turns = 100
	for n := range turns {
		c.say(c.session, fmt.Sprintf("turn %d %s", n, strings.Repeat(fmt.Sprintf("word%d ", n), 6000)))
	}
	c.hangUp()
	c.rest()
	if code := c.code(); code != 0 {
		t.Errorf("exit %d", code)
	}
	said := c.said()
	if strings.Count(said, "the disk is full") != 1 || strings.Count(said, "could not be written down") != 1 {
		t.Errorf("people were told\n%s", said)
	}
	b.run(proxyBin, "sessions") // takes in what was written down
	kept := len(b.query(`SELECT 1 FROM turns WHERE stop = 'end_turn' AND user LIKE 'turn %'`))
	t.Logf("%d turns of %d are kept\n%s", kept, turns, said)
	if kept < 5 || kept == turns {
		t.Errorf("%d turns of %d are kept", kept, turns)
	}
}
