//go:build harnesses

// Package harnesses runs the proxy in front of the real harnesses, offline, against a fake model on loopback. They are
// 1.5 GB and installed on demand, so this is `make harnesses` and no part of `make test`.
package harnesses

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
	"github.com/Signet-AI/signet-acp-proxy/e2e/npm"
	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// A harness is how one is started and told to ask the fake model.
type harness struct {
	name    string
	command []string // the first is a name in node_modules/.bin
	env     func(url string) []string
	files   map[string]string // under HOME; MODEL stands for its address
	// does not always find a session again that it has just had, directly neither: TestHarnesses loads it
	fickle bool
}

var harnesses = []harness{
	{
		name: "claude", command: []string{"claude-agent-acp"},
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=none",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false"}
		},
	},
	{
		name: "codex", command: []string{"codex-acp"},
		env: func(string) []string { return []string{"FAKE_KEY=none"} },
		files: map[string]string{".codex/config.toml": `model = "fake-model"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "MODEL/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
`},
	},
	{
		name: "opencode", command: []string{"opencode", "acp"},
		env: func(string) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
				"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
		},
		files: map[string]string{"xdg/config/opencode/opencode.json": `{"model":"fake/fake-model","small_model":"fake/fake-model","enabled_providers":["fake"],"autoupdate":false,
"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"MODEL/v1","apiKey":"none"},"models":{"fake-model":{"tool_call":true,"limit":{"context":100000,"output":4000}}}}}}`},
	},
	{
		name: "gemini", command: []string{"gemini", "--acp"},
		env: func(url string) []string {
			// named, so that no other model is asked which
			return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_MODEL=gemini-2.5-flash"}
		},
		fickle: true,
		files:  map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"general":{"disableAutoUpdate":true},"privacy":{"usageStatisticsEnabled":false}}`},
	},
	{
		name: "qwen", command: []string{"qwen", "--acp"},
		env: func(url string) []string {
			return []string{"OPENAI_API_KEY=none", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=fake-model"}
		},
		files: map[string]string{".qwen/settings.json": `{"security":{"auth":{"selectedType":"openai"}},"general":{"disableAutoUpdate":true},"privacy":{"usageStatisticsEnabled":false}}`},
	},
	{
		name: "pi", command: []string{"pi-acp"},
		files: map[string]string{
			".pi/agent/models.json":   `{"providers":{"fake":{"baseUrl":"MODEL/v1","api":"openai-completions","apiKey":"none","models":[{"id":"fake-model"}]}}}`,
			".pi/agent/settings.json": `{"defaultProvider":"fake","defaultModel":"fake-model"}`,
		},
	},
	{
		name: "copilot", command: []string{"copilot", "--acp"},
		env: func(url string) []string {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_TYPE=openai",
				"COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=fake-model", "COPILOT_OFFLINE=true"}
		},
	},
}

// A row of the table that is printed at the end.
type row struct {
	name                                                  string
	identity, once, recalled, tool, loaded, clean, leaves string
}

// programs installs the clients and the harnesses, and builds the proxy.
func programs(t *testing.T) (proxy string, clients, modules npm.Modules) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	clients, err := npm.Install(ctx, "..")
	if err != nil {
		t.Fatal(err)
	}
	if modules, err = npm.Install(ctx, "."); err != nil {
		t.Fatal(err)
	}
	proxy = filepath.Join(t.TempDir(), "signet-acp-proxy")
	if out, err := exec.CommandContext(ctx, "go", "build", "-tags", "sqlite_fts5", "-o", proxy,
		"../../cmd/signet-acp-proxy").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return proxy, clients, modules
}

func TestHarnesses(t *testing.T) {
	proxy, clients, modules := programs(t)
	var rows []row
	for _, h := range harnesses {
		t.Run(h.name, func(t *testing.T) { rows = append(rows, h.test(t, proxy, clients, modules)) })
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "harness\tidentity\tonce\trecalled\ttool\tnew process\tacpx clean\tleaves nothing")
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join([]string{r.name, r.identity, r.once, r.recalled, r.tool, r.loaded,
			r.clean, r.leaves}, "\t"))
	}
	w.Flush()
}

// A stage is a harness behind the proxy, behind acpx, with a model of its own.
type stage struct {
	*sandbox.Sandbox
	t       *testing.T
	name    string
	fickle  bool
	ids     map[string]string // those of traces
	proxy   string
	harness []string // its command line
	acpx    []string
	model   *fakemodel.Server
}

func (h harness) stage(t *testing.T, proxy string, clients, modules npm.Modules, model *fakemodel.Server) stage {
	t.Cleanup(model.Close)
	box, err := sandbox.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := box.CopyIdentity(filepath.Join("..", "testdata", "agents")); err != nil {
		t.Fatal(err)
	}
	for name, text := range h.files {
		path := filepath.Join(box.Home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "MODEL", model.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	node, err := clients.Node()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(string(modules), ".bin")
	box.Env = append(box.Env, "PATH="+strings.Join([]string{filepath.Dir(node), bin, os.Getenv("PATH")},
		string(os.PathListSeparator)))
	if h.env != nil {
		box.Env = append(box.Env, h.env(model.URL)...)
	}
	s := stage{Sandbox: box, t: t, name: h.name, fickle: h.fickle, ids: map[string]string{}, proxy: proxy,
		harness: append([]string{filepath.Join(bin, h.command[0])}, h.command[1:]...), model: model}
	if h.name == "opencode" { // its binary comes with the clients
		if s.harness[0], err = clients.Opencode(); err != nil {
			t.Fatal(err)
		}
	}
	if err := box.Register("signet-test", slices.Concat([]string{proxy, "--agent", h.name, "--"},
		s.harness)...); err != nil {
		t.Fatal(err)
	}
	acpx, err := clients.Script("acpx/dist/cli.js")
	if err != nil {
		t.Fatal(err)
	}
	s.acpx = slices.Concat(acpx, []string{"--format", "quiet", "--ttl", "1", "--approve-all", "signet-test"})
	return s
}

// say runs acpx with words.
func (s stage) say(words ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer cancel()
	result, err := s.Run(ctx, nil, slices.Concat(s.acpx, words)...)
	if err != nil {
		s.t.Fatal(err)
	}
	if result.Code != 0 {
		s.t.Fatalf("acpx %q: exit %d\n%s%s", words, result.Code, result.Stdout, result.Stderr)
	}
	return result.Stdout
}

// alone waits until nothing runs any more.
func (s stage) alone() string {
	s.t.Helper()
	left, err := s.Settle(30 * time.Second)
	return check(s.t, err == nil && len(left) == 0, "still running: %v (%v)", left, err)
}

// test holds two conversations: one says something, the other asks about it and goes on in a new process.
func (h harness) test(t *testing.T, proxy string, clients, modules npm.Modules) (r row) {
	model := fakemodel.Start(nil)
	box := h.stage(t, proxy, clients, modules, model)
	say, alone := box.say, box.alone

	r.name = h.name
	say("exec", "The mast of the Curlew is 11.42 metres long.")
	r.leaves = alone()
	say("sessions", "new")
	alone()
	say("How long is the mast of the Curlew?")
	r.leaves = worse(alone(), r.leaves)
	first := asked(model, "How long is the mast")
	r.tool = offered(model, "How long is the mast")
	r.identity = check(t, strings.Contains(first, "You are Halyard"),
		"no identity in what the model was asked:\n%s", first)
	r.recalled = check(t, strings.Contains(first, "11.42"), "no memory in what the model was asked:\n%s", first)
	say("And its boom?")
	alone()
	last := asked(model, "And its boom?")
	r.loaded = check(t, strings.Contains(last, "How long is the mast"), "the session was not loaded:\n%s", last)
	r.once = check(t, strings.Count(first, mark) == 1 && strings.Count(last, mark) == 1,
		"%d and %d contexts, want one each", strings.Count(first, mark), strings.Count(last, mark))
	r.clean = check(t, !mentioned(t, filepath.Join(box.Home, ".acpx")), "acpx's files hold our block")
	return r
}

// offered reports whether the model was offered the memory tool in a conversation: some harnesses have no place for
// it, or show it only to a model that searches for tools (mcp_test.go has those that a model can call).
func offered(model *fakemodel.Server, words string) string {
	for _, r := range model.Requests() {
		if strings.Contains(strings.Join(r.User, "\n"), words) &&
			slices.ContainsFunc(r.Tools, func(name string) bool { return strings.Contains(name, "memory_search") }) {
			return "yes"
		}
	}
	return "no"
}

const mark = "<signet-memory "

// asked is the text of the user's messages in the last request of the conversation that holds the words.
func asked(model *fakemodel.Server, words string) string {
	found := ""
	for _, r := range model.Requests() {
		if text := strings.Join(r.User, "\n"); strings.Contains(text, words) && len(r.Tools) > 0 {
			found = text
		}
	}
	return found
}

func mentioned(t *testing.T, dir string) bool {
	found := false
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		found = found || strings.Contains(string(text), strings.TrimSpace(mark[1:]))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return found
}

func check(t *testing.T, ok bool, format string, args ...any) string {
	t.Helper()
	if !ok {
		t.Errorf(format, args...)
		return "NO"
	}
	return "yes"
}

// worse is the first answer unless the second is no.
func worse(a, b string) string {
	if b == "NO" {
		return b
	}
	return a
}
