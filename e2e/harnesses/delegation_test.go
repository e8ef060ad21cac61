//go:build harnesses

package harnesses

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

var asking = []string{"claude", "codex", "opencode", "gemini", "qwen"}

// pairs are those who ask and are asked; each is both. With SIGNET_TEST_PAIRS=all everybody asks everybody.
func pairs() (all [][2]string) {
	for i, parent := range asking {
		for j, child := range asking {
			if os.Getenv("SIGNET_TEST_PAIRS") == "all" || j == (i+1)%len(asking) {
				all = append(all, [2]string{parent, child})
			}
		}
	}
	return all
}

// One agent asks another to review and to edit: the right result comes back, both sessions are in the record, one as
// the other's child, and both sides remember.
func TestDelegation(t *testing.T) {
	for _, pair := range pairs() {
		for _, mode := range []string{"read", "edit"} {
			t.Run(strings.Join([]string{pair[0], pair[1], mode}, " "), func(t *testing.T) {
				delegate(t, pair[0], pair[1], mode)
			})
		}
	}
}

func delegate(t *testing.T, parent, child, mode string) {
	p, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	box := named(parent).stage(t, asks(p.proxy, child, mode))
	other := box
	if child != parent {
		other = box.beside(child)
	}
	command, variables := other.whatItNeeds()
	box.delegates(child, command, variables)
	reply := box.say("exec", askedFor)
	box.alone()
	rows := box.rows()
	if len(rows) != 1 {
		var offered []string
		for _, r := range box.model.Requests() {
			offered = append(offered, fmt.Sprint(r.Result, r.Tools))
		}
		t.Fatalf("%d delegations; it said %q and was offered\n%s", len(rows), reply, strings.Join(offered, "\n"))
	}
	d := rows[0]
	t.Logf("%+v in %v", d, d.Ended.Sub(d.Started).Round(10*time.Millisecond))
	if d.State != "done" || d.Agent != child || !strings.Contains(d.Answer, verdict) {
		t.Errorf("the row: %+v", d)
	}
	if !strings.Contains(reply, "It says: "+verdict) {
		t.Errorf("the parent says %q", reply)
	}
	if mode == "edit" && d.Branch == "" {
		t.Fatalf("nothing was handed back: %+v\n%s", d, box.ran(box.proxy, "log", d.Session))
	}
	if mode == "edit" && box.ran("git", "-C", filepath.Join(d.Folder, "git"), "show", d.Branch+":white.txt") != "white\n" {
		t.Errorf("the branch does not have it: %+v", d)
	}
	if mode == "edit" {
		box.applied(d.ID)
	}
	box.remember(d.Session)
	box.check("asks another agent", !t.Failed(), "%s", child)
	other.check("is asked by another agent", !t.Failed(), "%s", parent)
}

// applied shows what was handed back and takes it into the project.
func (s stage) applied(id string) {
	s.t.Helper()
	if shown := s.ran(s.proxy, "delegations", "show", id); !strings.Contains(shown, "white.txt") {
		s.t.Errorf("shown is\n%s", shown)
	}
	s.ran(s.proxy, "delegations", "apply", id)
	if text, err := os.ReadFile(filepath.Join(s.Work, "white.txt")); string(text) != "white\n" {
		s.t.Errorf("the project has %q, %v", text, err)
	}
}

// remember looks for two sessions, one that works for the other, and for what each of them has kept.
func (s stage) remember(worker string) {
	s.t.Helper()
	type session struct{ ACPXSessionID, Parent, SignetSessionKey string }
	var sessions []session
	if err := json.Unmarshal([]byte(s.ran(s.proxy, "sessions", "--json")), &sessions); err != nil {
		s.t.Fatal(err)
	}
	of := func(id string) int {
		return slices.IndexFunc(sessions, func(one session) bool { return one.ACPXSessionID == id })
	}
	at := of(worker)
	if len(sessions) != 2 || at < 0 || of(sessions[at].Parent) != 1-at {
		s.t.Fatalf("sessions: %+v", sessions)
	}
	kept := map[string]string{}
	for line := range strings.Lines(s.ran(s.proxy, "memory", "export", "--said")) {
		var m struct{ Session, Source, Content string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			s.t.Fatal(err)
		}
		kept[m.Session] += m.Source + ": " + m.Content + "\n"
	}
	if text := kept[sessions[1-at].SignetSessionKey]; !strings.Contains(text, "delegation: ") ||
		!strings.Contains(text, verdict) {
		s.t.Errorf("who asked remembers %q", text)
	}
	if text := kept[sessions[at].SignetSessionKey]; !strings.Contains(text, verdict) {
		s.t.Errorf("who was asked remembers %q", text)
	}
}

