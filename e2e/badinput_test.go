package e2e

import (
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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

// A database that cannot be used costs the memory, one line on stderr, and nothing else.
func TestBadDatabase(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		path func(b *box, db string) // makes db what it should not be
		wrap []string                // in front of the proxy
	}{
		{name: "a folder", path: func(b *box, db string) { must(b, os.MkdirAll(db, 0o700)) }},
		{name: "corrupt", path: func(b *box, db string) {
			must(b, os.WriteFile(db, []byte(strings.Repeat("this is no database\n", 1000)), 0o600))
		}},
		{name: "newer", path: func(b *box, db string) {
			b.makeDatabase(db, "PRAGMA user_version = 99999", "CREATE TABLE migrations (name TEXT)",
				"INSERT INTO migrations VALUES ('9999_later.sql')")
		}},
		{name: "in no folder", path: func(b *box, db string) { must(b, os.WriteFile(filepath.Dir(db), nil, 0o600)) }},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			b := newBox(t)
			db := filepath.Join(b.Dir, "database", "sessions.db")
			if row.name != "in no folder" {
				must(b, os.Mkdir(filepath.Dir(db), 0o700))
			}
			row.path(b, db)
			received, told := b.converse([]string{"--memory", "embedded", "--db", db}, initialized, opened, prompted)
			if want := initialized.up + opened.up + prompted.up; received != want {
				t.Errorf("the harness was sent\n%s\nwant\n%s", received, want)
			}
			if n := strings.Count(told, "\n"); n != 1 || !strings.Contains(told, "signet-acp-proxy:") {
				t.Errorf("stderr has %d lines, want one of ours:\n%s", n, told)
			}
		})
	}
}

// A database that somebody holds for long does not hold the conversation.
func TestLockedDatabase(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	flags := []string{"--memory", "embedded"}
	b.converse(flags, initialized) // makes the database
	b.set("SIGNET_ACP_HOLD=1.5s", "SIGNET_ACP_DATABASE_WAIT=100ms")
	db, err := sql.Open("sqlite3", "file:"+b.database())
	must(b, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("BEGIN EXCLUSIVE")
	must(b, err)
	received, _ := b.converse(flags, initialized, opened, prompted)
	if want := initialized.up + opened.up + prompted.up; received != want {
		t.Errorf("the harness was sent\n%s\nwant\n%s", received, want)
	}
	_, err = db.Exec("ROLLBACK")
	must(b, err)
}

// Whatever the daemon does, the prompt goes out with what we have ourselves.
func TestBadDaemon(t *testing.T) {
	t.Parallel()
	healthy := func(b *box, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/health" {
			fmt.Fprintf(w, `{"status":"healthy","version":"0.140.0","agentsDir":%q}`, b.Signet)
		}
		return r.URL.Path == "/health"
	}
	rows := []struct {
		name  string
		serve func(b *box, w http.ResponseWriter, r *http.Request)
	}{
		{"refuses", nil},
		{"500", func(b *box, w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no", http.StatusInternalServerError)
		}},
		{"500 but healthy", func(b *box, w http.ResponseWriter, r *http.Request) {
			if !healthy(b, w, r) {
				http.Error(w, "no", http.StatusInternalServerError)
			}
		}},
		{"garbage", func(b *box, w http.ResponseWriter, r *http.Request) {
			if !healthy(b, w, r) {
				fmt.Fprint(w, "<html>what?")
			}
		}},
		{"100 MB", func(b *box, w http.ResponseWriter, r *http.Request) {
			if !healthy(b, w, r) {
				fmt.Fprint(w, `{"inject":"`)
				for range 100 {
					if _, err := w.Write([]byte(strings.Repeat("y", 1<<20))); err != nil {
						return
					}
				}
				fmt.Fprint(w, `"}`)
			}
		}},
		{"accepts and never answers", func(b *box, w http.ResponseWriter, r *http.Request) {
			if !healthy(b, w, r) {
				<-b.t.Context().Done()
			}
		}},
		{"not even its health", func(b *box, w http.ResponseWriter, r *http.Request) { <-b.t.Context().Done() }},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set("SIGNET_ACP_FETCH=1s", "SIGNET_ACP_HOLD=10s") // of which what never answers takes half
			url := closedPort(b)
			if row.serve != nil {
				daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
					r *http.Request) {
					row.serve(b, w, r)
				}))
				t.Cleanup(daemon.Close) // after the test's context, which ends what never answers
				url = daemon.URL
			}
			received, _ := b.converse([]string{"--daemon-url", url}, initialized, opened, prompted)
			if !strings.Contains(received, "You are Halyard") {
				t.Errorf("no identity in the prompt:\n%.3000s", received)
			}
			if got, want := withoutBlock(t, received, `"prompt":[`), initialized.up+opened.up+prompted.up; got != want {
				t.Errorf("the harness was sent\n%.3000s\nwant\n%s", got, want)
			}
			if strings.Contains(received, "html") || strings.Contains(received, "yyyy") {
				t.Errorf("the daemon's answer is in the prompt:\n%.3000s", received)
			}
		})
	}
}

// closedPort is a URL on loopback where nobody listens.
func closedPort(b *box) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	defer l.Close()
	return "http://" + l.Addr().String()
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
	c.open()
	const turns = 100
	for n := range turns {
		c.call("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"turn %d %s"}]}`,
			c.session, n, strings.Repeat(fmt.Sprintf("word%d ", n), 6000)))
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
