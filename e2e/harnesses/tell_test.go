//go:build harnesses

package harnesses

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

const (
	more  = "And the grebe feathers."
	moreV = "The grebe feathers have one, too."
)

// steered are those that take words in the middle of a turn.
var steered = []string{"claude", "codex"}

// A child that works is watched and told something more, and what it has made is checked, while nobody is killed, or in
// the middle of that the one who watches, the child, its runner, or the check.
func TestTellWatchCheck(t *testing.T) {
	for _, name := range []string{"opencode", "claude", "codex"} {
		for _, victim := range []string{"nobody", "watch", "child", "runner", "check"} {
			t.Run(name+"/"+victim, func(t *testing.T) { tellWatchCheck(t, name, victim) })
		}
	}
}

func tellWatchCheck(t *testing.T, name, victim string) {
	works, goOn := make(chan struct{}, 9), make(chan struct{})
	s := named(name).stage(t, func(r fakemodel.Request) fakemodel.Reply {
		said := strings.Join(r.User, "\n")
		switch {
		case !strings.Contains(said, toldSo) || len(r.Tools) == 0:
			return fakemodel.Reply{Text: "ok"}
		case strings.Contains(said, more): // told in its turn, it still works
			<-goOn
			return fakemodel.Reply{Text: moreV}
		case !r.Result:
			return writesWhite(r)
		}
		works <- struct{}{}
		<-goOn
		return fakemodel.Reply{Text: verdict}
	})
	t.Cleanup(func() { // before the model is closed, which waits for its last answer
		select {
		case <-goOn:
		default:
			close(goOn)
		}
	})
	command, variables := s.whatItNeeds()
	s.delegates(name, command, append(variables, "SIGNET_E2E"))
	id := strings.TrimSpace(s.ran(s.proxy, "delegate", "--to", name, "--mode", "edit", "--scope", "heron.txt", "--keep",
		"the release", "--detach", "Look after the heron feathers in heron.txt."))
	watched, err := os.Create(filepath.Join(t.TempDir(), "watched"))
	if err != nil {
		t.Fatal(err)
	}
	watch := s.Command(t.Context(), nil, s.proxy, "delegations", "watch")
	watch.Stdout = watched
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() { _ = watch.Process.Kill(); _ = watch.Wait() }
	defer stop()
	select {
	case <-works:
	case <-time.After(2 * time.Minute):
		t.Fatalf("it does not work:\n%s", s.ran(s.proxy, "delegations", "show", id))
	}
	s.ran(s.proxy, "delegations", "tell", id, more)
	isSteered := slices.Contains(steered, name)
	if isSteered {
		s.until("it is told in its turn", func() bool { return strings.Contains(s.logOf(id), more) })
	}
	s.until("it is watched", func() bool {
		text, err := os.ReadFile(watched.Name())
		return err == nil && strings.Contains(string(text), id) && strings.Contains(string(text), "tool call")
	})
	switch victim {
	case "watch":
		stop()
	case "child":
		s.killEach(func(p string) bool { return strings.Contains(p, s.start[0]) && !strings.Contains(p, s.proxy) })
	case "runner":
		s.killEach(func(p string) bool { return strings.Contains(p, "delegate --run") })
	}
	close(goOn)
	s.until("its end", func() bool { return s.rowOf(id).Ended != nil })
	stop()
	d := s.rowOf(id)
	want := map[string]string{"child": "failed", "runner": "lost"}[victim]
	if want == "" {
		want = "done"
	}
	told := strings.Contains(d.Answer, moreV) || want != "done"
	s.check("a child is told more, "+victim, d.State == want && told, "%+v", d)
	if want != "done" {
		s.alone()
		return
	}
	said := ""
	check := func(words ...string) (code int) {
		r, err := s.Run(t.Context(), nil, slices.Concat([]string{s.proxy, "delegations"}, words)...)
		if err != nil {
			t.Fatal(err)
		}
		said += r.Stderr
		return r.Code
	}
	if victim == "check" {
		const sleeps = "sleep 307"
		long := s.Command(t.Context(), nil, s.proxy, "delegations", "check", id, "--", "touch spoilt; exec "+sleeps)
		if err := long.Start(); err != nil {
			t.Fatal(err)
		}
		s.until("the check", func() bool { return runs(sleeps) })
		_ = long.Process.Kill()
		_ = long.Wait()
		s.until("the end of the check", func() bool { return !runs(sleeps) })
	}
	codes := []int{check("check", id, "--", "false"), check("apply", id, "--checked"),
		check("check", id, "--", "test -f white.txt -a ! -e spoilt"), check("apply", id, "--checked")}
	text, _ := os.ReadFile(filepath.Join(s.Work, "white.txt"))
	_, spoilt := os.Stat(filepath.Join(s.Work, "spoilt"))
	s.check("its work is checked, "+victim, fmt.Sprint(codes) == "[1 1 0 0]" && string(text) == "white\n" && os.IsNotExist(spoilt),
		"exits %v, the project has %q, spoilt: %v\n%s%+v", codes, text, spoilt, said, d)
	s.alone()
}

