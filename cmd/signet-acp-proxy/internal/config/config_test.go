package config

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A value comes from the flag, else the environment, else the file, else it is the default; each says so.
func TestLoadOrder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "agent.yaml")
	write(t, file, "acp:\n  hold: 2s\n  retention: 20d\n  log_level: warn\n  memory: daemon\n")
	t.Setenv("SIGNET_ACP_RETENTION", "30d")
	t.Setenv("SIGNET_ACP_MEMORY", "embedded")
	c, err := Load(Flags{SignetPath: dir, Memory: "off"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Hold != 2*time.Second || c.Retention != 30*24*time.Hour || c.LogLevel != "warn" || c.Memory != "off" ||
		c.DeliverAtExit != 0 {
		t.Errorf("hold %v, retention %v, log_level %s, memory %s, deliver_at_exit %v", c.Hold, c.Retention, c.LogLevel, c.Memory,
			c.DeliverAtExit)
	}
	for name, want := range map[string]string{
		"hold": file + ":2", "retention": "SIGNET_ACP_RETENTION", "memory": "--memory", "deliver_at_exit": "default",
		"signet_path": "--signet-path",
	} {
		if got := c.Source(name); got != want {
			t.Errorf("%s comes from %q, want %q", name, got, want)
		}
	}
	t.Chdir(filepath.Dir(dir))
	if c, err := Load(Flags{SignetPath: filepath.Base(dir)}); err != nil || c.SignetPath != dir {
		t.Errorf("a folder named from here is %s, %v; want %s", c.SignetPath, err, dir)
	}
}

// Who still has a setting that is gone is told what replaced it; everything else is read.
func TestRetired(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "agent.yaml")
	write(t, file, "acp:\n  fetch: 2s\n  database_wait: [1]\n  hold: 3s\n  agents:\n    claude: {inject: on}\n")
	t.Setenv("SIGNET_ACP_TOOL_HINT", "never")
	c, err := Load(Flags{SignetPath: dir})
	if err != nil || c.Hold != 3*time.Second || c.Fetch != 15*time.Second {
		t.Errorf("%v, hold %v, fetch %v", err, c.Hold, c.Fetch)
	}
	want := []string{
		file + ":2: fetch is no longer a setting: SIGNET_SESSION_START_TIMEOUT, in milliseconds, sets it",
		file + ":3: database_wait is no longer a setting: hold sets it",
		"SIGNET_ACP_TOOL_HINT: tool_hint is no longer a setting: agents.NAME.asks_for_tools decides it",
	}
	if !slices.Equal(c.Warnings, want) {
		t.Errorf("it says\n%s", strings.Join(c.Warnings, "\n"))
	}
	if _, err := Set(nil, "fetch", "3s"); err == nil || !strings.Contains(err.Error(), "SIGNET_SESSION_START_TIMEOUT") {
		t.Errorf("setting it: %v", err)
	}
	for name := range retired {
		if _, is := Named(name); is {
			t.Errorf("%s is a setting", name)
		}
	}
}

