package e2e

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// A fault is one thing that goes wrong with a conversation of two prompts.
type fault struct {
	who, what string
	words     string            // of the unruly harness
	with      func(*faulty)     // before the proxy is started
	between   func(*faulty)     // before the second prompt
	talk      func(*faulty)     // in place of the two prompts
	said      string            // what people are told, a regular expression; "" is nothing
	kept      int               // turns in the database
	code      int               // with which the proxy ends
	doctor    string            // the problem with the disk that it then names, a regular expression; "" is none
	mend      func(*faulty)     // as a person does then
	owed      bool              // what was said waits for the daemon, also when it is well again
	off       bool              // and is not for it
	bare      bool              // the harness is given no block
	older     bool              // the daemon is 0.58.1, else 0.145.8
	daemon    *daemontest.Fault // on everything from the beginning
}

// A faulty is a conversation that something goes wrong with.
type faulty struct {
	*client
	d     *daemontest.Daemon
	times []time.Duration
}

// ask is a prompt and its turn.
func (f *faulty) ask() {
	f.t.Helper()
	began := time.Now()
	id := f.sendPrompt(fmt.Sprintf("Question %d. %s", len(f.times), words))
	f.until(fmt.Sprintf(`"id":%d,`, id)) // also where it is an error
	f.times = append(f.times, time.Since(began).Round(time.Millisecond))
}

// add sends a frame that nobody waits for an answer to.
func (f *faulty) add(frame string) { f.send("%s", frame) }

// silence is what a client hears of a harness that dies: nothing is made up.
func (f *faulty) silence() {
	f.t.Helper()
	if rest := f.rest(); rest != "" {
		f.t.Errorf("the client was sent %s", rest)
	}
}