// ran runs a command in the project that must succeed.
func (s stage) ran(command ...string) string {
	s.t.Helper()
	result, err := s.Run(s.t.Context(), nil, command...)
	if err != nil || result.Code != 0 {
		s.t.Fatalf("%q: %v, exit %d\n%s%s", command, err, result.Code, result.Stdout, result.Stderr)
	}
	return result.Stdout
}

const (
	askedFor = "Have the heron feathers looked after."
	verdict  = "The heron feathers have a colour."
	toldSo   = "This was delegated to you"
)

var folder = regexp.MustCompile(`/[^"\\ \n]*/acp/work/[0-9A-Z]{26}/work`)

// underWay is the id in a handle, however often its quotes were escaped.
var underWay = regexp.MustCompile(`id\\*":\s*\\*"([0-9A-Z]{26})`)

// asks is a model that has another agent asked, by a tool or else by its shell, and is that agent's model as well.
func asks(proxy, child, mode string) func(fakemodel.Request) fakemodel.Reply {
	return func(r fakemodel.Request) fakemodel.Reply {
		said := strings.Join(r.User, "\n")
		has := func(names ...string) string {
			for _, name := range names {
				for _, tool := range r.Tools {
					if tool == name || strings.HasSuffix(tool, "_"+name) || strings.HasSuffix(tool, "/"+name) {
						return tool
					}
				}
			}
			return ""
		}
		shell := has("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell")
		run := func(command string) fakemodel.Reply {
			arguments := map[string]any{"command": command, "cmd": command, "description": "Run it"}
			if shell == "shell" {
				arguments["command"] = []string{"bash", "-lc", command}
			}
			if shell == "exec_command" {
				arguments["yield_time_ms"] = 60000
			}
			return fakemodel.Reply{Tool: shell, Args: arguments}
		}
		switch {
		case strings.Contains(said, toldSo) && (mode == "read" || r.Result):
			return fakemodel.Reply{Text: verdict}
		case strings.Contains(said, toldSo):
			file := filepath.Join(folder.FindString(string(r.Body)), "white.txt")
			if tool := has("Write", "write", "write_file"); tool != "" {
				name := "file_path"
				if tool == "write" { // opencode's
					name = "filePath"
				}
				return fakemodel.Reply{Tool: tool, Args: map[string]any{name: file, "content": "white\n"}}
			}
			return run("printf 'white\\n' > white.txt")
		case strings.Contains(said, askedFor) && r.Result:
			if strings.Contains(string(r.Body), verdict) {
				return fakemodel.Reply{Text: "It says: " + verdict}
			}
			handle := underWay.FindAllStringSubmatch(string(r.Body), -1)
			if tool := has("delegation_wait"); tool != "" && handle != nil { // it takes its time
				return fakemodel.Reply{Tool: tool, Args: map[string]any{"id": handle[len(handle)-1][1]}}
			}
			return fakemodel.Reply{Text: "It says nothing."}
		case !strings.Contains(said, askedFor) || len(r.Tools) == 0:
			return fakemodel.Reply{Text: "ok"}
		}
		task := "Look after the heron feathers in heron.txt."
		if tool := has("delegate"); tool != "" {
			return fakemodel.Reply{Tool: tool, Args: map[string]any{"agent": child, "task": task, "mode": mode,
				"delegated_scope": "heron.txt", "kept_work": "the release"}}
		}
		return run(fmt.Sprintf("%s delegate --to %s --mode %s --scope heron.txt --keep 'the release' '%s'", proxy, child,
			mode, task))
	}
}