// All mistakes are named, and the defaults stand in their places: a relay must start.
func TestLoadMistakes(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "agent.yaml"),
		"acp:\n  hold: soon\n  memori: off\n  memory: [a]\n  agents:\n    nobody: {inject: off}\n")
	c, err := Load(Flags{SignetPath: dir})
	if err == nil || c.Hold != 1500*time.Millisecond || c.Memory != "auto" {
		t.Fatalf("%v, hold %v, memory %q", err, c.Hold, c.Memory)
	}
	for _, want := range []string{"agent.yaml:2: hold must be a duration",
		`agent.yaml:3: unknown setting "memori"; did you mean "memory"?`, "agent.yaml:4: memory must be a single value",
		"agent.yaml:6: agents.nobody: unknown agent"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	var flag FlagError
	if _, err := Load(Flags{SignetPath: dir, Memory: "of"}); !errors.As(err, &flag) || flag.Flag != "--memory" {
		t.Errorf("a wrong flag: %v", err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Who gets no server, and who another one.
func TestMCPFor(t *testing.T) {
	for _, tt := range []struct{ name, agent, config, want string }{
		{"nothing is said", "mine", "", "stdio"},
		{"off", "mine", "mcp: off", "off"},
		{"off for this one", "mine", "agents: {mine: {command: x, mcp: off}}", "off"},
		{"off for another", "mine", "agents: {codex: {mcp: off}}", "stdio"},
		{"on for this one", "mine", "mcp: off\n  agents: {mine: {command: x, mcp: stdio}}", "stdio"},
		{"http", "mine", "mcp: http", "http"},
		{"one that refuses servers", "devin", "", "off"},
		{"one that refuses them, told otherwise", "devin", "agents: {devin: {mcp: stdio}}", "stdio"},
		{"one that starts no program", "copilot", "", "http"},
		{"one that starts no program, where a child could read its token", "copilot", "delegation: on", "off"},
		{"one that starts no program, asked for", "copilot", "delegation: on\n  agents: {copilot: {mcp: http}}", "http"},
		{"copilot, told otherwise", "copilot", "mcp: stdio", "stdio"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "agent.yaml"), "acp:\n  memory: embedded\n  "+tt.config+"\n")
		c, err := Load(Flags{SignetPath: dir})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.MCPFor(tt.agent, tt.agent); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What the section of an agent says of its ways stands over what is known of the harness, by either of its names.
func TestAgentWays(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "agent.yaml"), `acp:
  agents:
    mine: {command: my-agent --acp, grace: 3s, asks_for_tools: on, keeps_failed: yes, compact_commands: [squeeze], capabilities: [go, sql]}
    claude: {asks_for_tools: off}
    wrapped: {command: wrapper claude-agent-acp, keeps_failed: off}
`)
	c, err := Load(Flags{SignetPath: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Agent("mine").Capabilities; !slices.Equal(got, []string{"go", "sql"}) {
		t.Errorf("capabilities %q", got)
	}
	if got := c.Agent("wrapped").Capabilities; len(got) > 0 {
		t.Errorf("capabilities %q where none are set", got)
	}
	for _, tt := range []struct {
		agent, name string // agentInfo.name, and what it was started as
		grace       time.Duration
		asks, keeps bool
		compacts    string
	}{
		{"something", "mine", 3 * time.Second, true, true, "squeeze"},
		{"something", "other", 0, false, false, ""},
		{"@agentclientprotocol/claude-agent-acp", "claude", 0, false, true, ""},
		{"@agentclientprotocol/claude-agent-acp", "wrapped", 0, false, false, ""},
		{"qwen-code", "qwen", 0, true, true, "compress summarize"},
		{"qwen-code", "mine", 3 * time.Second, true, true, "squeeze"},
		{"", "gemini", time.Second, true, false, ""},
	} {
		p, _ := c.ProfileOf(tt.agent, tt.name)
		if p.Grace != tt.grace || p.AsksForTools != tt.asks || p.KeepsFailedPrompt != tt.keeps ||
			strings.Join(p.CompactCommands, " ") != tt.compacts {
			t.Errorf("%s as %s: grace %v, asks %v, keeps %v, compacts by %q",
				tt.agent, tt.name, p.Grace, p.AsksForTools, p.KeepsFailedPrompt, p.CompactCommands)
		}
	}
	for _, tt := range []struct {
		name, mode string
		asks       bool
	}{
		{"qwen", "auto", true}, {"mine", "auto", true}, {"claude", "default", false}, // what the section says counts
	} {
		if p, _ := c.ProfileOf("", tt.name); p.Asks(tt.mode) != tt.asks {
			t.Errorf("%s in mode %s: asks %v", tt.name, tt.mode, !tt.asks)
		}
	}
	if p, known := c.Profile("mine"); !known || p.Grace != 3*time.Second {
		t.Errorf("mine is known %v, and has %v to end", known, p.Grace)
	}
	for _, tt := range []struct {
		command, name string
		grace         time.Duration
		asks          bool
	}{
		{"another-agent", "mine", 3 * time.Second, true},
		{"another-agent", "", 0, false},
		{"claude-agent-acp", "", 0, false}, // the section of claude says that it does not ask
		{"claude-agent-acp", "mine", 3 * time.Second, true},
		{"gemini --acp", "", time.Second, true},
	} {
		p := c.ProfileBy(strings.Fields(tt.command), tt.name)
		if p.Grace != tt.grace || p.AsksForTools != tt.asks {
			t.Errorf("%s as %q: grace %v, asks %v", tt.command, tt.name, p.Grace, p.AsksForTools)
		}
	}
}

// Where nobody names a folder, nothing is read from or written to the one that we stand in.
func TestNoFolder(t *testing.T) {
	t.Setenv("SIGNET_PATH", "")
	nowhere := func() (string, error) { return "", errors.New("no home") }
	c := &Config{sources: map[string]string{}}
	if err := c.locate(Flags{}, nowhere); !errors.Is(err, ErrNoFolder) || c.SignetPath != "" {
		t.Errorf("%q, %v", c.SignetPath, err)
	}
	somewhere := func() (string, error) { return "/home/ines", nil }
	if err := c.locate(Flags{}, somewhere); err != nil || filepath.ToSlash(c.SignetPath) != "/home/ines/.agents" {
		t.Errorf("%q, %v", c.SignetPath, err)
	}
}

// Variables of Signet's own clients count where nothing of ours is set.
func TestSignetVariables(t *testing.T) {
	type variables map[string]string
	for _, c := range []struct {
		name   string
		env    variables
		file   string
		daemon string
		named  bool // a person named the daemon
		fetch  time.Duration
		agent  string
		from   string // a setting, and what it comes from
	}{
		{name: "none"},
		{name: "a daemon", env: variables{"SIGNET_DAEMON_URL": "http://a.example:1"}, daemon: "http://a.example:1", named: true,
			from: "daemon_url SIGNET_DAEMON_URL"},
		{name: "a daemon, and ours", env: variables{"SIGNET_DAEMON_URL": "http://a.example:1"},
			file: "daemon_url: http://b.example:2", daemon: "http://b.example:2", named: true},
		{name: "a host", env: variables{"SIGNET_HOST": "10.0.0.1"}, daemon: "http://10.0.0.1:3850", from: "daemon_url default"},
		{name: "localhost", env: variables{"SIGNET_HOST": "localhost", "SIGNET_PORT": "4"}, daemon: "http://127.0.0.1:4"},
		{name: "localhost of IPv6", env: variables{"SIGNET_HOST": "::1"}},
		{name: "a time", env: variables{"SIGNET_SESSION_START_TIMEOUT": "1000"}, fetch: time.Second},
		{name: "too short a time", env: variables{"SIGNET_SESSION_START_TIMEOUT": "999"}},
		{name: "the longest time", env: variables{"SIGNET_FETCH_TIMEOUT": "120000"}, fetch: 2 * time.Minute},
		{name: "too long a time", env: variables{"SIGNET_FETCH_TIMEOUT": "120001"}},
		{name: "no time", env: variables{"SIGNET_FETCH_TIMEOUT": "soon"}},
		{name: "an agent", env: variables{"SIGNET_AGENT_ID": "alto"}, agent: "alto", from: "agent_id SIGNET_AGENT_ID"},
		{name: "an agent, and ours", env: variables{"SIGNET_AGENT_ID": "alto"}, file: "agent_id: basso", agent: "basso"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.file != "" {
				write(t, filepath.Join(dir, "agent.yaml"), "acp:\n  "+c.file+"\n")
			}
			for _, name := range []string{"SIGNET_DAEMON_URL", "SIGNET_HOST", "SIGNET_PORT",
				"SIGNET_SESSION_START_TIMEOUT", "SIGNET_FETCH_TIMEOUT", "SIGNET_AGENT_ID"} {
				t.Setenv(name, c.env[name])
			}
			got, err := Load(Flags{SignetPath: dir})
			if err != nil {
				t.Fatal(err)
			}
			if daemon := cmp.Or(c.daemon, "http://127.0.0.1:3850"); got.DaemonURL != daemon || got.DaemonConfigured != c.named {
				t.Errorf("the daemon is %s, named: %t", got.DaemonURL, got.DaemonConfigured)
			}
			if want := c.named || c.env["SIGNET_HOST"]+c.env["SIGNET_PORT"] != ""; got.DaemonExpected != want {
				t.Errorf("expected: %t", got.DaemonExpected)
			}
			if got.Fetch != cmp.Or(c.fetch, 15*time.Second) || got.AgentID != c.agent {
				t.Errorf("fetch %v, agent %q", got.Fetch, got.AgentID)
			}
			if setting, from, _ := strings.Cut(c.from, " "); c.from != "" && got.Source(setting) != from {
				t.Errorf("%s comes from %s", setting, got.Source(setting))
			}
			if got.DB != filepath.Join(dir, "acp", "sessions.db") {
				t.Errorf("the database is %s", got.DB)
			}
		})
	}
}

// A setting is shown as it can be written; what an agent's section leaves out is its default, and a known agent's own
// command is not ours to show.
func TestShown(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "agent.yaml")
	write(t, file, "acp:\n  hold: 90m\n  daemon_plain: on\n  deliver_at_exit: 1m30s\n  retention: 36h\n  on_session_end: sh -c true\n"+
		"  exclude: [/a, /b]\n  presence: on\n  agents:\n    claude: {mcp: stdio, asks_for_tools: off}\n"+
		"    mine: {command: my-agent --acp}\n")
	c, err := Load(Flags{SignetPath: dir})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]ShownSetting{}
	for _, s := range c.Shown() {
		got[s.Name] = s
	}
	for _, want := range []ShownSetting{
		{"signet_path", dir, "--signet-path", "SIGNET_PATH"},
		{"hold", "1h30m", file + ":2", "SIGNET_ACP_HOLD"},
		{"daemon_plain", true, file + ":3", "SIGNET_ACP_DAEMON_PLAIN"},
		{"deliver_at_exit", "1m30s", file + ":4", "SIGNET_ACP_DELIVER_AT_EXIT"},
		{"retention", "36h", file + ":5", "SIGNET_ACP_RETENTION"},
		{"delegation_disk", "2GB", "default", "SIGNET_ACP_DELEGATION_DISK"},
		{"delegation_memory", "8GB", "default", "SIGNET_ACP_DELEGATION_MEMORY"},
		{"delegation_read", "", "default", "SIGNET_ACP_DELEGATION_READ"},
		{"on_session_end", "sh -c true", file + ":6", "SIGNET_ACP_ON_SESSION_END"},
		{"exclude", "/a,/b", file + ":7", "SIGNET_ACP_EXCLUDE"},
		{"delegation_copy", "", "default", "SIGNET_ACP_DELEGATION_COPY"},
		{"presence", true, file + ":8", "SIGNET_ACP_PRESENCE"},
		{"agents.claude.mcp", "stdio", file + ":10", ""},
		{"agents.claude.asks_for_tools", false, file + ":10", ""},
		{"agents.claude.keeps_failed", "", "default", ""},
		{"agents.claude.inject", true, "default", ""},
		{"agents.mine.command", "my-agent --acp", file + ":11", ""},
		{"agents.claude.command", nil, "", ""}, // not there
	} {
		if one := got[want.Name]; one.Value != want.Value || one.Source != want.Source || one.Environment != want.Environment {
			t.Errorf("%+v, want %+v", one, want)
		}
	}
	if c.Retention = 365 * 24 * time.Hour; shortDuration(c.Retention) != "365d" {
		t.Errorf("a year is shown as %s", shortDuration(c.Retention))
	}
}

func TestDidYouMean(t *testing.T) {
	for _, tt := range []struct{ wrong, words, want string }{
		{"sesions", "show sessions", `, did you mean "sessions"?`},
		{"mem", "memory show", `, did you mean "memory"?`}, // its beginning
		{"--jsn", "--json --limit", `, did you mean "--json"?`},
		{"--xy", "--json", ""}, // the dashes are no likeness
		{"abcd", "abxy", `, did you mean "abxy"?`},
		{"abcd", "axyz", ""},
		{"memroy", "memories memory", `, did you mean "memory"?`},
		{"x", "", ""},
	} {
		if got := DidYouMean(tt.wrong, strings.Fields(tt.words)); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.wrong, tt.words, got, tt.want)
		}
	}
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("from %q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
