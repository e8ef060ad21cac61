package backfill

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// shown is a conversation in one line: whose it is, and of each turn what was said, called, noted and how it ended.
func shown(c Conversation) string {
	line := c.ID
	if c.Parent != "" {
		line += " of " + c.Parent
	}
	if c.Cwd != "" {
		line += " in " + strings.Join(append([]string{c.Cwd}, c.OtherFolders...), "+")
	}
	for _, t := range c.Turns {
		line += fmt.Sprintf(" | %s > %s", t.User, t.Assistant)
		for _, call := range t.Tools {
			line += fmt.Sprintf(" [%s: %s]", call.Kind, call.Title)
		}
		for _, note := range t.Notes {
			line += " (" + note + ")"
		}
		line += cmp.Or(" "+t.Stop, "")
	}
	return strings.NewReplacer("\n\n", " ", "  ", " ").Replace(strings.TrimSpace(line))
}

// What single lines of each format mean.
func TestReaders(t *testing.T) {
	const claudeUser = `{"type":"user","sessionId":"s","cwd":"/w","message":{"content":"Hi"}}`
	const codexHead = `{"type":"session_meta","payload":{"id":"s","cwd":"/w"}}` + "\n" +
		`{"type":"event_msg","payload":{"type":"user_message","message":"Hi"}}`
	const copilotHead = `{"type":"session.start","data":{"sessionId":"s","context":{"cwd":"/w"}}}` + "\n" +
		`{"type":"user.message","data":{"content":"Hi","source":"user"}}`
	const geminiHead = `{"sessionId":"s"}` + "\n" + `{"id":"1","type":"user","content":"Hi"}`
	const chat = `{"kind":0,"v":{"sessionId":"s","requests":[{"message":{"text":"Hi"},"response":[]}]}}`
	const aiderHead = "# aider chat started at 2026-11-21 22:56:35\n#### Hi\n"
	task := func(messages string) string { return `[{"role":"user","content":"<task>Hi</task>"},` + messages + `]` }
	for _, c := range []struct{ agent, file, text, want string }{
		{"claude", "a.jsonl", claudeUser + `
			{"type":"user","isMeta":true,"message":{"content":"CANARY"}}
			{"type":"summary","summary":"CANARY","message":{"content":"CANARY"}}
			{"type":"assistant","message":{"content":[{"type":"thinking","text":"CANARY"},{"type":"text","text":"Ho"}]}}
			{"type":"assistant","message":{"content":"Ho"}}`, "s in /w | Hi > Ho"},
		{"claude", "a.jsonl", claudeUser + `
			{"type":"assistant","message":{"content":"Ho"}}
			{"type":"user","isCompactSummary":true,"message":{"content":"CANARY"}}
			{"type":"user","message":{"content":"[Request interrupted by user]"}}`,
			"s in /w | Hi > Ho (" + summary + ") (" + interruption + ") cancelled"},
		{"claude", "a.jsonl", claudeUser + "\n" + claudeUser + `
			{"type":"user","message":{"content":"and more"}}
			{"type":"user","cwd":"/other","sessionId":"t","message":{"content":"<command-name></command-name>"}}`,
			"s in /w | Hi and more <command-name></command-name> >"},
		{"claude", "a.jsonl", claudeUser + `
			{"type":"assistant","isSidechain":true,"agentId":"x","message":{"content":"of nobody"}}
			{"type":"attachment","isSidechain":true,"attachment":{"type":"queued_command","prompt":"no"}}
			{"type":"attachment","attachment":{"type":"file","prompt":"no"}}`, "s in /w | Hi >; s/agent-x of s in /w"},
		{"claude", "a.jsonl", claudeUser + `
			{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Grep","input":{"pattern":"mast"}},
				{"type":"tool_use","name":"Glob","input":{"pattern":"*.go","path":"/w"}},
				{"type":"tool_use","name":"x","input":{"command":["git","status"]}},
				{"type":"tool_use","name":"WebFetch","input":{"command":7}},{"type":"tool_use","name":"","input":{}}]}}`,
			"s in /w | Hi > [search: Grep mast] [search: Glob /w] [other: git status] [fetch: WebFetch]"},
		{"codex", "a.jsonl", codexHead + `
			{"type":"session_meta","payload":{"id":"t","cwd":"/t"}}
			{"type":"event_msg","payload":{"type":"agent_message","message":"Ho"}}
			{"type":"response_item","payload":{"type":"message","name":"no"}}
			{"type":"event_msg","payload":{"type":"function_call","name":"no"}}
			{"type":"compacted","payload":{}}
			{"type":"event_msg","payload":{"type":"context_compacted"}}
			{"type":"event_msg","payload":{"type":"turn_aborted"}}`,
			"s in /w | Hi > Ho (" + summary + ") (" + summary + ") (" + interruption + ") cancelled"},
		{"codex", "a.jsonl", `{"type":"session_meta","payload":{"id":"s"}}
			{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":"Hi"}}}
			{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","content":"Ho"}}}
			{"type":"event_msg","payload":{"type":"item_started","item":{"type":"AgentMessage","content":"no"}}}`,
			"s | Hi > Ho"},
		{"copilot", "events.jsonl", copilotHead + `
			{"type":"session.start","data":{"sessionId":"t"}}
			{"type":"user.message","data":{"content":"CANARY","source":"skill"}}
			{"type":"tool.execution_start","data":{"toolName":"view","arguments":{"path":"/w/a.go"}}}
			{"type":"session.compaction_complete","data":{}}
			{"type":"abort","data":{}}`,
			"s in /w | Hi > [read: view /w/a.go] (" + instruction + ") (" + summary + ") (" + interruption + ") cancelled"},
		{"copilot", "chatSessions/a.jsonl", chat + `
			{"kind":2,"k":["requests",0,"response"],"v":[{"value":"Ho"},{"kind":"textEditGroup","uri":{"path":"/a.go"}},
				{"kind":"progress","value":"no"}]}
			{"kind":1,"k":["requests",0,"isCanceled"],"v":true}
			{"kind":2,"k":["requests"],"v":[{"confirmation":"x","message":{"text":"CANARY"}}]}`,
			"s | Hi > Ho\f [edit: edit /a.go] (" + interruption + ") (" + instruction + ") cancelled"},
		{"copilot", "chatSessions/a.jsonl", chat + `
			{"kind":2,"k":["requests",0,"response"],"v":[{"value":"one"},{"value":"no"}]}
			{"kind":2,"k":["requests",0,"response"],"i":1,"v":[{"kind":"markdownContent","content":{"value":"two"}}]}`,
			"s | Hi > one two"},
		{"copilot", "chatSessions/a.jsonl", chat + "\n" + `{"kind":1,"k":["requests",1,"x"],"v":1}`, errNoLog.Error()},
		{"copilot", "chatSessions/a.jsonl", chat + "\n" + `{"kind":2,"k":["requests"],"i":2,"v":[]}`, errNoLog.Error()},
		{"copilot", "chatSessions/a.jsonl", chat + "\n" + `{"kind":2,"k":["requests"],"i":-1,"v":[]}`, errNoLog.Error()},
		{"copilot", "chatSessions/a.json", `{"sessionId":"s","requests":[{"message":{"text":"Hi"}}]}`, "s | Hi >"},
		{"copilot", "chatSessions/a.json", `{"sessionId":`, errNotJSON.Error()},
		{"gemini", "chats/session-1.jsonl", geminiHead + `
			{"id":"2","type":"gemini","content":"H"}
			{"id":"2","type":"gemini","content":"Ho","toolCalls":[{"name":"read_file","args":{"absolute_path":"/a.go"}}]}
			{"type":"info","content":"no"}`, "s | Hi > Ho\f [read: read_file /a.go]"},
		{"gemini", "chats/session-1.jsonl", geminiHead + `
			{"id":"2","type":"gemini","content":"Ho"}
			{"id":"3","type":"user","content":"taken back"}
			{"id":"4","type":"gemini","content":"too"}
			{"$rewindTo":"3"}`, "s | Hi > Ho"},
		{"gemini", "chats/session-1.jsonl", geminiHead + "\n" + `{"$rewindTo":"unknown"}` + "\n" +
			`{"type":"user","content":"anew"}` + "\n" + `{"type":"user","content":"again"}`, "s | anew again >"},
		{"gemini", "chats/session-1.jsonl", geminiHead + "\n" + `{"$set":{"messages":[{"type":"user","content":"set"}]}}`,
			"s | set >"},
		{"gemini", "chats/session-1.json", "{\n\"sessionId\":\"s\",\n\"messages\":[{\"type\":\"user\",\"content\":\"Hi\"}]}",
			"s | Hi >"},
		{"gemini", strings.Repeat("a", 64) + "/chats/session-1.jsonl", geminiHead, errNoFolder.Error()},
		{"gemini", digestOf("/p") + "/chats/session-1.jsonl", geminiHead, "s in /p | Hi >"},
		{"gemini", "chats/p/t.jsonl", geminiHead, "s of p | Hi >"},
		{"pi", "a.jsonl", `{"type":"session","id":"s","cwd":"/w"}
			{"type":"message","message":{"role":"user","content":"Hi"}}
			{"type":"compaction","message":{"role":"user","content":"CANARY"}}
			{"type":"message","message":{"role":"toolResult","content":"CANARY"}}
			{"type":"session","id":"t","cwd":"/t"}`, "s in /w | Hi > (" + summary + ")"},
		{"qwen", "a.jsonl", `{"type":"user","sessionId":"s","cwd":"/w","message":{"parts":[{"text":"Hi"}]}}
			{"type":"system","subtype":"chat_compression","message":{"parts":[{"text":"CANARY"}]}}
			{"type":"assistant","sessionId":"t","message":{"parts":[{"text":"thinks","thought":true},{"text":"Ho"}]}}`,
			"s in /w | Hi > Ho (" + summary + ")"},
		{"goose", "s.jsonl", `{"working_dir":"/w"}
			{"role":"user","content":[{"type":"text","text":"Hi"}]}
			{"working_dir":"/t","role":"assistant","content":[{"type":"text","text":"Ho"}]}`, "s in /w | Hi > Ho"},
		{"cline", "1/api_conversation_history.json", task(`{"role":"assistant","content":"<thinking>no</thinking>Ho <b>` +
			`<read_file><path>a.go</path></read_file><execute_command><command>ls</command></execute_command>` +
			`<attempt_completion><result>Done</result></attempt_completion>A <read_file> is a tool, a <thinking> too"}`),
			"1 | Hi > Ho <b>\f Done A <read_file> is a tool, a <thinking> too [read: read_file a.go] [execute: ls]"},
		{"cline", "1/api_conversation_history.json", task(`{"role":"user","content":"[read_file] Result: CANARY"},
			{"role":"user","content":[{"type":"tool_result","content":"<feedback>No.</feedback>"}]},
			{"role":"user","isSummary":true,"content":"CANARY"},{"role":"user","isTruncationMarker":true,"content":"CANARY"},
			{"role":"user","content":"# Current Working Directory (/w) Files\n<feedback>Go.</feedback>"}`),
			"1 in /w | Hi No. Go. > (" + summary + ") (" + summary + ")"},
		{"cline", "1/lead.messages.json", `{"agent":"lead","messages":[{"role":"user","content":"Hi"}]}`, "1 | Hi >"},
		{"cline", "1/b.messages.json", `{"agent":"b","messages":[{"role":"user","content":"Hi"}]}`, "b of 1 | Hi >"},
		{"continue", "a.json", `{"sessionId":"s","workspaceDirectory":"file:///w","history":[
			{"message":{"role":"user","content":"Hi"}},{"message":{"role":"assistant","content":"Ho",
			"toolCalls":[{"function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]}}]}`,
			"s in /w | Hi > Ho\f [execute: ls]"},
		{"amp", "a.json", `{"id":"s","env":{"initial":{"trees":[{"uri":"file:///w"},{"uri":"http://x"},{"uri":"file:///v"}]}},
			"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}`, "s in /w+/v | Hi >"},
		{"specstory", "p/.specstory/history/a.md", "<!-- x Session 01234567-89ab-cdef x -->\n_**User**_\nHi\n---\n" +
			"_**Assistant (x)**_\n<think>no</think>\n<think>\nno\n</think>\nHo <think>\n" +
			"<details>no</details>\nTool use: **Read**\n<tool-use data-tool-name=\"Edit\">\nno\n</tool-use>\n" +
			"<details>\nno\n</details>\n<!-- x Session 76543210-89ab-cdef x -->\n",
			"01234567-89ab-cdef in p | Hi > Ho <think>\f <!-- x Session 76543210-89ab-cdef x --> [read: Read] [edit: Edit]"},
		{"aider", "a.md", aiderHead + "> no\n>\nHo\n\n```\n#### code\n> code\n```\nHa\n#### two <blank>\n#### three\n",
			"aider in . | Hi > Ho ```\n#### code\n> code\n```\nHa | two \nthree >"},
		{"aider", "a.md", aiderHead + aiderHead + "Ho\n", "aider in . | Hi >; aider in . | Hi > Ho"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(c.file))
		lines := strings.ReplaceAll(c.text, "\n\t\t\t\t", " ")
		if filepath.Ext(path) == ".jsonl" {
			lines = strings.ReplaceAll(lines, "\t\t\t", "")
		}
		write(t, path, lines)
		f := formats[slices.Index(Agents(), c.agent)]
		var got []string
		err := f.read(t.Context(), Place{Home: dir, Projects: []string{"/p"}}, path, func(c Conversation) error {
			if c.ID == "" {
				return nil // before a file's first one
			}
			c.Cwd = strings.Trim(strings.TrimPrefix(c.Cwd, dir), "/")
			if strings.HasPrefix(c.ID, "aider-") {
				c.ID, c.Cwd = "aider", "."
			} else if filepath.Ext(path) != ".md" && c.Cwd != "" {
				c.Cwd = "/" + c.Cwd
			}
			got = append(got, shown(c))
			return nil
		})
		if err != nil {
			got = append(got, reason(err))
		}
		if joined := strings.Join(got, "; "); joined != c.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", c.agent, c.text, joined, c.want)
		}
	}
}

