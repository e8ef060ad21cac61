package e2e

import (
	"bytes"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Whatever of memory's work panics, the conversation is the same byte for byte but for the block, nobody waits for what
// does not come, and the panic is said once, logged without a word of the conversation, and named by doctor.
func TestPanics(t *testing.T) {
	t.Parallel()
	build := filepath.Join(t.TempDir(), "signet-acp-proxy")
	if out, err := exec.Command("go", "build", "-tags", "sqlite_fts5 panics", "-o", build,
		"../cmd/signet-acp-proxy").CombinedOutput(); err != nil {
		t.Fatalf("building it: %v\n%s", err, out)
	}
	const session = "scripted-0123456789"
	for point, want := range map[string]struct {
		bare  bool // the first prompt has no block
		lost  int  // turns that are not whole in the database
		hold  string
		state string // the session's in the end, if it has one
		early bool   // it comes beside, and the end does not wait for it
	}{
		"judging up":             {bare: true, lost: 2},
		"judging down":           {bare: true, lost: 2},
		"reading up":             {lost: 1},
		"reading down":           {lost: 2},
		"editing up":             {bare: true, lost: 2},
		"editing down":           {bare: true, lost: 2},
		"opening":                {}, // the words wait in the event file, and identity needs no database
		"look-up":                {},
		"fetch":                  {},
		"identity":               {bare: true},
		"recall":                 {},
		"held prompt":            {},
		"claim":                  {state: "done"}, // it was granted, and the identity takes its place
		"prompt's words":         {lost: 2},
		"recorder":               {lost: 2},
		"writer":                 {lost: 2, hold: "1s"}, // a claim waits for what was written
		"folding assistant_said": {lost: 2, early: true},
		"folding turn_ended":     {early: true},
		"reading a turn":         {early: true},
		"learning":               {early: true},
		"sweep":                  {},
		"hand-over":              {},
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			if want.hold == "" {
				want.hold = "1h"
			}
			b := newBox(t)
			b.build = build
			b.set("SIGNET_PANIC="+point, "SIGNET_PORT=1", "SIGNET_ACP_HOLD="+want.hold, "SIGNET_ACP_MEMORY=embedded",
				"SIGNET_ACP_ON_SESSION_END=true")
			all := []exchange{initialized, opened, turn(2, session, "Where is the mulberry tree?", "Behind the shed."),
				turn(3, session, "Who has planted the mulberry tree?", "Nobody knows.")}
			s := b.startConversation(nil, all...)
			if want.early {
				b.wait("the panic", func() bool {
					_, err := os.Stat(filepath.Join(b.Signet, "acp", "panics.jsonl"))
					return err == nil
				})
			}
			if strings.HasPrefix(point, "folding ") {
				b.wait("an event of each turn to be kept aside", func() bool {
					return b.query(`SELECT count(*) FROM events WHERE kind = 'refused'`)[0][0] == "2"
				})
			}
			received, told := s.finish()
			sent := ""
			for _, one := range all {
				sent += one.up
			}
			if strings.Contains(received, blockMark) == want.bare {
				t.Errorf("the harness was sent a block: %v", !want.bare)
			}
			for strings.Contains(received, blockMark) {
				before, _, _ := strings.Cut(received, `{"type":"text","text":"`+blockMark)
				received = withoutBlock(t, received, before)
			}
			if received != sent {
				t.Errorf("the harness was sent\n%s\nthe client had sent\n%s", received, sent)
			}
			if n := strings.Count(told, "doctor says more)"); n != 1 {
				t.Errorf("it was said %d times:\n%s", n, told)
			}
			b.namedByDoctor(point)
			b.set("SIGNET_PANIC=")
			b.takeIn()
			whole := 0
			for _, row := range b.query(`SELECT user, assistant FROM turns`) {
				if strings.Contains(row[0], "mulberry") && len(row[1]) > 5 {
					whole++
				}
			}
			if whole != 2-want.lost {
				t.Errorf("%d turns are whole, not %d", whole, 2-want.lost)
			}
			if want.state != "" {
				if got := b.query(`SELECT state FROM sessions`); len(got) != 1 || got[0][0] != want.state {
					t.Errorf("the sessions' states are %v", got)
				}
			}
		})
	}
	t.Run("memory tools", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		b.set("SIGNET_PANIC=memory tools", "SIGNET_PORT=1", "SIGNET_ACP_MEMORY=embedded")
		cmd := exec.Command(build, "mcp")
		var told bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stderr = b.Work, b.Env, &told
		s := b.speak(&mcp.CommandTransport{Command: cmd})
		for range 2 {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "memory_list"})
			if err != nil || !r.IsError {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		if tools, err := s.ListTools(t.Context(), nil); err != nil || len(tools.Tools) == 0 {
			t.Errorf("%+v, %v", tools, err)
		}
		s.Close()
		b.namedByDoctor("memory tools")
	})
	t.Run("page", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		b.build = build
		b.set("SIGNET_PANIC=page", "SIGNET_PORT=1")
		cmd, _, address := b.openPage("--no-open")
		jar, err := cookiejar.New(nil)
		must(b, err)
		browser := http.Client{Jar: jar}
		for range 2 {
			answer, err := browser.Get(address)
			must(b, err)
			answer.Body.Close()
			address = answer.Request.URL.String() // without the key
			if answer.StatusCode != http.StatusInternalServerError {
				t.Errorf("it answered %s", answer.Status)
			}
		}
		http.DefaultClient.CloseIdleConnections()
		must(b, cmd.Process.Signal(os.Interrupt))
		if err := cmd.Wait(); err != nil {
			t.Errorf("interrupted: %v", err)
		}
		b.namedByDoctor("page")
	})
}

// namedByDoctor checks that a panic is logged, and named by doctor.
func (b *box) namedByDoctor(work string) {
	b.t.Helper()
	log := b.run("cat", filepath.Join(b.Signet, "acp", "log", "proxy.log"))
	if !strings.Contains(log, `"stack":[`) || strings.Contains(log, "mulberry") {
		b.t.Errorf("the log is\n%s", log)
	}
	if r := b.try(b.program(), "doctor"); r.Code != 1 || !strings.Contains(r.Stdout, "panic") {
		b.t.Errorf("doctor does not name %s: exit %d\n%s", work, r.Code, r.Stdout)
	}
}
