//go:build harnesses

// Package harnesses runs the proxy in front of the real harnesses, offline, against a fake model on loopback. They are
// 1.5 GB and installed on demand, so this is `make harnesses` and no part of `make test`.
//
//	s := named("claude").stage(t, nil)          // in a HOME of its own, with a model that says ok
//	s.say("exec", "How long is the mast?")      // acpx → proxy → claude → the model
//	w := s.connect(true, "")                    // or a client of ours, frame by frame
//	other := s.beside("codex")                  // another one in the same HOME, with the same model
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
	"sync"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
	"github.com/Signet-AI/signet-acp-proxy/e2e/npm"
	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// A harness is how one is started and told to ask the fake model.
type harness struct {
	name  string
	start []string // the first is a name in node_modules/.bin
	env   func(url string) []string
	files map[string]string // under HOME; MODEL stands for its address
	// names a session's file by the minute, and begins it anew where it loads the session in the same one
	byMinute bool
}

var harnesses = []harness{
	{
		name: "claude", start: []string{"claude-agent-acp"},
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=none",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false"}
		},
	},
	{
		name: "codex", start: []string{"codex-acp"},
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
		name: "opencode", start: []string{"opencode", "acp"},
		env: func(string) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
				"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
		},
		files: map[string]string{"xdg/config/opencode/opencode.json": `{"model":"fake/fake-model","small_model":"fake/fake-model","enabled_providers":["fake"],"autoupdate":false,
"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"MODEL/v1","apiKey":"none"},"models":{"fake-model":{"tool_call":true,"limit":{"context":100000,"output":4000}}}}}}`},
	},
	{
		name: "gemini", start: []string{"gemini", "--acp"},
		env: func(url string) []string {
			// named, so that no other model is asked which
			return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_MODEL=gemini-2.5-flash"}
		},
		byMinute: true,
		files:    map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"general":{"disableAutoUpdate":true},"privacy":{"usageStatisticsEnabled":false}}`},
	},
	{
		name: "qwen", start: []string{"qwen", "--acp"},
		env: func(url string) []string {
			return []string{"OPENAI_API_KEY=none", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=fake-model"}
		},
		files: map[string]string{".qwen/settings.json": `{"security":{"auth":{"selectedType":"openai"}},"general":{"disableAutoUpdate":true},"privacy":{"usageStatisticsEnabled":false}}`},
	},
	{
		name: "pi", start: []string{"pi-acp"},
		files: map[string]string{
			".pi/agent/models.json":   `{"providers":{"fake":{"baseUrl":"MODEL/v1","api":"openai-completions","apiKey":"none","models":[{"id":"fake-model"}]}}}`,
			".pi/agent/settings.json": `{"defaultProvider":"fake","defaultModel":"fake-model"}`,
		},
	},
	{
		name: "copilot", start: []string{"copilot", "--acp"},
		env: func(url string) []string {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_TYPE=openai",
				"COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=fake-model", "COPILOT_OFFLINE=true"}
		},
	},
}

// others are looked at less.
var others = []harness{{
	name: "kimi", start: []string{"kimi", "acp"},
	env: func(url string) []string {
		return []string{"KIMI_MODEL_NAME=fake-model", "KIMI_MODEL_API_KEY=none", "KIMI_MODEL_PROVIDER_TYPE=openai",
			"KIMI_MODEL_BASE_URL=" + url + "/v1", "KIMI_CODE_NO_AUTO_UPDATE=1"}
	},
}}

// named returns the harness of a name.
func named(name string) harness {
	return harnesses[slices.IndexFunc(harnesses, func(h harness) bool { return h.name == name })]
}

// What is installed and built for all tests.
type programs struct {
	proxy            string
	clients, modules npm.Modules
}

// binaries is a folder that TestMain makes and removes.
var binaries string

var installed = sync.OnceValues(func() (p programs, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	if p.clients, err = npm.Install(ctx, ".."); err != nil {
		return p, err
	}
	if p.modules, err = npm.Install(ctx, "."); err != nil {
		return p, err
	}
	p.proxy = filepath.Join(binaries, "signet-acp-proxy")
	out, err := exec.CommandContext(ctx, "go", "build", "-tags", "sqlite_fts5", "-o", p.proxy,
		"../../cmd/signet-acp-proxy").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return p, err
})

// A stage is a harness behind the proxy, behind acpx or a client of ours, in a sandbox, with a model of its own.
type stage struct {
	*sandbox.Sandbox
	t *testing.T
	harness
	programs
	ids     map[string]string // those of traces
	command []string          // that starts it
	agent   string            // what acpx calls it
	acpx    []string
	model   *fakemodel.Server
}

// stage makes a stage with a model that answers by script, and with "ok" where that is nil.
func (h harness) stage(t *testing.T, script func(fakemodel.Request) fakemodel.Reply) (s stage) {
	t.Helper()
	answers := script
	if script != nil {
		answers = func(r fakemodel.Request) fakemodel.Reply {
			if r.Result { // the tools are connected
				s.opensNothing()
			}
			return script(r)
		}
	}
	model := fakemodel.Start(answers)
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
	return h.in(t, box, model)
}

// beside puts another harness on the stage, in the same HOME and with the same model.
func (s stage) beside(name string) stage {
	s.t.Helper()
	return named(name).in(s.t, s.Sandbox, s.model)
}

// in puts a harness into a sandbox: its files, its environment, and its name in acpx's configuration.
func (h harness) in(t *testing.T, box *sandbox.Sandbox, model *fakemodel.Server) stage {
	t.Helper()
	p, err := installed()
	if err != nil {
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
	node, err := p.clients.Node()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(string(p.modules), ".bin")
	box.Env = append(box.Env, "PATH="+strings.Join([]string{filepath.Dir(node), bin, os.Getenv("PATH")},
		string(os.PathListSeparator)))
	if h.env != nil {
		box.Env = append(box.Env, h.env(model.URL)...)
	}
	s := stage{Sandbox: box, t: t, harness: h, programs: p, ids: map[string]string{}, model: model,
		agent: "signet-" + h.name, command: append([]string{filepath.Join(bin, h.start[0])}, h.start[1:]...)}
	if h.name == "opencode" { // its binary comes with the clients
		if s.command[0], err = p.clients.Opencode(); err != nil {
			t.Fatal(err)
		}
	}
	if err := box.Register(s.agent, s.throughProxy()...); err != nil {
		t.Fatal(err)
	}
	acpx, err := p.clients.Script("acpx/dist/cli.js")
	if err != nil {
		t.Fatal(err)
	}
	s.acpx = slices.Concat(acpx, []string{"--format", "quiet", "--ttl", "1", "--approve-all"})
	return s
}

// throughProxy is the command that starts the harness behind the proxy.
func (s stage) throughProxy() []string {
	return slices.Concat([]string{s.proxy, "--agent", s.name, "--"}, s.command)
}

// say has acpx say something to the harness, or do something with it.
func (s stage) say(words ...string) string {
	s.t.Helper()
	return s.run(slices.Concat(s.acpx, []string{s.agent}, words)...)
}

// run runs a command in the sandbox that must succeed.
func (s stage) run(command ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer cancel()
	result, err := s.Run(ctx, nil, command...)
	if err != nil {
		s.t.Fatal(err)
	}
	if result.Code != 0 {
		s.t.Fatalf("%q: exit %d\n%s%s", command, result.Code, result.Stdout, result.Stderr)
	}
	return result.Stdout
}

// alone waits until nothing runs any more.
func (s stage) alone() {
	s.t.Helper()
	left, err := s.Settle(30 * time.Second)
	s.check("leaves nothing behind", err == nil && len(left) == 0, "still running: %v (%v)", left, err)
}

// opensNothing looks at what anybody can read of the processes that run.
func (s stage) opensNothing() {
	exposed, err := s.Exposed()
	s.check("nothing opens anything", err == nil && len(exposed) == 0, "%q (%v)", exposed, err)
}

// remembers waits until a search finds what was said: a process that ends leaves what a busy database does not take
// in time to those that come, and none of them is waited for.
func (s stage) remembers(words string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		found := s.run(s.proxy, "memory", "search", words, "--json")
		if strings.Contains(found, words) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%q is not remembered:\n%s", words, found)
		}
	}
}

// aged waits until a session is old enough to be loaded.
func (s stage) aged() {
	if s.byMinute {
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute + time.Second)))
	}
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

// mentioned reports whether our block stands in a file of a folder.
func mentioned(t *testing.T, dir string) bool { return holds(t, dir, strings.TrimSpace(mark[1:])) }

func holds(t *testing.T, dir, text string) bool {
	found := false
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		all, err := os.ReadFile(path)
		found = found || strings.Contains(string(all), text)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return found
}
