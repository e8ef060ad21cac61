package backfill

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What subagents were told and said belongs to the session that started them, wherever the harness has written it; what
// harnesses put in by themselves is no one's words, and is counted.
func TestSubagents(t *testing.T) {
	type said struct{ ID, Parent, User, Assistant string }
	user := said{"s", "", "Mend the mast.", "Mended."}
	claude := func(side, role, id, before, text string) string {
		return fmt.Sprintf(`{"type":%q,"sessionId":"s","cwd":"/w","uuid":%q,"parentUuid":%q,%s"message":{"content":%q}}`,
			role, id, before, side, text)
	}
	own := []string{claude("", "user", "1", "", user.User), claude("", "assistant", "2", "1", user.Assistant)}
	agent := func(id string) []string {
		side := fmt.Sprintf(`"isSidechain":true,"agentId":%q,`, id)
		return []string{claude(side, "user", "3", "", "Look at it."), claude(side, "assistant", "4", "3", "It is broken.")}
	}
	codex := func(id, source, user, answer string) []string {
		return []string{fmt.Sprintf(`{"type":"session_meta","payload":{"id":%q,"cwd":"/w","source":%s}}`, id, source),
			fmt.Sprintf(`{"type":"event_msg","payload":{"type":"user_message","message":%q}}`, user),
			fmt.Sprintf(`{"type":"event_msg","payload":{"type":"agent_message","message":%q}}`, answer)}
	}
	gemini := func(id, user, answer string) []string {
		return []string{fmt.Sprintf(`{"sessionId":%q,"projectHash":"x"}`, id),
			fmt.Sprintf(`{"id":"1","type":"user","content":[{"text":%q}]}`, user),
			fmt.Sprintf(`{"id":"2","type":"gemini","content":%q}`, answer)}
	}
	copilot := func(kind, data string) string { return fmt.Sprintf(`{"type":%q,"data":{%s}}`, kind, data) }
	for name, tt := range map[string]struct {
		files map[string][]string
		want  []said
		left  map[string]int
	}{
		"claude: a file below the session": {map[string][]string{
			".claude/projects/-w/s.jsonl":                     own,
			".claude/projects/-w/s/subagents/agent-a1.jsonl":  agent("a1"),
			".claude/projects/-w/s/subagents/agent-a1.json":   {"{}"},
			".claude/projects/-w/s/tool-results/output.jsonl": agent("a2"),
		}, []said{user, {"s/agent-a1", "s", "Look at it.", "It is broken."}}, nil},
		"claude: a file beside the session": {map[string][]string{
			".claude/projects/-w/s.jsonl":        own,
			".claude/projects/-w/agent-a1.jsonl": agent("a1"),
		}, []said{user, {"s/agent-a1", "s", "Look at it.", "It is broken."}}, nil},
		"claude: two in the same file": {map[string][]string{
			".claude/projects/-w/s.jsonl": {own[0],
				claude(`"isSidechain":true,`, "user", "3", "", "Look at it."),
				claude(`"isSidechain":true,`, "user", "4", "", "And at the keel."),
				claude(`"isSidechain":true,`, "assistant", "5", "3", "It is broken."),
				claude(`"isSidechain":true,`, "assistant", "6", "4", "It is lead."), own[1]},
		}, []said{user, {"s/3", "s", "Look at it.", "It is broken."}, {"s/4", "s", "And at the keel.", "It is lead."}}, nil},
		"claude: what it says by itself": {map[string][]string{
			".claude/projects/-w/s.jsonl": {own[0], own[1],
				claude("", "user", "3", "2", "<task-notification>CANARY</task-notification>"),
				claude("", "user", "4", "3", "<bash-input>ls</bash-input>"),
				claude("", "user", "5", "4", "<bash-stdout>CANARY</bash-stdout><bash-stderr></bash-stderr>"),
				claude("", "user", "6", "5", `<teammate-message teammate_id="x">CANARY</teammate-message>`),
				claude(`"isCompactSummary":true,`, "user", "7", "6", "CANARY")},
		}, []said{user}, map[string]int{notification: 1, shellCommand: 1, output: 2, message: 1, summary: 1}},
		"codex": {map[string][]string{
			".codex/sessions/rollout-1.jsonl": codex("s", `"cli"`, user.User, user.Assistant),
			".codex/sessions/rollout-2.jsonl": codex("t", `{"subagent":{"thread_spawn":{"parent_thread_id":"s","depth":1}}}`,
				"Look at it.", "It is broken."),
			".codex/sessions/rollout-3.jsonl": codex("u", `{"subagent":"review"}`, "Review.", "Fine."),
		}, []said{user, {"t", "s", "Look at it.", "It is broken."}, {"u", nobody, "Review.", "Fine."}}, nil},
		"copilot": {map[string][]string{
			".copilot/session-state/s/events.jsonl": {copilot("session.start", `"sessionId":"s"`),
				copilot("user.message", `"content":"Mend the mast."`),
				copilot("assistant.message", `"parentToolCallId":"c1","content":"It begins."`),
				copilot("user.message", `"parentToolCallId":"c1","content":"Look at it."`),
				copilot("assistant.message", `"parentToolCallId":"c1","content":"It is broken."`),
				copilot("assistant.message", `"content":"Mended."`)},
		}, []said{user, {"s/c1", "s", "Look at it.", "It is broken."}}, nil},
		"gemini": {map[string][]string{
			".gemini/tmp/work/chats/s/t.jsonl":       gemini("t", "Look at it.", "It is broken."),
			".gemini/tmp/work/chats/session-1.jsonl": gemini("s", user.User, user.Assistant),
		}, []said{user, {"t", "s", "Look at it.", "It is broken."}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for path, lines := range tt.files {
				write(t, filepath.Join(home, path), strings.Join(lines, "\n")+"\n")
			}
			var got []said
			left := map[string]int{}
			agent, _, _ := strings.Cut(name, ":")
			err := Walk(t.Context(), Place{Home: home}, agent, Visitor{
				Conversation: func(c Conversation) error {
					for _, turn := range c.Turns {
						got = append(got, said{c.ID, c.Parent, turn.User, turn.Assistant})
					}
					return nil
				},
				Skip:    func(s Skip) { t.Errorf("skipped %v", s) },
				LeftOut: func(what string, n int) { left[what] += n },
			})
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
			if diff := cmp.Diff(tt.left, left); diff != "" && len(left)+len(tt.left) > 0 {
				t.Error(diff)
			}
		})
	}
}

// write writes a file, and the folders above it.
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
