package runtime

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// What becomes of each file and memory is said, each once.
func TestPreviewOf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"IDENTITY.md": "Alto.", "SOUL.md": "", "USER.md": "<!-- who -->\n", "MEMORY.md": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "AGENTS.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	start := memory.Context{Source: memory.FromEmbedded, Identity: "# IDENTITY.md\nAlto.",
		Items: []memory.Item{{ID: "a", Text: "A."}, {ID: "b", Text: "B."}, {Text: "C."}}}
	recalled := memory.Context{Items: []memory.Item{{ID: "b", Text: "B.", Score: 0.5}, {ID: "d", Text: "D."}}}
	p := previewOf(&config.Config{SignetPath: dir}, start, recalled, memory.Block{Text: "block", Items: []string{"a", "b", "C."}})
	var got []string
	for _, f := range p.Files {
		got = append(got, "told "+f.File+" "+f.Why)
	}
	for _, it := range p.Items {
		got = append(got, fmt.Sprint("told ", it.ID, " ", it.Content, " ", it.Why, " ", it.Score))
	}
	for _, o := range p.Out {
		got = append(got, "out "+o.File+o.ID+" "+o.Why)
	}
	want := []string{"told IDENTITY.md in (5 bytes)", "told b B. recalled 0.5", "told a A. standing 0", "told C. C. standing 0",
		"out USER.md only a comment so far", "out SOUL.md empty", "out AGENTS.md not a regular file",
		"out MEMORY.md the agent reads it itself", "out d already in the conversation, or no room"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	start.Source = "daemon"
	if p := previewOf(&config.Config{SignetPath: dir}, start, recalled, memory.Block{}); len(p.Files)+len(p.Items) > 0 || len(p.Out) != 4 {
		t.Errorf("of a daemon's context: %+v", p)
	}
	if fate := identityFileStatus(filepath.Join(dir, "none"), ""); fate != "out: missing" {
		t.Error(fate)
	}
}

// Why nothing is injected at all.
func TestNothingFor(t *testing.T) {
	for name, c := range map[string]config.Config{
		"memory is off ()":                                       {Memory: "off"},
		"agents.claude.inject is off ()":                         {Agents: map[string]config.AgentConfig{"claude": {}}},
		"DIR has opted out, by a .signet-ignore file or exclude": {Exclude: []string{"/**"}},
		"": {Memory: "embedded"},
	} {
		dir := t.TempDir()
		d := &Data{Config: &c}
		if got := strings.ReplaceAll(d.nothingFor(PreviewQuery{Cwd: dir, Agent: "claude"}), dir, "DIR"); got != name {
			t.Errorf("%q, want %q", got, name)
		}
	}
}

func TestKept(t *testing.T) {
	for days, want := range map[float64]string{0: "until they are delivered", 1: "24h0m0s", 1.5: "36h0m0s", 2: "2 days",
		365: "365 days"} {
		if got := kept(time.Duration(days * 24 * float64(time.Hour))); got != want {
			t.Errorf("%v days: %s", days, got)
		}
	}
}

// Another process of ours gets the configuration by flags; the daemon that a flag names goes on as one, or as a variable
// where it must not stand above the one that a row is owed to.
func TestOwnFlags(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SIGNET_API_KEY", "secret")
	t.Setenv("SIGNET_DAEMON_URL", "")
	for _, tt := range []struct {
		flags           config.Flags
		want, args, url string
	}{
		{config.Flags{SignetPath: dir}, "--db DIR/acp/sessions.db --signet-path DIR --memory auto --log-level info", "", ""},
		{config.Flags{SignetPath: dir, LogFile: "-", Memory: "daemon", DaemonURL: "http://127.0.0.1:1", DB: "/x/y.db"},
			"--db /x/y.db --signet-path DIR --memory daemon --log-level info --daemon-url http://127.0.0.1:1",
			"--db /x/y.db --signet-path DIR --memory daemon --log-level info", "http://127.0.0.1:1"},
		{config.Flags{SignetPath: dir, LogFile: "/l"},
			"--db DIR/acp/sessions.db --signet-path DIR --memory auto --log-level info --log-file /l", "", ""},
	} {
		c, err := config.Load(tt.flags)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(strings.Join(ownFlags(c), " "), dir, "DIR"); got != tt.want {
			t.Errorf("%s\nwant\n%s", got, tt.want)
		}
		s := spawn(c, "deliver")
		args, wantArgs := strings.ReplaceAll(strings.Join(s.Args, " "), dir, "DIR"), tt.args
		if wantArgs == "" {
			wantArgs = tt.want
		}
		if args != "deliver "+wantArgs || s.Pass.URL != tt.url || s.Pass.Token != "secret" || s.Dir != c.Dir() {
			t.Errorf("%s; it is passed %+v, in %s", args, s.Pass, s.Dir)
		}
		env := "\n" + strings.Join(s.Env, "\n") + "\n"
		if strings.Contains(env, "secret") || strings.Contains(env, "\nSIGNET_ACP_DAEMON_URL="+tt.url+"\n") != (tt.url != "") {
			t.Errorf("its environment:%s", env)
		}
	}
}
