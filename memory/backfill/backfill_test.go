package backfill

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/e2e/realtext"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// walk reads all that an agent has written below a home.
func walk(t *testing.T, home, agent string) (all []Conversation, skipped []Skip) {
	t.Helper()
	err := Walk(t.Context(), Place{Home: home}, agent, Visitor{
		Conversation: func(c Conversation) error { all = append(all, c); return nil },
		Skip:         func(s Skip) { skipped = append(skipped, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, skipped
}

const (
	heron   = "The heron staging server is deployed on Fridays at noon."
	kestrel = "And what about\nthe kestrel?"
)

// What each harness has written of the same two prompts, the first with a block of ours in front (testdata: files of
// the versions named in the formats, shortened).
func TestFormats(t *testing.T) {
	for agent, want := range map[string]struct {
		id, cwd string
		users   []string
	}{
		"claude":  {"6f0139dd-d549-4c2a-9efc-1672fe7485b7", "/home/robin/work", []string{heron, kestrel}},
		"codex":   {"01a20053-672e-7842-8095-3c48a9ba947b", "/home/robin/work", []string{heron, kestrel}},
		"copilot": {"bf8da03e-6572-4a83-bafa-bb052daacf28", "/home/robin/work", []string{heron}},
		"gemini":  {"744224d3-4a39-4e4f-89a3-6747eace0b13", "/home/robin/work", []string{heron}},
		"pi":      {"01a20056-6011-7304-bac5-ea3b131acb33", "/home/robin/work", []string{heron, kestrel}},
		"qwen":    {"e156bd75-ac7c-466a-a6e5-6b9567ae5fa7", "/home/robin/work", []string{heron}},
	} {
		t.Run(agent, func(t *testing.T) {
			all, skipped := walk(t, "testdata", agent)
			if len(all) != 1 || len(skipped) != 0 {
				t.Fatalf("%d conversations, skipped %v", len(all), skipped)
			}
			c := all[0]
			if c.ID != want.id || c.Cwd != want.cwd || c.Agent != agent {
				t.Errorf("got %s %s in %s", c.Agent, c.ID, c.Cwd)
			}
			var users []string
			for _, turn := range c.Turns {
				users = append(users, turn.User)
				if turn.Assistant != "ok" || turn.Started.IsZero() || turn.Ended.Before(turn.Started) {
					t.Errorf("the turn: %+v", turn)
				}
			}
			if diff := gocmp.Diff(want.users, users); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// makeOpencode makes one with the tables that are read, as OpenCode 1.18.33 has them.
func makeOpencode(t *testing.T, home string, statements ...string) {
	t.Helper()
	path := filepath.Join(home, ".local", "share", "opencode", "opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(migrations.DriverName, path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range append([]string{
		`CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL,
			time_created integer NOT NULL)`,
		`CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
			data text NOT NULL)`,
		`CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
			time_created integer NOT NULL, data text NOT NULL)`,
	}, statements...) {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpencode(t *testing.T) {
	home := t.TempDir()
	part := func(id, message string, at int, data string) string {
		return fmt.Sprintf(`INSERT INTO part VALUES ('%s', '%s', 'ses_1', %d, '%s')`, id, message, at, data)
	}
	makeOpencode(t, home,
		`INSERT INTO session VALUES ('ses_1', NULL, '/home/robin/work', 'x', 1000),
			('ses_2', 'ses_1', '/home/robin/work', 'a subagent', 500)`,
		`INSERT INTO message VALUES ('m0', 'ses_2', 500, '{"role":"user"}'), ('m1', 'ses_1', 1000, '{"role":"user"}'),
			('m2', 'ses_1', 2000, '{"role":"assistant"}'), ('m3', 'ses_1', 3000, '{"role":"user"}')`,
		`INSERT INTO part VALUES ('p0', 'm0', 'ses_2', 500, '{"type":"text","text":"Look into it."}')`,
		part("p1", "m1", 1000, `{"type":"text","text":"<signet-memory source=\"acp-proxy\" id=\"1\">\nx\n</signet-memory>\n\n"}`),
		part("p2", "m1", 1001, `{"type":"text","text":"Hello"}`),
		part("p3", "m1", 1002, `{"type":"text","text":"made up","synthetic":true}`),
		part("p4", "m2", 2000, `{"type":"step-start"}`),
		part("p5", "m2", 2001, `{"type":"text","text":"Hello yourself"}`),
		part("p6", "m2", 2002, `{"type":"tool","text":"no words","tool":"read","state":{"input":{"filePath":"/w/a.go"}}}`),
		part("p8", "m2", 2003, `{"type":"text","text":"Read."}`),
		part("p7", "m3", 3000, `{"type":"text","text":"Bye"}`),
	)
	all, skipped := walk(t, home, "opencode")
	if len(all) != 2 || len(skipped) != 0 || all[1].ID != "ses_2" || all[1].Parent != "ses_1" {
		t.Fatalf("%+v, skipped %v", all, skipped)
	}
	want := []Turn{
		{User: "Hello", Assistant: "Hello yourself\f\n\nRead.",
			Tools: []Tool{{Title: "read /w/a.go", Kind: "read", Paths: []string{"/w/a.go"}}}, Started: time.UnixMilli(1000), Ended: time.UnixMilli(2000)},
		{User: "Bye", Started: time.UnixMilli(3000), Ended: time.UnixMilli(3000)},
	}
	if diff := gocmp.Diff(want, all[0].Turns); diff != "" || all[0].ID != "ses_1" || all[0].Cwd != "/home/robin/work" {
		t.Errorf("%s in %s: %s", all[0].ID, all[0].Cwd, diff)
	}
}

// Files that are broken, foreign or of another kind are passed over with a word, and those beside them are read.
func TestOddFiles(t *testing.T) {
	line := func(role, text string) string {
		return fmt.Sprintf(`{"type":%q,"sessionId":"s-1","cwd":"/w","timestamp":"2026-01-02T03:04:05Z",`+
			`"message":{"role":%q,"content":%q}}`+"\n", role, role, text)
	}
	for name, tt := range map[string]struct {
		file  string
		users []string
		why   string
	}{
		"half a line":    {line("user", "one") + line("assistant", "1") + `{"type":"user","mess`, []string{"one"}, ""},
		"a newer format": {`{"v":9,"kind":"utterance"}` + "\n", nil, "unknown format"},
		"nothing":        {"", nil, "no conversation"},
		"no JSON":        {strings.Repeat("\x00\xff binary\n", 100), nil, "100 of its lines are broken"},
		"half a line between others": {line("user", "one") + `{"type":"assistant","mess` + line("user", "lost with it") +
			line("user", "two"), []string{"one\n\ntwo"}, "not all of it can be read: one of its lines"},
		"a line of another shape": {line("user", "one") + `{"type":7,"message":"x"}` + "\n", []string{"one"}, ""},
		"a very long line": {line("user", "one") + `{"type":"user","sessionId":"s-1","message":{"content":"` +
			strings.Repeat("x", maxLine) + "\"}}\n" + line("assistant", "1") +
			line("user", "two"), []string{"one", "two"}, "one of its lines is broken or longer than 16 MB"},
		"a very long line at the end": {line("user", "one") + strings.Repeat("x", maxLine+1), []string{"one"},
			"longer than 16 MB"},
		"a string": {line("user", "plain"), []string{"plain"}, ""},
		"said by the harness": {line("user", "<command-name>/clear</command-name>") + line("user",
			"<system-reminder>x</system-reminder>") + line("user", "mine"),
			[]string{"mine"}, ""},
		"a sidechain": {line("user", "mine") + strings.Replace(line("user", "the subagent's"), `{"type"`,
			`{"isSidechain":true,"type"`, 1), []string{"mine"}, ""},
		"about tools": {line("user", `what is a "tool_result"?`) + line("assistant", `one of a "tool_use"`),
			[]string{`what is a "tool_result"?`}, ""},
		"a command and its output": {line("user", "<command-name>/model</command-name>\n<command-args>x</command-args>") +
			line("user", "<local-command-stdout>set</local-command-stdout>") + line("user", "mine"), []string{"mine"}, ""},
		"a command that is answered": {line("user", "<command-message>go</command-message>\n"+
			"<command-name>/go</command-name>\n<command-args>on with it</command-args>") + line("assistant", "1"),
			[]string{"/go on with it"}, ""},
		"words beside a file": {line("user", "<ide_opened_file>CANARY</ide_opened_file>\nmine\n"+
			"<system-reminder>CANARY</system-reminder>"), []string{"mine"}, ""},
		"words that quote": {line("user", "what is\n<bash-stdout>x</bash-stdout>\nhere?"),
			[]string{"what is\n<bash-stdout>x</bash-stdout>\nhere?"}, ""},
		"between turns": {line("user", "one") + line("assistant", "1") +
			line("user", "<task-notification>\nCANARY\n</task-notification>") + line("assistant", "2") +
			line("user", "[Request interrupted by user for tool use]") + line("user", "two"), []string{"one", "two"}, ""},
		"said while it works": {line("user", "one") + line("assistant", "1") + `{"type":"attachment","sessionId":"s-1",` +
			`"attachment":{"type":"queued_command","prompt":"two"}}` + "\n", []string{"one", "two"}, ""},
		"answered by a tool alone": {line("user", "one") + `{"type":"assistant","sessionId":"s-1","message":{"content":` +
			`[{"type":"tool_use","name":"Edit","input":{"file_path":"a.go"}}]}}` + "\n" + line("user", "two"),
			[]string{"one", "two"}, ""},
		"tool results": {line("user", "mine") + line("assistant", "1") +
			`{"type":"user","sessionId":"s-1","message":{"content":[{"type":"tool_result","content":"x"}]}}` + "\n",
			[]string{"mine"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			dir := filepath.Join(home, ".claude", "projects", "-w")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for path, text := range map[string]string{"a.jsonl": tt.file,
				"b.jsonl": strings.ReplaceAll(line("user", "beside it"), "s-1", "s-2"), "c.txt": "no"} {
				if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(dir, filepath.Join(dir, "loop.jsonl")); err != nil {
				t.Fatal(err)
			}
			all, skipped := walk(t, home, "claude")
			var users []string
			for _, c := range all {
				for _, turn := range c.Turns {
					if c.ID == "s-1" {
						users = append(users, turn.User)
					}
				}
			}
			if !slices.Equal(users, tt.users) || len(all) == 0 || all[len(all)-1].ID != "s-2" {
				t.Errorf("got %q of %d conversations", users, len(all))
			}
			links := 0
			skipped = slices.DeleteFunc(skipped, func(s Skip) bool {
				link := strings.HasSuffix(s.File, "loop.jsonl") && strings.Contains(s.Why, "link")
				if link {
					links++
				}
				return link
			})
			if links != 1 || tt.why == "" && len(skipped) > 0 || tt.why != "" &&
				(len(skipped) != 1 || !strings.Contains(skipped[0].Why, tt.why)) {
				t.Errorf("%d links, skipped %v", links, skipped)
			}
		})
	}
}

// claudeFile opens a transcript of Claude's below a home.
func claudeFile(t *testing.T, home, name string) *os.File {
	t.Helper()
	path := filepath.Join(home, ".claude", "projects", "-w", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func claudeLine(id, role, text string) string {
	return fmt.Sprintf(`{"type":%q,"sessionId":%q,"cwd":"/w","timestamp":"2026-01-02T03:04:05Z",`+
		`"message":{"content":%q}}`+"\n", role, id, text)
}

// What a branched conversation has from another one is that one's, where that is there.
func TestBranched(t *testing.T) {
	home := t.TempDir()
	forked := func(from, text string) string {
		return strings.Replace(claudeLine("s-2", "user", text),
			`{"type"`, `{"forkedFrom":{"sessionId":"`+from+`"},"type"`, 1)
	}
	for name, text := range map[string]string{
		"s-1.jsonl": claudeLine("s-1", "user", "the first's") + claudeLine("s-1", "assistant", "ok"),
		"s-2.jsonl": forked("s-1", "the first's") + claudeLine("s-2", "user", "my own") + claudeLine("s-2", "assistant", "ok") +
			forked("gone", "of one that is gone") + forked("../s-1", "of a strange one"),
	} {
		if _, err := claudeFile(t, home, name).WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	all, _ := walk(t, home, "claude")
	var users []string
	for _, c := range all {
		for _, turn := range c.Turns {
			users = append(users, turn.User)
		}
	}
	want := []string{"the first's", "my own", "of one that is gone", "of a strange one"}
	if !slices.Equal(users, want) {
		t.Errorf("got %q", users)
	}
}

// A folder that leads into itself, a great many files, and one of another user.
func TestOddFolders(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Dir(claudeFile(t, home, "empty.jsonl").Name())
	for i := range 200 {
		text := claudeLine(fmt.Sprintf("s-%d", i), "user", "hello")
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, to := range []string{dir, "."} {
		if err := os.Symlink(to, filepath.Join(dir, fmt.Sprintf("loop-%d", len(to)))); err != nil {
			t.Fatal(err)
		}
	}
	others := 0
	if err := os.Chown(filepath.Join(dir, "7.jsonl"), 65534, 65534); err == nil {
		others = 1 // we may give files away
	}
	mine := claudeFile(t, home, "../shared/1.jsonl").Name() // in a folder in which others can replace it
	if err := errors.Join(os.WriteFile(mine, []byte(claudeLine("s-shared", "user", "hello")), 0o600),
		os.Chmod(filepath.Dir(mine), 0o777), os.Chmod(filepath.Join(dir, "8.jsonl"), 0o602)); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		others += 2
	}
	all, skipped := walk(t, home, "claude")
	if len(all) != 201-others || len(skipped) != 3+others {
		t.Errorf("%d conversations, skipped %v", len(all), skipped[:min(len(skipped), 5)])
	}
	for _, s := range skipped {
		for name, why := range map[string]string{
			"7.jsonl": "another user", "loop-1": "a link", "empty.jsonl": "no conversation",
			"8.jsonl": "chmod go-w", "shared": "chmod go-w",
		} {
			if filepath.Base(s.File) == name && !strings.Contains(s.Why, why) {
				t.Errorf("skipped %v", s)
			}
		}
	}
}

// A database that is none, and a harness that has written nothing.
func TestNothingToRead(t *testing.T) {
	home := t.TempDir()
	for _, agent := range Agents() {
		if all, skipped := walk(t, home, agent); len(all)+len(skipped) != 0 {
			t.Errorf("%s: %v, %v", agent, all, skipped)
		}
	}
	path := filepath.Join(home, ".local", "share", "opencode", "opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("no database at all, but long enough to be looked at"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, skipped := walk(t, home, "opencode"); len(all) != 0 || len(skipped) != 1 {
		t.Errorf("%v, %v", all, skipped)
	}
	if err := Walk(t.Context(), Place{Home: home}, "nobody", Visitor{}); err == nil ||
		!strings.Contains(err.Error(), "claude, codex") {
		t.Error(err)
	}
}

// What stops the taking stops the walk, and so does whoever asked for it.
func TestWalkStops(t *testing.T) {
	full := errors.New("full")
	n := 0
	err := Walk(t.Context(), Place{Home: "testdata"}, "claude",
		Visitor{Conversation: func(Conversation) error { n++; return full }, Skip: func(Skip) {}})
	if !errors.Is(err, full) || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Walk(ctx, Place{Home: "testdata"}, "claude", Visitor{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestClean(t *testing.T) {
	const key = "sk-ant-api03-Zt4mXk29fQvRw81LsNpYb6HcGd07JuEoIaT5xK3rVqWnMlPz"
	got, private := Clean(Turn{User: "use " + key + " <private>CANARY-Xy99Zq</private>",
		Assistant: "CANARY-Xy99Zq and " + key}, nil)
	if later, _ := Clean(Turn{User: "and now?", Assistant: "It was CANARY-Xy99Zq."}, private); later.Assistant !=
		"It was [private]." {
		t.Errorf("a later turn has %q", later.Assistant)
	}
	if all := got.User + got.Assistant; strings.Contains(all, "CANARY") || strings.Contains(all, "Zt4mXk29") ||
		!strings.Contains(got.User, "use") {
		t.Errorf("got %+v", got)
	}
}

// No file of a harness, whatever is in it, breaks a reader: neither under a name of its own, nor a database's.
func FuzzFormats(f *testing.F) {
	for _, path := range []string{
		"testdata/.claude/projects/-home-robin-work/6f0139dd-d549-4c2a-9efc-1672fe7485b7.jsonl",
		"testdata/.gemini/tmp/work/chats/session-2026-11-21T22-57-744224d3.jsonl",
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	stores, err := filepath.Glob("testdata/stores/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range stores {
		for _, file := range readStore(f, path).files {
			f.Add(file.Data)
		}
	}
	for _, text := range realtext.Seeds(f) {
		f.Add([]byte(text))
	}
	names := map[string]string{"aider": ".aider.chat.history.md", "specstory": ".specstory/history/a.md",
		"opencode": "storage/session/p/ses_1.json", "copilot": "chatSessions/a.jsonl", "crush": "crush.db",
		"kilo": "tasks/1/api_conversation_history.json"}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, format := range formats {
			path := filepath.Join(t.TempDir(), cmp.Or(names[format.agent], "a.jsonl"))
			write(t, path, string(text))
			_ = format.read(t.Context(), Place{}, path, func(c Conversation) error {
				for _, turn := range c.Turns {
					if turn.User == "" {
						t.Errorf("%s: a turn of nobody", format.agent)
					}
				}
				return nil
			})
		}
	})
}

// No file of notes, whatever is in it, breaks their reader, and every note stands in a line of it.
func FuzzNotes(f *testing.F) {
	f.Add("---\nx: y\n---\n# Heading\n- one two three\n  four\n\n```\ncode\n```\n2. five six seven\n")
	for _, text := range realtext.Seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, ".claude"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".claude", "CLAUDE.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, _ := AgentNotes(Place{Home: home}, "/")
		for _, n := range all {
			if n.Line < 1 || n.Line > 1+strings.Count(text, "\n") || n.Text == "" || n.ID == "" {
				t.Errorf("%+v", n)
			}
			if found, ok := FindAgentNote([]AgentNote{n}, n.ID); !ok || found != n {
				t.Errorf("%+v is not found", n)
			}
		}
	})
}
