package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// Real opencode, one at a time: a start of it takes seconds of both cores.
func TestOpencode(t *testing.T) {
	t.Parallel()
	t.Run("remembers", opencodeRemembers)
	t.Run("load", opencodeLoads)
	t.Run("cancel", opencodeCancels)
	t.Run("tools", opencodeTools)
}

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
		"autoupdate": false,
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

// The model sees the identity and what an earlier session said, once, and acpx sees nothing of it when the session is
// loaded in a new process.
func opencodeRemembers(t *testing.T) {
	a, model := openCode(t, nil)
	a.say("exec", "The mast of the Curlew is 11.42 metres long.")
	a.alone()

	id := a.newSession()
	a.say("How long is the mast of the Curlew?")
	a.endOwners()
	a.say("And its boom?")
	first, last := prompts(model, "How long"), prompts(model, "And its boom?")
	if len(first) == 0 || len(last) == 0 {
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

// Loaded in a new process, the conversation is shown as the person had it, titles included.
func opencodeLoads(t *testing.T) {
	a, model := openCode(t, nil)
	c := a.connect(embedded, a.opencode...)
	id := c.open()
	c.say(id, "My own words.")
	c.end()

	c = a.connect(embedded, a.opencode...)
	everything := c.load(id) + c.call("session/list", map[string]any{"cwd": a.Work}).said + c.say(id, "More words.")
	c.end()
	for _, ours := range []string{"signet-memory", "Halyard"} {
		if strings.Contains(everything, ours) {
			t.Errorf("%q is shown:\n%s", ours, everything)
		}
	}
	if !strings.Contains(everything, "My own words.") {
		t.Errorf("the history is not shown:\n%s", everything)
	}
	if last := prompts(model, "More words."); len(last) == 0 || contexts(last[0].User) != 1 {
		t.Errorf("the model was asked %d times after the load: %+v", len(last), last)
	}
}

// A cancel reaches a turn for which the model has nothing to say, and the session goes on.
func opencodeCancels(t *testing.T) {
	over := make(chan struct{})
	defer close(over) // before the model is closed, which waits for its last answer
	asked := make(chan struct{}, 100)
	a, model := openCode(t, func(r fakemodel.Request) fakemodel.Reply {
		if len(r.Tools) > 0 && !slices.ContainsFunc(r.User,
			func(s string) bool { return strings.Contains(s, "Go on.") }) {
			asked <- struct{}{}
			<-over
		}
		return fakemodel.Reply{Text: "done"}
	})
	id := a.newSession()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	turn := a.Command(ctx, nil, a.command(30, "Think.")...)
	must(a.box, turn.Start())
	select {
	case <-asked:
	case <-ctx.Done():
		t.Fatal("the model was not asked")
	}
	a.say("cancel")
	turn.Wait() // acpx's exit code after a cancel differs between versions
	a.say("Go on.")
	// It keeps the prompt, which nobody can know: it was cancelled before it had said anything.
	if again := prompts(model, "Go on."); len(again) == 0 || contexts(again[0].User) != 2 {
		t.Errorf("the prompt after the cancel: %+v", again)
	}
	want := [][]string{{"Think.", "cancelled"}, {"Go on.", "end_turn"}}
	got := a.query(`SELECT t.user, t.stop FROM turns t JOIN sessions s ON s.id = t.session WHERE s.acp_id = ?
		ORDER BY t.id`, id)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	a.say("sessions", "close")
	a.alone()
}
