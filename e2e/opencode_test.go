package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// openCode is real opencode behind the proxy, real acpx in front, and a model that follows a script.
func openCode(t *testing.T, script func(fakemodel.Request) fakemodel.Reply) (*acpxBox, *fakemodel.Server) {
	t.Helper()
	binary, err := modules.Opencode()
	if err != nil {
		t.Skipf("opencode is not published for this platform: %v", err)
	}
	model := fakemodel.Start(script)
	t.Cleanup(model.Close)
	a := newAcpx(t, acpxVersions["0.19.1"])
	config, err := json.Marshal(map[string]any{
		"model": "fake/fake-model", "small_model": "fake/fake-model", "enabled_providers": []string{"fake"},
		"autoupdate": false, "experimental": map[string]any{"mcp_timeout": patience.Milliseconds()},
		"provider": map[string]any{"fake": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": model.URL + "/v1", "apiKey": "none"},
			"models": map[string]any{"fake-model": map[string]any{"tool_call": true,
				"limit": map[string]any{"context": 100000, "output": 4000}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(a.Dir, "opencode.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	a.set("OPENCODE_CONFIG="+file, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1")
	a.opencode = []string{binary, "acp"}
	if err := a.Register("signet-echo", slices.Concat([]string{proxyBin, "--agent", "opencode", "--"},
		a.opencode)...); err != nil {
		t.Fatal(err)
	}
	return a, model
}

// prompts are the model's requests for the conversation itself: those that hold the words.
func prompts(m *fakemodel.Server, words string) []fakemodel.Request {
	var found []fakemodel.Request
	for _, r := range m.Requests() {
		if len(r.Tools) > 0 && slices.ContainsFunc(r.User, func(s string) bool { return strings.Contains(s, words) }) {
			found = append(found, r)
		}
	}
	return found
}

func contexts(texts []string) int {
	n := 0
	for _, s := range texts {
		n += strings.Count(s, blockMark)
	}
	return n
}

// Real opencode and a model that keeps something with our tool: in the next session the model sees the identity and that,
// once, also when a new process has loaded the session, and acpx sees nothing of ours.
func TestOpencode(t *testing.T) {
	t.Parallel()
	const fact = "The mast of the Curlew is 11.42 metres long."
	a, model := openCode(t, func(r fakemodel.Request) fakemodel.Reply {
		switch said := strings.Join(r.User, "\n"); {
		case r.Result || len(r.Tools) == 0:
			return fakemodel.Reply{Text: "done"}
		case strings.Contains(said, "Keep it."):
			return fakemodel.Reply{Tool: "signet_memory_store", Args: map[string]any{"content": fact}}
		case strings.Contains(said, "And its boom?"):
			return fakemodel.Reply{Tool: "signet_memory_search", Args: map[string]any{"query": "How long is the mast of the Curlew?"}}
		}
		return fakemodel.Reply{Text: "ok"}
	})
	say := func(words ...string) string {
		t.Helper()
		return a.run(slices.Concat(a.acpx, []string{"--approve-all", "--format", "quiet", "--ttl", strconv.Itoa(ownerLives), "signet-echo"}, words)...)
	}
	say("exec", "Keep it.")
	a.alone()
	if got := a.query(`SELECT content FROM memories WHERE source = 'memory_store'`); !cmp.Equal(got, [][]string{{fact}}) {
		t.Errorf("kept %q", got)
	}

	id := a.newSession()
	say("How long is the mast of the Curlew?")
	a.endOwners()
	say("And its boom?")
	first, last := prompts(model, "How long is the mast"), prompts(model, "And its boom?")
	if len(first) == 0 || len(last) < 2 {
		t.Fatalf("the model was asked %d and %d times", len(first), len(last))
	}
	given := strings.Join(first[0].User, "\n")
	for _, want := range []string{"You are Halyard", "11.42"} {
		if !strings.Contains(given, want) {
			t.Errorf("no %q in what the model was given:\n%s", want, given)
		}
	}
	for _, r := range []fakemodel.Request{first[0], last[0]} {
		if n := count(r.Tools, "signet_memory_search"); n != 1 {
			t.Errorf("the memory tool is offered %d times among %q", n, r.Tools)
		}
		if n := contexts(r.User); n != 1 {
			t.Errorf("%d contexts in a request, want 1:\n%s", n, strings.Join(r.User, "\n---\n"))
		}
	}
	var body struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	must(a.box, json.Unmarshal(last[len(last)-1].Body, &body))
	if m := body.Messages[len(body.Messages)-1]; m.Role != "tool" || !strings.Contains(string(m.Content), "11.42") {
		t.Errorf("the tool's answer: %s %s", m.Role, m.Content)
	}
	if diff := cmp.Diff([][]string{{id}}, a.query(`SELECT record FROM sessions WHERE acp_id = ?`, id)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	a.cleanHistory()
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}
