//go:build harnesses

package harnesses

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

const asksForNotes = "Write notes of a session"

// Each harness is asked for notes of a session of its own: one request of its model, no tool that is called, no file of
// the person's that is other than before, its history among them, and nothing that goes on.
func TestNotes(t *testing.T) {
	for _, h := range harnesses {
		t.Run(h.name, func(t *testing.T) { notedBy(t, h) })
	}
}

func notedBy(t *testing.T, h harness) {
	box := h.stage(t, func(r fakemodel.Request) fakemodel.Reply {
		if strings.Contains(strings.Join(r.User, "\n"), asksForNotes) {
			return fakemodel.Reply{Text: "```json\n{\"notes\": [{\"text\": \"The mast of the Curlew is 11.42 metres long.\", " +
				"\"question\": \"How tall is her spar?\", \"kind\": \"finding\", \"files\": [], \"replaces\": []}]}\n```"}
		}
		return fakemodel.Reply{Text: "So it is."}
	})
	command, variables := box.whatItNeeds()
	config, err := json.Marshal(map[string]any{"acp": map[string]any{"memory": "embedded",
		"agents": map[string]any{h.name: map[string]any{"command": command, "env": variables}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(box.Signet, "agent.yaml"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(box.Work, ".git")); err != nil {
		t.Fatal(err)
	}
	box.ran("git", "init", "-q")
	box.say("exec", "The mast of the Curlew is 11.42 metres long."+strings.Repeat(" And so on, and so forth.", 60))
	box.alone()
	before, asked := files(t, box.Dir), len(box.model.Requests())
	result, err := box.Run(t.Context(), nil, box.proxy, "notes", "run", "--last", "1", "--json")
	if err != nil || result.Code != 0 || !strings.Contains(result.Stdout, "11.42 metres long.") {
		t.Errorf("%v, exit %d\n%s%s", err, result.Code, result.Stdout, result.Stderr)
	}
	box.alone()
	var all, withTools int // some have no tools in any request; those without are titles elsewhere
	for _, r := range box.model.Requests()[asked:] {
		if len(r.User) == 0 || !strings.Contains(r.User[len(r.User)-1], asksForNotes) {
			continue // a suggestion of what to say next
		}
		if all++; len(r.Tools) > 0 {
			withTools++
		}
	}
	box.check("notes in one request", withTools == 1 || all == 1, "%d of %d, of %d in all", withTools, all,
		len(box.model.Requests())-asked)
	after := slices.DeleteFunc(files(t, box.Dir), func(one string) bool { return slices.Contains(before, one) })
	box.check("notes change no file", len(after) == 0, "%s", strings.Join(after, "\n"))
	var sessions []struct{ ACPXSessionID string }
	if err := json.Unmarshal([]byte(box.ran(box.proxy, "sessions", "--json")), &sessions); err != nil || len(sessions) != 1 {
		t.Errorf("on record are %+v, %v", sessions, err)
	}
	if left, _ := filepath.Glob(filepath.Join(box.Signet, "acp", "notes", "*")); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
	if t.Failed() {
		for _, r := range box.model.Requests()[asked:] {
			t.Logf("%s, %d tools: %.300s", r.Path, len(r.Tools), strings.Join(r.User, "\n"))
		}
	}
	t.Logf("%s", result.Stdout)
}