// put makes a file of the Signet folder be what it should not be.
func put(name, text string) func(*faulty) {
	return func(f *faulty) {
		path := filepath.Join(f.Signet, name)
		must(f.box, os.MkdirAll(filepath.Dir(path), 0o700))
		must(f.box, os.RemoveAll(path))
		if text == "" {
			must(f.box, os.MkdirAll(path, 0o700))
		} else {
			must(f.box, os.WriteFile(path, []byte(text), 0o600))
		}
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

// alter makes the database, and changes it as another program may.
func alter(statements ...string) func(*faulty) {
	return func(f *faulty) {
		f.run(proxyBin, "sessions")
		f.makeDatabase(f.database(), statements...)
	}
}

// readOnly has the proxy and doctor see our folder, with a database, as a mount that takes nothing.
func readOnly(f *faulty) {
	f.run(proxyBin, "sessions")
	f.box.wrap = []string{"unshare", "-rm", "sh", "-c",
		`mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"`, filepath.Dir(f.database())}
	if exec.Command("unshare", "-rm", "true").Run() != nil {
		f.t.Skip("no namespaces here")
	}
}

// noDatabase removes the database, so that a new one is begun.
func noDatabase(f *faulty) {
	for _, ending := range []string{"", "-wal", "-shm"} {
		must(f.box, os.RemoveAll(f.database()+ending))
	}
}

// restored makes a backup of the database and restores it, as doctor says.
func restored(f *faulty) {
	backup := filepath.Join(f.Dir, "backup.db")
	f.run(proxyBin, "backup", backup)
	f.run(proxyBin, "restore", backup)
}

const (
	tables = `its tables are not as they should be`
	hooks  = "/api/hooks/"
	// the harness's stderr as it came, then a line of ours and its last lines once more
	lastWords = `(?s)^stack line 0\n.*fatal: the last words.*: the agent exited: .*stack line 99\n +fatal: the last words$`
	lacking   = `^signet-acp-proxy: the daemon at http://\S+: .+; agents get only the identity files until the daemon answers$`
)

// What goes wrong, with the daemon, the client, the harness and the disk.
var faults = []fault{
	{who: "daemon", what: "is not there", older: true, with: func(f *faulty) { f.d.Stop() }, said: lacking, kept: 2},
	{who: "daemon", what: "goes between the prompts", between: func(f *faulty) { f.d.Stop() }, kept: 2},
	{who: "daemon", what: "is restarted between the prompts", older: true, between: func(f *faulty) { f.d.Stop(); _ = f.d.Resume() }, kept: 2},
	{who: "daemon", what: "takes calls and never answers", older: true, daemon: &daemontest.Fault{Kind: daemontest.BlackHole}, said: lacking, kept: 2},
	{who: "daemon", what: "is healthy, and its hooks never answer", daemon: &daemontest.Fault{Path: hooks, Kind: daemontest.BlackHole}, said: lacking, kept: 2},
	{who: "daemon", what: "hangs from the second prompt on", older: true, between: func(f *faulty) { f.d.Fail(daemontest.Fault{Kind: daemontest.BlackHole}) }, kept: 2},
	{who: "daemon", what: "never answers to an end", daemon: &daemontest.Fault{Path: hooks + "session-end", Kind: daemontest.BlackHole, Times: 1}, kept: 2},
	{who: "daemon", what: "starts later than a prompt waits", daemon: &daemontest.Fault{Path: hooks + "session-start", Kind: daemontest.Held}, between: func(f *faulty) { f.d.Heal() }, said: lacking, kept: 2},
	{who: "daemon", what: "drips", daemon: &daemontest.Fault{Path: hooks, Kind: daemontest.Drip}, said: lacking, kept: 2},
	{who: "daemon", what: "answers 500", older: true, daemon: &daemontest.Fault{Kind: daemontest.Status}, said: lacking, kept: 2},
	{who: "daemon", what: "answers 503: too many at once", daemon: &daemontest.Fault{Path: hooks, Kind: daemontest.Status, Code: 503}, said: lacking, kept: 2},
	{who: "daemon", what: "answers 401: it wants a token", older: true, daemon: &daemontest.Fault{Kind: daemontest.Status, Code: 401}, said: lacking, kept: 2},
	{who: "daemon", what: "answers 404: it has no such hooks", daemon: &daemontest.Fault{Path: hooks, Kind: daemontest.Status, Code: 404}, said: lacking, kept: 2},
	{who: "daemon", what: "redirects", daemon: &daemontest.Fault{Kind: daemontest.Status, Code: 307}, said: lacking, kept: 2},
	{who: "daemon", what: "answers what is no JSON", older: true, daemon: &daemontest.Fault{Path: hooks, Kind: daemontest.Garbage}, said: lacking, kept: 2},
	{who: "daemon", what: "answers 100 MB", daemon: &daemontest.Fault{Path: hooks, Kind: daemontest.Huge}, said: lacking, kept: 2},
	{who: "daemon", what: "closes the connection", daemon: &daemontest.Fault{Kind: daemontest.Drop}, said: lacking, kept: 2},
	{who: "daemon", what: "does the work and closes the connection", daemon: &daemontest.Fault{Path: hooks, Kind: daemontest.DropAfter, Times: 3}, said: lacking, kept: 2},
	{who: "daemon", what: "serves another folder", with: func(f *faulty) {
		f.d = daemontest.Start(f.t, daemontest.Options{Generation: daemontest.Middle, AgentsDir: f.Dir})
		f.set("SIGNET_DAEMON_URL=", "SIGNET_HOST=127.0.0.1", "SIGNET_PORT="+
			f.d.URL()[strings.LastIndex(f.d.URL(), ":")+1:])
	}, said: lacking, kept: 2, owed: true},
	{who: "daemon", what: "says that a person has switched the session off", bare: true, daemon: &daemontest.Fault{}, kept: 2, off: true},

	{who: "client", what: "sends what is no JSON", talk: func(f *faulty) { f.add("this is no JSON"); f.ask() }, kept: 1},
	{who: "client", what: "goes in the middle of a frame", talk: func(f *faulty) { f.ask(); must(f.box, f.write(`{"jsonrpc":"2.0","id":77,"meth`)) }, kept: 1},
	{who: "client", what: "sends a batch", talk: func(f *faulty) { f.add(`[{"jsonrpc":"2.0","id":77,"method":"session/prompt"}]`); f.ask() }, kept: 1},
	{who: "client", what: "sends invalid UTF-8", talk: func(f *faulty) { f.add("{\"jsonrpc\":\"2.0\",\"method\":\"_x\",\"params\":\"\xff\xfe\"}"); f.ask() }, kept: 1},
	{who: "client", what: "sends a prompt that is no list", talk: func(f *faulty) {
		f.call("session/prompt", map[string]any{"sessionId": f.session, "prompt": "x"})
		f.ask()
	}, kept: 2},
	{who: "client", what: "prompts a session that nobody has opened", talk: func(f *faulty) {
		f.say("nobody-has-opened-this-one", "x")
		f.ask()
	}, kept: 1},
	{who: "client", what: "uses an id twice", talk: func(f *faulty) {
		f.ask()
		f.id--
		f.ask()
	}, kept: 2},
	{who: "client", what: "sends a prompt of 32 MB", talk: func(f *faulty) {
		f.say(f.session, strings.Repeat("words ", 32<<20/6))
		f.ask()
	}, kept: 2},
	{who: "client", what: "cancels what it has just asked", words: "slow", talk: func(f *faulty) {
		f.beginTurn()
		f.cancel()
		f.until(`"stopReason":"cancelled"`)
	}, kept: 1},
	{who: "client", what: "goes in the middle of a turn", words: "slow", talk: func(f *faulty) { f.beginTurn() }, kept: 1},
	{who: "client", what: "reads no more", words: "flood=100000", talk: func(f *faulty) {
		f.beginTurn()
		f.out.Close()
	}, kept: 1},

	{who: "harness", what: "dies at its start", bare: true, words: "dies=start:9", talk: func(f *faulty) { f.silence() }, said: lastWords, code: 9},
	{who: "harness", what: "dies at initialize", bare: true, words: "dies=initialize:kill", talk: func(f *faulty) {
		f.add(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
		f.silence()
	}, said: lastWords, code: 128 + 9},
	{who: "harness", what: "dies when a session is opened", bare: true, words: "dies=session/new:1", talk: func(f *faulty) {
		must(f.box, f.greet())
		f.add(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`,
			f.Work))
		f.silence()
	}, said: lastWords, code: 1},
	{who: "harness", what: "dies in the middle of a turn", words: "dies=session/prompt:kill", talk: func(f *faulty) {
		f.begin()
		f.sendPrompt("x")
		f.silence()
	}, said: lastWords, code: 128 + 9, kept: 1},
	{who: "harness", what: "says what is no frame", words: "noise", said: `not a frame, on the agent's stdout: Loading model`, kept: 2},
	{who: "harness", what: "ends each turn with an error", words: "errors", kept: 2},
	{who: "harness", what: "answers everything twice", words: "twice", kept: 2},
	{who: "harness", what: "answers what nobody asked", words: "unasked", kept: 2},
	{who: "harness", what: "speaks another version of the protocol", bare: true, words: "version=99", said: `protocol version 99`, kept: 0},
	{who: "harness", what: "stays when its input has ended", words: "stays", kept: 2, code: 128 + 15},
	{who: "harness", what: "stays, and ignores signals", words: "stays deaf", kept: 2, code: 128 + 9},
	{who: "harness", what: "leaves a process that has its pipes", words: "litters", kept: 2},
	{who: "harness", what: "says 100,000 messages in a turn", words: "flood=100000", kept: 2},

	{who: "disk", what: "a folder in the place of the database", with: put("acp/sessions.db", ""), said: `sessions\.db`, kept: 2, doctor: `sessions\.db: (the disk fails|it cannot be written)`, mend: noDatabase},
	{who: "disk", what: "a database that is none", with: put("acp/sessions.db", strings.Repeat("this is no database\n", 1000)), said: `no memory`, kept: 2, doctor: `is damaged or no database`, mend: noDatabase},
	{who: "disk", what: "a database of a newer version", with: func(f *faulty) {
		put("acp", "")(f)
		f.makeDatabase(f.database(), "PRAGMA user_version = 99999", "CREATE TABLE migrations (name TEXT)",
			"INSERT INTO migrations VALUES ('9999_later.sql')")
	}, said: `newer version`, kept: 2, doctor: `newer version`, mend: noDatabase},
	{who: "disk", what: "a database of another program", with: func(f *faulty) {
		put("acp", "")(f)
		f.makeDatabase(f.database(), "CREATE TABLE sessions (name TEXT)")
	}, said: tables, kept: 2, doctor: tables + `.*sessions is not ours`, mend: noDatabase},
	{who: "disk", what: "a table that was dropped", with: alter("DROP TABLE events"), said: tables + `.*table events is missing`, kept: 2, doctor: tables + `.*table events is missing`, mend: restored},
	{who: "disk", what: "a trigger that refuses turns", with: alter("CREATE TRIGGER no BEFORE INSERT ON turns BEGIN SELECT RAISE(ABORT, 'no'); END"), talk: func(f *faulty) { f.ask(); f.ask() }, said: tables + `.*trigger no is not ours`, kept: 2, doctor: tables + `.*trigger no is not ours`, mend: restored},
	{who: "disk", what: "our folder replaced by an older copy", talk: func(f *faulty) {
		f.ask()
		acp := filepath.Join(f.Signet, "acp")
		must(f.box, os.CopyFS(acp+".copy", os.DirFS(acp)))
		f.ask()
		must(f.box, os.Rename(acp, acp+".old"))
		must(f.box, os.Rename(acp+".copy", acp))
		f.ask()
	}, said: `/live was replaced: recording continues in the new one`, kept: 3},
	{who: "disk", what: "our folder removed", talk: func(f *faulty) {
		f.ask()
		must(f.box, os.RemoveAll(filepath.Join(f.Signet, "acp")))
		f.ask()
	}, said: `/live was removed: recording continues in a new one`, kept: 2},
	{who: "disk", what: "our folder mounted read-only", bare: true, with: readOnly, said: `cannot be written`, kept: -1, doctor: `/acp cannot be written: .*read-only`},
	{who: "disk", what: "a database that somebody else holds", talk: func(f *faulty) {
		b := f.box
		db, err := sql.Open("sqlite3", "file:"+f.database())
		must(b, err)
		defer db.Close()
		db.SetMaxOpenConns(1)
		_, err = db.Exec("BEGIN EXCLUSIVE")
		must(b, err)
		f.ask()
		f.ask()
		f.hangUp()
		f.code()
		_, err = db.Exec("ROLLBACK")
		must(b, err)
	}, kept: 2},
	{who: "disk", what: "a file in the place of our folder", bare: true, with: put("acp", "x"), said: `acp`, kept: -1, doctor: `/acp cannot be written: .*not a directory`},
	{who: "disk", what: "a file in the place of the living processes' folder", bare: true, with: put("acp/live", "x"), said: `live`, kept: 0, doctor: `/acp/live cannot be written: .*not a directory`},
	{who: "disk", what: "a file in the place of the log's folder", with: put("acp/log", "x"), said: `log`, kept: 2},
	{who: "disk", what: "a configuration that cannot be read", with: put("agent.yaml", "acp: [\n"), said: `agent\.yaml`, kept: 2, doctor: `agent\.yaml: yaml`},
	{who: "disk", what: "a folder in the place of an identity file", with: put("IDENTITY.md", ""), kept: 2, doctor: `IDENTITY\.md is not a regular file`},
	{who: "disk", what: "no room for anything", bare: true, with: func(f *faulty) {
		f.box.wrap = []string{"sh", "-c", `ulimit -f 0; exec "$@"`, "sh"}
	}, said: `.`, kept: -1, doctor: `/acp cannot be written: .*too large`},
}

// Whatever goes wrong, a prompt goes out in its time, people are told what they lose, once, and what was said is kept
// as far as it can be; of the conversation the harness gets each byte. With -v this prints the table in docs/facts/faults.md; that no prompt waits longer is held to by
// TestDeadlines in package proxy, whose clock does not know how busy the machine is.
func TestFaults(t *testing.T) {
	t.Parallel()
	const hold = 1500 * time.Millisecond
	rows := make([]string, len(faults))
	t.Cleanup(func() { t.Log("\n" + strings.Join(rows, "\n")) })
	for i, tt := range faults {
		t.Run(tt.who+" "+tt.what, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set("SIGNET_ACP_HOLD=" + hold.String()) // as it is by itself
			f := &faulty{client: &client{box: b, t: t}}
			flags := []string{"--memory", "embedded"}
			if tt.who == "daemon" {
				flags[1] = "daemon"
				generation := daemontest.Middle
				if tt.older {
					generation = daemontest.Older
				}
				f.d = b.withDaemon(generation)
			}
			if tt.daemon != nil && !tt.off {
				f.fail(*tt.daemon)
			}
			if tt.with != nil {
				tt.with(f)
			}
			f.client = b.unleash(t, cmp.Or(tt.words, "well"), flags...)
			switch {
			case strings.HasPrefix(tt.words, "dies"):
				tt.talk(f)
			case tt.talk != nil:
				f.begin()
				f.opened()
				tt.talk(f)
			default:
				f.begin()
				if tt.who == "daemon" {
					f.opened() // else the database may be what a prompt does not wait for
				}
				if tt.off {
					b.wait("the session at the daemon", func() bool { return len(f.d.Sessions()) == 1 })
					f.d.Bypass(f.d.Sessions()[0], true)
				}
				f.ask()
				if tt.between != nil {
					tt.between(f)
				}
				f.ask()
			}
			expected := regexp.MustCompile(tt.said)
			if tt.who == "disk" { // it may be noticed beside the conversation
				f.wait("what people are told", func() bool { return expected.MatchString(f.stderr.String()) })
			}
			f.hangUp()
			if code := f.code(); code != tt.code {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
			f.passed(tt)
			said := strings.TrimSpace(f.said())
			if matched := expected.MatchString(said); (tt.said == "") != (said == "") || !matched {
				t.Errorf("people were told:\n%s", said)
			}
			found, mended := f.diagnosed(tt), ""
			if tt.mend != nil {
				tt.mend(f)
				mended = ", once that is mended"
			}
			kept := "nothing"
			if tt.kept >= 0 {
				n := 0
				f.wait("the turns", func() bool { n = f.turns(); return n >= tt.kept })
				if n != tt.kept {
					t.Errorf("%d turns are kept, want %d", n, tt.kept)
				} else if n > 0 {
					kept = counted(n) + mended
				}
			}
			if f.d != nil {
				f.d.Heal()
				f.d.Stop() // ends what hangs
				_ = f.d.Resume()
				kept += "; " + f.delivered(tt)
			}
			rows[i] = fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", tt.who, tt.what,
				strings.Trim(fmt.Sprint(f.times), "[]"), f.ours(said), found, kept)
		})
	}
}

// fail puts a fault on the daemon. An end that gets no answer is posted once more, a second later: that may be before the
// daemon is well again, so that only the first one meets a fault of all hooks.
func (f *faulty) fail(fault daemontest.Fault) {
	if fault.Path != hooks || fault.Times > 0 {
		f.d.Fail(fault)
		return
	}
	for hook, times := range map[string]int{"session-start": 0, "user-prompt-submit": 0, "session-end": 1} {
		fault.Path, fault.Times = hooks+hook, times
		f.d.Fail(fault)
	}
}

// passed compares what the harness got with what the client sent: it is the same, but for our block and our server.
func (f *faulty) passed(tt fault) {
	f.t.Helper()
	got, err := os.ReadFile(f.received)
	must(f.box, err)
	rest, blocks := withoutOurs(f.t, string(got))
	if sent := f.sent.String(); rest != sent && len(got) > 0 {
		f.t.Errorf("the harness got\n%.3000s\nthe client sent\n%.3000s", rest, sent)
	}
	if (blocks == 0) != tt.bare {
		f.t.Errorf("the harness was given %d blocks", blocks)
	}
	if tt.said == lacking && !strings.Contains(string(got), "You are Halyard") {
		f.t.Errorf("the harness was not given the identity files:\n%.3000s", got)
	}
}

// diagnosed is what doctor says of the disk, and its exit code. The other commands say the same of the database, if they
// cannot do without.
func (f *faulty) diagnosed(tt fault) string {
	f.t.Helper()
	if tt.who != "disk" {
		return ""
	}
	var found []struct{ Check, Status, Text string }
	r := f.try(slices.Concat(f.box.wrap, []string{proxyBin, "doctor", "--json", "--memory", "embedded"})...)
	must(f.box, json.Unmarshal([]byte(r.Stdout), &found))
	if tt.doctor == "" && r.Code == 0 {
		return "exit 0"
	}
	expected := regexp.MustCompile(tt.doctor)
	for _, one := range found {
		if one.Status != "problem" || tt.doctor == "" || r.Code != 1 || !expected.MatchString(one.Text) {
			continue
		}
		if r := f.try(proxyBin, "sessions"); one.Check == "database" && r.Code != 0 && !expected.MatchString(r.Stderr) {
			f.t.Errorf("sessions says\n%s", r.Stderr)
		}
		return "exit 1: " + f.short(strings.TrimPrefix(one.Text, "database "+f.database()+": "))
	}
	f.t.Errorf("doctor: exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	return ""
}

// ours is the line of what people were told that is the program's, as the table has it.
func (f *faulty) ours(said string) string {
	for line := range strings.Lines(said) {
		if _, text, ok := strings.Cut(strings.TrimSpace(line), "signet-acp-proxy: "); ok &&
			!strings.HasPrefix(text, "conversations are saved in") {
			return f.short(text)
		}
	}
	return ""
}

// short is a text as the table has it.
func (f *faulty) short(text string) string {
	return chars.Cut(strings.NewReplacer(f.Signet, "~/.agents", self, "AGENT", f.url(), "URL", "|", "/").Replace(text), 140)
}

func counted(turns int) string {
	if turns == 1 {
		return "1 turn"
	}
	return fmt.Sprintf("%d turns", turns)
}

// url is the daemon's.
func (f *faulty) url() string {
	if f.d == nil {
		return "nowhere"
	}
	return f.d.URL()
}

// opened waits until the database has the session.
func (f *faulty) opened() {
	f.t.Helper()
	f.wait("the session in the database", func() bool {
		db, err := sql.Open("sqlite3", "file:"+f.database()+"?mode=ro&_busy_timeout=5000")
		must(f.box, err)
		defer db.Close()
		var n int
		return db.QueryRow(`SELECT count(*) FROM sessions`).Scan(&n) == nil && n > 0
	})
}

// turns counts those that the database has, once it has taken in all that was written down.
func (f *faulty) turns() int {
	f.t.Helper()
	_ = f.try(proxyBin, "sessions")
	rows := f.query(`SELECT count(*) FROM turns`)
	n := 0
	_, err := fmt.Sscan(rows[0][0], &n)
	must(f.box, err)
	return n
}

// delivered waits until the daemon, which is well again, has what it is owed, and returns that in words.
func (f *faulty) delivered(tt fault) string {
	f.t.Helper()
	deliver := func() {
		ctx, cancel := context.WithTimeout(f.t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, proxyBin, "deliver", "--wait", "--memory", "daemon")
		cmd.Env, cmd.Dir = f.Env, f.Work
		_ = cmd.Run()
	}
	if tt.owed {
		if deliver(); len(f.d.Ends()) > 0 {
			f.t.Errorf("a daemon that is not ours got %+v", f.d.Ends())
		}
		f.endWorkers()
		return "still to be delivered"
	}
	f.wait("the delivery", func() bool {
		deliver()
		rows := f.query(`SELECT done FROM debts WHERE kind = 'daemon'`)
		return len(rows) > 0 && !slices.ContainsFunc(rows, func(row []string) bool { return row[0] == "0" })
	})
	var got []string
	for _, e := range f.d.Ends() {
		if e.Outcome == daemontest.Queued {
			got = append(got, e.Kept)
		}
	}
	if tt.off {
		if len(got) > 0 {
			f.t.Errorf("a session that is switched off was delivered: %q", got)
		}
		return "not delivered, as the user wants"
	}
	all := strings.Join(got, "")
	if slices.ContainsFunc([]string{"Question 0. ", "Question 1. "},
		func(q string) bool { return strings.Count(all, q) != 1 }) {
		f.t.Errorf("delivered: %.2000q", got)
	}
	return "delivered, once"
}

// endWorkers ends those that would wait half a minute for what comes due.
func (b *box) endWorkers() {
	for _, worker := range b.workers() {
		_ = kill(worker.ID)
	}
}

// A daemon that hangs is paid for once: of four processes that end one after another, each as soon as it is answered,
// the first alone asks it.
func TestHangIsPaidOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.set("ECHOAGENT_TERSE=1", "SIGNET_ACP_HOLD=8s") // a slow start of our own is not held against the daemon
	b.run(proxyBin, "sessions")                      // makes the database, which takes as long as the disk does
	d := b.withDaemon(daemontest.Middle)
	d.Fail(daemontest.Fault{Kind: daemontest.BlackHole})
	for range 4 {
		b.talk("A question. "+words, "--memory", "daemon")
	}
	d.Heal()
	b.endWorkers()
	if n := len(d.Requests("/api/hooks/session-start")); n != 1 {
		t.Errorf("its hooks were called %d times", n)
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
	if strings.Count(said, "the disk is full") != 1 || strings.Count(said, "could not be saved") != 1 {
		t.Errorf("people were told\n%s", said)
	}
	b.takeIn()
	kept := len(b.query(`SELECT 1 FROM turns WHERE stop = 'end_turn' AND user LIKE 'turn %'`))
	t.Logf("%d turns of %d are kept\n%s", kept, turns, said)
	if kept < 5 || kept == turns {
		t.Errorf("%d turns of %d are kept", kept, turns)
	}
}