// writesWhite has a child write white.txt by a tool for that or its shell: claude's own model judges what its shell runs.
func writesWhite(r fakemodel.Request) fakemodel.Reply {
	const command = "printf 'white\\n' > white.txt"
	has := func(tool string) bool { return slices.Contains(r.Tools, tool) }
	arguments := map[string]any{"command": command, "cmd": command, "description": "Write it"}
	switch {
	case has("Write"):
		file := filepath.Join(folder.FindString(string(r.Body)), "white.txt")
		return fakemodel.Reply{Tool: "Write", Args: map[string]any{"file_path": file, "content": "white\n"}}
	case has("exec_command"):
		return fakemodel.Reply{Tool: "exec_command", Args: arguments}
	case has("shell"):
		arguments["command"] = []string{"bash", "-lc", command}
		return fakemodel.Reply{Tool: "shell", Args: arguments}
	}
	return fakemodel.Reply{Tool: "bash", Args: arguments}
}

// delegates makes the project a repository and has an agent asked by a command.
func (s stage) delegates(agent string, command, variables []string) {
	s.t.Helper()
	config, err := json.Marshal(map[string]any{"acp": map[string]any{"delegation": "on", "memory": "embedded",
		"delegation_allow": []string{"execute"},
		"agents":           map[string]any{agent: map[string]any{"command": command, "env": variables}}}})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.Work, ".git")); err != nil {
		s.t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(s.Signet, "agent.yaml"): string(config),
		filepath.Join(s.Work, "heron.txt"): "grey\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.ran("git", "init", "-q")
	s.ran("git", "add", "-A")
	s.ran("git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "one")
}

type delegated struct {
	ID, Agent, State, Reason, Session, Branch, Folder, Answer string
	Refused, Paths                                            []string
	Started                                                   time.Time
	Ended                                                     *time.Time
}

// rows are all delegations, the newest first.
func (s stage) rows() (rows []delegated) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.ran(s.proxy, "delegations", "--json")), &rows); err != nil {
		s.t.Fatal(err)
	}
	return rows
}

func (s stage) rowOf(id string) delegated {
	s.t.Helper()
	rows := s.rows()
	return rows[slices.IndexFunc(rows, func(d delegated) bool { return d.ID == id })]
}

// logOf is what was said in a delegation so far.
func (s stage) logOf(id string) string {
	r, err := s.Run(s.t.Context(), nil, s.proxy, "delegations", "log", id)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.Stdout
}

// until waits for something.
func (s stage) until(what string, there func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !there(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// runs reports whether a process with this command line runs anywhere: one in bounds has nothing of our environment.
func runs(command string) bool {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(all, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.TrimRight(strings.ReplaceAll(string(text), "\x00", " "), " ") == command
	})
}

// killEach kills them.
func (s stage) killEach(is func(command string) bool) {
	s.t.Helper()
	all, err := s.Processes()
	if err != nil {
		s.t.Fatal(err)
	}
	n := 0
	for _, p := range all {
		if process, err := os.FindProcess(p.ID); err == nil && is(p.Command) && process.Kill() == nil {
			n++
		}
	}
	if n == 0 {
		s.t.Errorf("none of %v was killed", all)
	}
}
