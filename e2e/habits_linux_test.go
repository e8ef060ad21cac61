package e2e

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a client is told first, and what the next conversation is told of it.
const (
	aFact     = "Remember this: the mast of the Curlew is 11.42 metres long."
	aQuestion = "How long is the mast of the Curlew?"
)

// Ways in which clients end an agent (docs/facts/clients.md, "Clients").
var ends = map[string]func(pid int){
	"hangs up": nil,
	"TERM":     func(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) },
	"KILL":     func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) },
	"TERM and KILL": func(pid int) {
		_ = syscall.Kill(pid, syscall.SIGTERM)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	},
	"KILL to all below": func(pid int) {
		for _, one := range append(descendants(pid), pid) {
			_ = syscall.Kill(one, syscall.SIGKILL)
		}
	},
	"TERM to the children first": func(pid int) {
		for _, one := range descendants(pid) {
			if parentOf(one) == pid {
				_ = syscall.Kill(one, syscall.SIGTERM)
			}
		}
		_ = syscall.Kill(pid, syscall.SIGTERM)
	},
}

// Clients start, talk to and end agents in ways of their own. Whatever the way: every byte is right, what was said is
// kept, a session that is loaded again is told nothing twice, the next one is told of it, and nothing is left running.
func TestClientHabits(t *testing.T) {
	t.Parallel()
	session := exchange{`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/srv","mcpServers":[]}}` + "\n",
		opened.down}
	told := turn(2, "scripted-0123456789", aFact, "It is noted.")
	usual := []exchange{initialized, session, told}

	for _, h := range []struct {
		client   string // that has the habit
		end      string
		wrap     []string
		greeting string                     // what comes out in front of us
		before   func(b *box) (then func()) // then: once initialize is answered
		says     []exchange                 // "" is usual
		sessions int                        // 0 is one
	}{
		{client: "CodeCompanion", end: "TERM", before: lockUntilGreeted},
		{client: "avante, without HOME", end: "TERM and KILL",
			wrap: []string{"env", "-u", "HOME", "-u", "USERPROFILE", "-u", "XDG_CONFIG_HOME", "-u", "LANG"}},
		{client: "agent-shell", end: "KILL"},
		{client: "Zed", end: "KILL to all below", wrap: []string{"setsid"}},
		{client: "DeepChat", end: "TERM to the children first"},
		{client: "VS Code, by way of a login shell", end: "TERM",
			wrap: []string{"sh", "-l", "-c", `exec "$@"`, "sh"}, greeting: "Welcome aboard\n", before: greeting},
		{client: "JetBrains, with several chats", end: "hangs up", sessions: 2, says: []exchange{initialized, session,
			another(session), told, {another(told).up, another(told).down},
			turn(4, "scripted-0123456789", "Thank you.", "")}},
		{client: "Jupyter, in /", end: "hangs up", wrap: []string{"sh", "-c", `cd / && exec "$@"`, "sh"},
			says: []exchange{initialized, opening("/", "scripted-0123456789"), told}},
	} {
		t.Run(h.client, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set("SIGNET_ACP_MEMORY=embedded", "SIGNET_PORT=1")
			b.wrap = h.wrap
			then := func() {}
			if h.before != nil {
				then = h.before(b)
			}
			if h.says == nil {
				h.says = usual
			}
			var steps []step
			up, down := "", h.greeting
			for _, one := range h.says {
				steps = append(steps, step{1, []byte(one.down)})
			}
			s := b.startScript(nil, steps...)
			s.hear(len(h.greeting))
			for i, one := range h.says {
				s.send(one.up)
				up, down = up+one.up, down+one.down
				s.hear(len(one.down))
				if i == 0 {
					then()
				}
			}
			if end := ends[h.end]; end != nil {
				end(s.cmd.Process.Pid)
			} else {
				s.hangUp()
			}
			s.heard.WriteString(s.rest())
			s.within(patience)
			b.alone()

			if diff := cmp.Diff(down, s.heard.String()); diff != "" {
				t.Errorf("the client was sent (-said +sent):\n%.2000s", diff)
			}
			text, err := os.ReadFile(s.record)
			must(b, err)
			received, blocks := withoutOurs(t, string(text))
			if received != up || blocks != max(h.sessions, 1) {
				t.Errorf("the harness was sent %d blocks, and\n%.2000s", blocks, received)
			}
			if ours := len(text) - len(up); ours > 64<<10 {
				t.Errorf("%d bytes are ours", ours)
			}
			b.wrap = nil
			again, _ := b.converse(nil, initialized, loaded, turn(22, "scripted-0123456789", "Thank you.", ""))
			if strings.Contains(again, blockMark) {
				t.Errorf("loaded again it was told:\n%.3000s", again)
			}
			next := 0 // a busy machine lets a prompt go without its memories rather than have it wait
			b.wait("the next conversation to be told", func() bool {
				next++
				later := fmt.Sprintf("scripted-later-%d-0123456789", next)
				heard, _ := b.converse(nil, initialized, opening("/srv", later), turn(2, later, aQuestion, ""))
				return strings.Count(heard, "11.42 metres") == 1
			})
			rows := b.query("SELECT user, stop FROM turns ORDER BY id LIMIT 1")
			if fmt.Sprint(rows) != fmt.Sprintf("[[%s end_turn]]", aFact) {
				t.Errorf("kept is %v", rows)
			}
		})
	}
}

// loaded is the first session, loaded again.
var loaded = exchange{`{"jsonrpc":"2.0","id":21,"method":"session/load","params":{"sessionId":"scripted-0123456789",` +
	`"cwd":"/srv","mcpServers":[]}}` + "\n", `{"jsonrpc":"2.0","id":21,"result":{}}` + "\n"}

// another is an exchange of a second session.
func another(e exchange) exchange {
	other := strings.NewReplacer(`"id":1,`, `"id":11,`, `"id":2,`, `"id":12,`, "scripted-0123456789",
		"scripted-9876543210", aFact, "Good morning.")
	return exchange{other.Replace(e.up), other.Replace(e.down)}
}

// greeting has the person's profile speak.
func greeting(b *box) func() {
	must(b, os.WriteFile(filepath.Join(b.Home, ".profile"), []byte("echo Welcome aboard\n"), 0o600))
	return func() {}
}

// lockUntilGreeted holds the database until initialize is answered: clients wait for that for 20 seconds and less.
func lockUntilGreeted(b *box) func() {
	b.run(proxyBin, "sessions") // makes it
	b.set("SIGNET_ACP_HOLD=1h") // and of that 4 minutes for the database: longer than this test waits
	db, err := sql.Open("sqlite3", "file:"+b.database()+"?_txlock=exclusive")
	must(b, err)
	tx, err := db.Begin()
	must(b, err)
	return func() {
		must(b, tx.Rollback())
		must(b, db.Close())
	}
}