// The longest side of a turn, what is written twice, and how many tools and notes a turn has.
func TestLimits(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b := builder{Conversation: Conversation{ID: "s"}}
	b.assistant("nobody asked", at)
	b.tool(Tool{Title: "nobody asked"})
	b.user(strings.Repeat("a", maxSide+1), at)
	b.user("more", at)
	b.assistant("one", at.Add(time.Second))
	b.assistant("one", at.Add(2*time.Second))
	b.assistant("two", time.Time{})
	b.assistant(strings.Repeat("b", maxSide), at.Add(3*time.Second))
	b.assistant("dropped", at.Add(4*time.Second))
	for range maxTools + 1 {
		b.tool(Tool{Title: "x"})
		b.note("x")
	}
	turn := b.Turns[0]
	if len(turn.User) != maxSide || turn.Assistant != "one\n\ntwo\n\n"+strings.Repeat("b", maxSide)+"\f" ||
		len(turn.Tools) != maxTools || len(turn.Notes) != maxTools || b.LeftOut["x"] != maxTools+1 {
		t.Errorf("%d and %d bytes, %d tools, %d notes", len(turn.User), len(turn.Assistant), len(turn.Tools), len(turn.Notes))
	}
	if turn.Started != at || turn.Ended != at.Add(4*time.Second) {
		t.Errorf("from %v to %v", turn.Started, turn.Ended)
	}
}

