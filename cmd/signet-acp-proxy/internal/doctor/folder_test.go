package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
)

func TestFreeSpace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "acp"), 0o700),
		os.WriteFile(filepath.Join(dir, "acp", "live"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, db string
		problem  bool
	}{
		{"space", filepath.Join(dir, "sessions.db"), false},
		{"no folder yet", filepath.Join(dir, "none", "sessions.db"), false},
		{"nobody named one", "", false},
		{"a folder that takes nothing", filepath.Join(file, "sessions.db"), true},
		{"a file in the place of the living processes' folder", filepath.Join(dir, "acp", "sessions.db"), true},
	} {
		e := examination{c: &config.Config{DB: c.db}}
		if found := e.space(); len(found) > 0 != c.problem {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

// Each check of the folder, by what lies in it.
func TestFolder(t *testing.T) {
	const comment = "<!--\nWho you are.\n-->\n"
	type file struct {
		name, text string
		mode       os.FileMode
	}
	identity := func(e *examination) []finding { return e.identity() }
	permissions := func(e *examination) []finding { return e.permissions() }
	injection := func(e *examination) []finding { return e.integrations() }
	for _, tt := range []struct {
		name  string
		find  func(*examination) []finding
		files []file
		want  string // DIR is the folder
	}{
		{"nobody has written who they are", identity, nil, "note no identity files in DIR → signet-acp-proxy init makes " +
			"templates; describe your agent in IDENTITY.md, yourself in USER.md"},
		{"templates", identity, []file{{"USER.md", comment, 0o600}}, "note USER.md: only a comment so far → write who you are " +
			"into DIR/USER.md, below the comment"},
		{"files", identity, []file{{"USER.md", "Robin", 0o600}, {"SOUL.md", comment, 0o600}, {"IDENTITY.md", "Alto.", 0o600}},
			"ok IDENTITY.md 5 B, USER.md 5 B"},
		{"a folder in the place of one", identity, []file{{"USER.md/x", "", 0o600}}, "problem cannot be read: DIR/USER.md is not a " +
			"regular file → make it readable for your user, or remove it"},
		{"nothing recorded", permissions, nil, "ok only you can read DIR/acp"},
		{"one's own", permissions, []file{{"acp/sessions.db", "", 0o600}, {"USER.md", "", 0o644}}, "ok only you can read DIR/acp"},
		{"others may read", permissions, []file{{"acp/sessions.db", "", 0o640}, {"acp/live/a", "", 0o604}},
			"problem others may read the conversations: DIR/acp/live/a (0604), DIR/acp/sessions.db (0640) → chmod -R go= DIR/acp " +
				"DIR/acp/sessions.db"},
		{"many", permissions, []file{{"acp/a", "", 0o644}, {"acp/b", "", 0o644}, {"acp/c", "", 0o644}, {"acp/d", "", 0o644},
			{"acp/e", "", 0o644}}, "problem others may read the conversations: DIR/acp/a (0644), DIR/acp/b (0644), DIR/acp/c (0644) and " +
			"2 more → chmod -R go= DIR/acp DIR/acp/sessions.db"},
		{"no harness", injection, nil, "ok no conflicting hooks"},
		{"other settings", injection, []file{{".claude/settings.json", `{"mcp": "signet"}`, 0o600}},
			"ok no conflicting hooks"},
		{"hooks", injection, []file{{".claude/settings.local.json", "Signet Hook session-start", 0o600},
			{".codex/config.toml", "signet-hook", 0o600}},
			"ok claude has Signet's own hooks (DIR/.claude/settings.local.json); they are disabled under the proxy; " +
				"ok codex has Signet's own hooks (DIR/.codex/config.toml); they are disabled under the proxy"},
		{"a plugin", injection, []file{{".config/opencode/plugins/signet.js", "", 0o600}}, "problem opencode has Signet's own plugin " +
			"(DIR/.config/opencode/plugins/signet.js), which also inserts context → remove it, or set acp: agents: opencode: inject: off"},
		{"a plugin by its name", injection, []file{{".config/opencode/opencode.jsonc", `{"plugin": ["@signet/x"]}`, 0o600},
			{".openclaw/openclaw.json", `{"plugins": {"signet": {}}}`, 0o600}},
			"problem opencode has Signet's own plugin (DIR/.config/opencode/opencode.jsonc), which also inserts context → remove it, or " +
				"set acp: agents: opencode: inject: off; problem openclaw has Signet's own plugin (DIR/.openclaw/openclaw.json), which " +
				"also inserts context → remove it, or set acp: agents: openclaw: inject: off"},
		{"a server of that name", injection, []file{{".openclaw/openclaw.json", `{"mcp": {"signet": {}}}`, 0o600}},
			"ok no conflicting hooks"},
		{"an agent that gets nothing of us", injection, []file{{".gemini/settings.json", "signet hook", 0o600}},
			"ok no conflicting hooks"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("HOME", dir)
			for _, name := range []string{"XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
				t.Setenv(name, "")
			}
			for _, f := range tt.files {
				path := filepath.Join(dir, filepath.FromSlash(f.name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(f.text), 0o600),
					os.Chmod(path, f.mode)); err != nil {
					t.Fatal(err)
				}
			}
			e := &examination{c: &config.Config{SignetPath: dir, DB: filepath.Join(dir, "acp", "sessions.db"), Hooks: "disabled",
				Agents: map[string]config.AgentConfig{"gemini": {}}}}
			if got := strings.ReplaceAll(words(tt.find(e)), dir, "DIR"); got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
