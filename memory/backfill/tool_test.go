package backfill

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Where tools were called stands in an answer, and what they were called for beside it: a patch's files, a command, and
// nothing that was written or came back but how a command ended.
func TestTools(t *testing.T) {
	three := 3
	text := func(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }
	call := func(name, input string) string {
		return fmt.Sprintf(`{"type":"tool_use","id":"1","name":%q,"input":%s}`, name, input)
	}
	claudeLine := func(role string, blocks ...string) string {
		return fmt.Sprintf(`{"type":%q,"sessionId":"s","cwd":"/w","timestamp":"2026-11-21T22:56:35Z","message":{"content":[%s]}}`,
			role, strings.Join(blocks, ","))
	}
	codexLine := func(kind, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-21T22:56:35Z","type":%q,"payload":%s}`, kind, payload)
	}
	patch, err := json.Marshal("*** Begin Patch\n*** Update File: mast.go\n@@\n-CANARY\n*** Add File: keel.go\n")
	if err != nil {
		t.Fatal(err)
	}
	for agent, c := range map[string]struct {
		file  string
		lines []string
		said  string
		tools []Tool
	}{
		"claude": {".claude/projects/-w/s.jsonl", []string{
			claudeLine("user", text("Mend the mast.")),
			claudeLine("assistant", call("Read", `{"file_path":"/w/mast.go"}`)),
			claudeLine("user", `{"type":"tool_result","content":"CANARY"}`),
			claudeLine("assistant", text("I look at it."), call("Edit", `{"file_path":"/w/mast.go","new_string":"CANARY"}`)),
			claudeLine("assistant", call("TodoWrite", `{"todos":[{"content":"sand the mast","status":"pending"}]}`)),
			claudeLine("assistant", call("Bash", `{"command":"go test ./..."}`)),
			claudeLine("user", `{"type":"tool_result","tool_use_id":"1","is_error":true,"content":"Exit code 3 CANARY"}`),
			claudeLine("assistant", call("TodoWrite", `{"todos":[{"content":"sand the mast","status":"completed"},`+
				`{"content":"paint it","status":"in_progress"}]}`)),
			claudeLine("assistant", text("It is mended.")),
		}, "I look at it.\f\n\nIt is mended.", []Tool{{Title: "Read /w/mast.go", Kind: "read", Paths: []string{"/w/mast.go"}},
			{Title: "Edit /w/mast.go", Kind: "edit", Paths: []string{"/w/mast.go"}},
			{Title: "Plan of 2 steps", Kind: "plan", Steps: []string{"paint it"}},
			{Title: "go test ./...", Kind: "execute", Failed: true, Exit: &three}}},
		"codex": {".codex/sessions/rollout-1.jsonl", []string{
			codexLine("session_meta", `{"id":"s","cwd":"/w"}`),
			codexLine("event_msg", `{"type":"user_message","message":"Mend the mast."}`),
			codexLine("event_msg", `{"type":"agent_message","message":"I look at it."}`),
			codexLine("response_item", `{"type":"function_call","name":"shell","call_id":"c1",
				"arguments":"{\"command\":[\"bash\",\"-lc\",\"go test ./...\"]}"}`),
			codexLine("response_item", `{"type":"function_call_output","call_id":"c1",
				"output":"{\"output\":\"CANARY\",\"metadata\":{\"exit_code\":0}}"}`),
			codexLine("response_item", `{"type":"custom_tool_call","name":"apply_patch","input":`+string(patch)+`}`),
		}, "I look at it.\f", []Tool{{Title: "go test ./...", Kind: "execute", Exit: new(int)},
			{Title: "apply_patch mast.go", Kind: "edit", Paths: []string{"mast.go", "keel.go"}}}},
	} {
		home := t.TempDir()
		path := filepath.Join(home, c.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		lines := ""
		for _, line := range c.lines {
			lines += strings.ReplaceAll(line, "\n", "") + "\n"
		}
		if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		all, skipped := walk(t, home, agent)
		if len(all) != 1 || len(all[0].Turns) != 1 || len(skipped) > 0 {
			t.Fatalf("%s: %+v, skipped %v", agent, all, skipped)
		}
		turn := all[0].Turns[0]
		if turn.Assistant != c.said {
			t.Errorf("%s said %q", agent, turn.Assistant)
		}
		if diff := cmp.Diff(c.tools, turn.Tools); diff != "" {
			t.Errorf("%s: %s", agent, diff)
		}
	}
}