// Times in all ways that harnesses write them.
func TestStamps(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"1767323045": at, "1767323045000": at, "1767323045.25": at.Add(250 * time.Millisecond), " 1767323045 ": at,
		"99999999999": time.Unix(99999999999, 0), "100000000000": time.UnixMilli(1e11), "0": {}, "-1": {}, "": {}, "soon": {},
		"2026-01-02T03:04:05Z": at, "2026-01-02T04:04:05+01:00": at, "2026-01-02 03:04:05": at,
		"2026-01-02 03:04:05Z": at, "2026-01-02 03:04Z": at.Truncate(time.Minute),
	} {
		if got := timeOf(text); !got.Equal(want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		var s stamp
		if err := s.UnmarshalJSON(fmt.Appendf(nil, "%q", text)); err != nil || !s.Equal(want) {
			t.Errorf("%q in JSON: %v", text, s)
		}
	}
	for name, want := range map[string]time.Time{
		"2026-01-02_03-04-05Z-x.md": at, "2026-01-02_03-04Z-x.md": at.Truncate(time.Minute),
		"2026-01-02_03-04-x.md": at.Truncate(time.Minute), "x.md": {}, "2026-13-02_03-04-x.md": {},
	} {
		if got := specstoryDate("/w/" + name); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Times that stand beside what was said.
func TestTimes(t *testing.T) {
	dir := t.TempDir()
	specstoryFile := filepath.Join(dir, ".specstory", "history", "2026-01-02_03-04-05Z-x.md")
	write(t, specstoryFile, "_**User**_\nHi\n_**Agent (x 2026-01-02 03:04:06Z to 2026-01-02 03:04:07Z)**_\nHo\n")
	continueFile := filepath.Join(dir, "s.json")
	write(t, continueFile, `{"sessionId":"s","history":[{"message":{"role":"user","content":"Hi"}},
		{"message":{"role":"system"}},{"message":{"role":"assistant","content":"Ho"}}]}`)
	write(t, filepath.Join(dir, "sessions.json"), `[{"sessionId":"t","dateCreated":"1"},{"sessionId":"s"},
		{"sessionId":"s","dateCreated":"1767323045000"}]`)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for path, f := range map[string]format{specstoryFile: specstory, continueFile: continuedev} {
		err := f.read(t.Context(), Place{Home: dir}, path, func(c Conversation) error {
			if len(c.Turns) != 1 || !c.Turns[0].Started.Equal(at) || !c.Turns[0].Ended.Equal(at.Add(2*time.Second)) {
				t.Errorf("%s: %+v", f.agent, c.Turns)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Where harnesses keep what they write, on each system and with the variables that move it.
func TestPlaces(t *testing.T) {
	home := string(filepath.Separator) + "home"
	in := func(names ...string) string { return filepath.Join(append([]string{home}, names...)...) }
	variables := func(text string) Place {
		return Place{Home: home, Getenv: func(name string) string {
			_, value, _ := strings.Cut(text, name+"=")
			value, _, _ = strings.Cut(value, " ")
			return value
		}}
	}
	plain, moved := variables(""), variables("XDG_CONFIG_HOME=/c XDG_DATA_HOME=/d APPDATA=/a LOCALAPPDATA=/l CODEX_HOME=x")
	for _, c := range []struct{ got, want string }{
		{plain.config("linux"), in(".config")}, {moved.config("linux"), "/c"},
		{moved.config("darwin"), in("Library", "Application Support")},
		{plain.config("windows"), in("AppData", "Roaming")}, {moved.config("windows"), "/a"},
		{plain.data("amp"), in(".local", "share", "amp")}, {moved.data("amp"), "/d/amp"},
		{zedData(plain, "linux"), in(".local", "share", "zed")}, {zedData(moved, "linux"), "/d/zed"},
		{zedData(moved, "darwin"), in("Library", "Application Support", "Zed")},
		{zedData(plain, "windows"), in("AppData", "Local", "Zed")}, {zedData(moved, "windows"), "/l/Zed"},
		{moved.env("CODEX_HOME", ".codex"), in(".codex")}, // a relative path is none
		{pathOf("file:///w/a%20b"), "/w/a b"}, {pathOf("file:///C:/w"), "C:/w"}, {pathOf("file:///C"), "/C"},
		{pathOf("https://x/w"), ""}, {pathOf("%"), ""},
		{folderNamed("home-robin-my-work", []string{"/home/x", "/home/robin/my work"}), "/home/robin/my work"},
		{folderNamed("w", nil), ""},
	} {
		if filepath.ToSlash(c.got) != filepath.ToSlash(c.want) {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	for _, c := range []string{"a", "z", "A", "Z", "0", "9"} { // its letters and digits tell two names apart
		if got := folderNamed("x"+c+"y", []string{"/x-y", "/x" + c + "y"}); got != "/x"+c+"y" {
			t.Errorf("with %s: %s", c, got)
		}
	}
	if runtime.GOOS != "windows" {
		for text, want := range map[string]string{"": in(".local", "share", "goose", "sessions"),
			"GOOSE_PATH_ROOT=/g": "/g/data/sessions"} {
			if got := goose.roots(variables(text)); !slices.Equal(got, []string{want}) {
				t.Errorf("goose with %q: %v", text, got)
			}
		}
	}
}

// Which files are a format's, and whose.
func TestMatches(t *testing.T) {
	for _, c := range []struct {
		agent, rel string
		match      bool
		child      bool
	}{
		{"claude", "w/s.jsonl", true, false}, {"claude", "s.jsonl", false, false}, {"claude", "w/s.json", false, false},
		{"claude", "w/s/x.jsonl", false, false}, {"claude", "w/s/subagents/agent-1.jsonl", true, true},
		{"claude", "w/s/subagents/x.jsonl", false, false}, {"claude", "w/agent-1.jsonl", true, true},
		{"codex", "2026/rollout-1.jsonl", true, false}, {"codex", "2026/other.jsonl", false, false},
		{"codex", "rollout-1.json", false, false},
		{"copilot", "s/events.jsonl", true, false}, {"copilot", "s/t/events.jsonl", false, false},
		{"copilot", "s/other.jsonl", false, false}, {"copilot", "s.json", true, false}, {"copilot", "s.txt", false, false},
		{"gemini", "w/chats/session-1.json", true, false}, {"gemini", "w/chats/other.json", false, false},
		{"gemini", "w/chats/s/1.jsonl", true, true}, {"gemini", "w/chats/s/t/1.jsonl", false, false},
		{"gemini", "w/chats/session-1.txt", false, false},
		{"continue", "s.json", true, false}, {"continue", "sessions.json", false, false},
		{"continue", "x/s.json", false, false},
		{"qwen", "w/chats/s.jsonl", true, false}, {"qwen", "w/s.jsonl", false, false}, {"qwen", "w/chats/s", false, false},
		{"goose", "sessions.db", true, false}, {"goose", "s.jsonl", true, false}, {"goose", "s.db", false, false},
		{"cursor", ".", true, false}, {"cursor", "w/agent-transcripts/s.jsonl", true, false},
		{"cursor", "w/s.jsonl", false, false}, {"cursor", "w/agent-transcripts/s/subagents/t.jsonl", true, true},
		{"cline", "1/api_conversation_history.json", true, false}, {"cline", "s/s.messages.json", true, false},
		{"cline", "1/ui_messages.json", false, false}, {"kilo", ".", true, false},
		{"zed", "threads.db", true, false}, {"zed", "x/threads.db", false, false},
		{"windsurf", "a.pb", true, false}, {"specstory", "a.md", true, false}, {"opencode", "p/ses_1.json", true, false},
		{"opencode", "p/other.json", false, false}, {"opencode", "p/ses_1.txt", false, false},
	} {
		f := formats[slices.Index(Agents(), c.agent)]
		child := f.isChild != nil && f.match(c.rel) && f.isChild("/"+c.rel)
		if f.match(c.rel) != c.match || child != c.child {
			t.Errorf("%s %s: match %v, child %v", c.agent, c.rel, f.match(c.rel), child)
		}
	}
}

// A folder that is a link is followed in a harness's own place, and in no project; what cannot be read is said.
func TestLinks(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	write(t, filepath.Join(elsewhere, "history", "a.md"), "_**User**_\nHi\n")
	write(t, filepath.Join(elsewhere, "aider.md"), "# aider chat started at 2026-11-21 22:56:35\n#### Hi\n")
	write(t, filepath.Join(home, "p", "x"), "")
	for link, to := range map[string]string{"p/.specstory": elsewhere, "q": filepath.Join(home, "p"),
		"p/.aider.chat.history.md": filepath.Join(elsewhere, "aider.md")} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Skip(err)
		}
	}
	for _, agent := range []string{"specstory", "aider"} {
		var skipped []string
		err := Walk(t.Context(), Place{Home: home, Projects: []string{filepath.Join(home, "p")}}, agent, Visitor{
			Conversation: func(c Conversation) error { t.Errorf("%s: read %s", agent, c.File); return nil },
			Skip:         func(s Skip) { skipped = append(skipped, s.Why) }})
		if err != nil || len(skipped) != 1 || !strings.Contains(skipped[0], "link") {
			t.Errorf("%s: %v, %v", agent, skipped, err)
		}
	}
	write(t, filepath.Join(home, "p", ".specstory2"), "")
	if err := os.Remove(filepath.Join(home, "p", ".specstory")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, "p", ".specstory", "history", "a.md"), "_**User**_\nHi\n")
	n := 0
	if err := Walk(t.Context(), Place{Home: home, Projects: []string{filepath.Join(home, "q")}}, "specstory", Visitor{
		Conversation: func(Conversation) error { n++; return nil }, Skip: func(s Skip) { t.Error(s) }}); err != nil || n != 1 {
		t.Errorf("in a project that is a link: %d, %v", n, err)
	}
}

// Files that were written before or after the time in question are not read.
func TestSinceUntil(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".claude", "projects", "-w", "a.jsonl")
	write(t, path, claudeLine("s", "user", "Hi"))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		since, until time.Time
		files        int
	}{
		{at, at, 1}, {at.Add(time.Second), time.Time{}, 0}, {time.Time{}, at.Add(-time.Second), 0}, {files: 1},
	} {
		n := 0
		if err := Walk(t.Context(), Place{Home: home}, "claude", Visitor{Since: c.since, Until: c.until,
			Conversation: func(Conversation) error { return nil }, File: func(int64) bool { n++; return true }}); err != nil || n != c.files {
			t.Errorf("since %v until %v: %d files, %v", c.since, c.until, n, err)
		}
	}
}

// A command that no agent has answered is left out, and counted with what else is.
func TestLeftOut(t *testing.T) {
	left := map[string]int{}
	v := Visitor{LeftOut: func(what string, n int) { left[what] += n }}
	c := v.withoutCommands(Conversation{LeftOut: map[string]int{summary: 2}, Turns: []Turn{{Command: "a"},
		{Command: "b", Assistant: "x"}, {Command: "c", Stop: "cancelled"}, {User: "open"}, {Command: "d", Tools: []Tool{{}}}}})
	if len(c.Turns) != 4 || left[localCommand] != 1 || left[summary] != 2 {
		t.Errorf("%+v, %v", c.Turns, left)
	}
}
