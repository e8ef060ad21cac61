package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A delegated is a row of delegations --json.
type delegated struct {
	ID, Agent, State, Mode, Kind, Task, Session, Parent, Stop, Reason, Branch, Folder, Answer, Next string
	Depth                                                                                           int
	Scope, Kept, Paths, Refused                                                                     []string
	Ended                                                                                           *time.Time
	Usage                                                                                           struct{ Turns int }
}

// delegating is a box in which agents may ask one another, each by a name and with variables for echoagent.
func delegating(t *testing.T, agents map[string][]string) *box {
	t.Helper()
	b := newBox(t)
	var config strings.Builder
	config.WriteString("acp:\n  delegation: on\n  memory: embedded\n  agents:\n")
	for name, variables := range agents {
		command, err := json.Marshal(slices.Concat([]string{"env"}, variables, []string{echoBin, "-name", name}))
		must(b, err)
		fmt.Fprintf(&config, "    %s:\n      command: %s\n", name, command)
	}
	must(b, os.WriteFile(filepath.Join(b.Signet, "agent.yaml"), []byte(config.String()), 0o600))
	must(b, os.RemoveAll(filepath.Join(b.Work, ".git")))
	must(b, os.WriteFile(filepath.Join(b.Work, "heron.txt"), []byte("grey\n"), 0o600))
	b.run("git", "init", "-q")
	b.run("git", "add", "-A")
	b.run("git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "one")
	return b
}

func (b *box) delegations() []delegated {
	b.t.Helper()
	var all []delegated
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "delegations", "--json")), &all))
	return all
}

// ask is a delegate command that asks an agent for something.
func ask(agent string, more ...string) []string {
	return slices.Concat([]string{proxyBin, "delegate", "--to", agent, "--scope", "heron.txt", "--keep",
		"the release"}, more)
}

// orphans waits until nothing of a delegation runs, for at most as long as a promise says.
func (b *box) orphans(limit time.Duration) {
	b.t.Helper()
	var left []string
	for deadline := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		all, err := b.Processes()
		must(b, err)
		left = nil
		for _, p := range all {
			if strings.Contains(p.Command, "echoagent") || strings.Contains(p.Command, "--run") ||
				strings.Contains(p.Command, "--agent") {
				left = append(left, p.String())
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			break
		}
	}
	if len(left) > 0 {
		b.t.Errorf("after %v there are still:\n%s", limit, strings.Join(left, "\n"))
	}
}

func TestDelegateReads(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": {"ECHOAGENT_WRITE=written.txt"}})
	r := b.try(ask("heron", "Review heron.txt.")...)
	if r.Code != 0 || !strings.Contains(r.Stdout, "> Review heron.txt.") ||
		!strings.Contains(r.Stdout, "> - the release") || !strings.Contains(r.Stdout, "I was given 2 block(s)") ||
		!strings.Contains(r.Stderr, "thrown away: written.txt") {
		t.Errorf("exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	b.orphans(patience)
	all := b.delegations()
	if len(all) != 1 || all[0].State != "done" || all[0].Kind != "review" || all[0].Depth != 1 || all[0].Ended == nil {
		t.Fatalf("%+v", all)
	}
	if diff := cmp.Diff([]string{"written.txt"}, all[0].Paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	work, err := filepath.EvalSymlinks(b.Work)
	must(b, err)
	if diff := cmp.Diff([][]string{{all[0].Session, work, "done"}},
		b.query(`SELECT acp_id, project, state FROM sessions`)); diff != "" {
		t.Errorf("the child's session (-want +got):\n%s", diff)
	}
	if got := b.query(`SELECT project, source FROM memories WHERE source = 'delegation'`); len(got) != 1 ||
		got[0][0] != work {
		t.Errorf("the caller remembers %q", got)
	}
	if _, err := os.Stat(filepath.Join(b.Work, "written.txt")); err == nil {
		t.Error("the caller's folder was written to")
	}
	again := b.try(ask("heron", "Review heron.txt.")...)
	if again.Code != 0 || again.Stdout != r.Stdout || !strings.Contains(again.Stderr, "asked before") {
		t.Errorf("again: exit %d\n%s%s", again.Code, again.Stdout, again.Stderr)
	}
	if n := len(b.requests("session/prompt")); n != 1 {
		t.Errorf("%d prompts", n)
	}
}

func TestDelegateEdits(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": {"ECHOAGENT_WRITE=heron.txt"}})
	r := b.try(ask("heron", "--mode", "edit", "Make it white.")...)
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	d := b.delegations()[0]
	if d.Branch == "" || len(d.Paths) != 1 || !strings.Contains(r.Stderr, d.Branch) {
		t.Errorf("%+v\n%s", d, r.Stderr)
	}
	if got := b.run("git", "show", d.Branch+":heron.txt"); !strings.Contains(got, "Make it white.") {
		t.Errorf("the branch has %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(b.Work, "heron.txt")); string(text) != "grey\n" {
		t.Errorf("the caller's file: %q, %v", text, err)
	}
	b.orphans(patience)
}

// What is refused makes no row, and says what to write.
func TestDelegateRefused(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": nil})
	for _, tt := range []struct {
		command []string
		want    string
	}{
		{[]string{"--to", "heron", "--scope", "heron.txt", "--keep", "heron.txt", "T."}, "kept_work names nothing"},
		{[]string{"--to", "heron", "--scope", "", "--keep", "x", "T."}, "delegated_scope says nothing"},
		{[]string{"--to", "heron", "--scope", "parser", "T."}, "kept_work says nothing"},
		{[]string{"--to", "heron", "--scope", "parser", "--keep", "lexer"}, "task is empty"},
		{[]string{"--to", "heron", "--scope", "parser", "--keep", "lexer", "--mode", "write", "T."}, "mode is read or edit"},
		{[]string{"--to", "egret", "--scope", "parser", "--keep", "lexer", "T."}, `no agent is known as "egret"`},
		{[]string{"--to", "copilot", "--scope", "parser", "--keep", "lexer", "T."}, "npm install -g @github/copilot"},
	} {
		r := b.try(slices.Concat([]string{proxyBin, "delegate"}, tt.command)...)
		if r.Code != 1 || !strings.Contains(r.Stderr, tt.want) || r.Stdout != "" {
			t.Errorf("%q: exit %d, %s", tt.command, r.Code, r.Stderr)
		}
	}
	if all := b.delegations(); len(all) != 0 {
		t.Errorf("rows: %+v", all)
	}
	b.set("SIGNET_ACP_DELEGATION=01M80NBSRTFAV0S21ENPW2PM13")
	if r := b.try(ask("heron", "T.")...); r.Code != 1 ||
		!strings.Contains(r.Stderr, "the delegation that you work for") {
		t.Errorf("inside one that is not there: %s%s", r.Stdout, r.Stderr)
	}
}

// Agents that fail in every way that there is: the row says what is true, and nothing stays behind.
func TestDelegateFaults(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{
		"silent":   {"ECHOAGENT_HANG=initialize"},
		"stubborn": {"ECHOAGENT_HANG=session/prompt"},
		"stranger": {"ECHOAGENT_LOGIN=1"},
		"junk":     {"ECHOAGENT_JUNK=1"},
		"flood":    {"ECHOAGENT_FLOOD=20000", "ECHOAGENT_TERSE=1"},
		"mortal":   {"ECHOAGENT_DIE=1"},
		"murderer": {"ECHOAGENT_KILL=1"},
		"failing":  {"ECHOAGENT_FAIL=1:-32603"},
		"busy":     {"ECHOAGENT_STEPS=50", "ECHOAGENT_SLOW=20ms"},
		"asking":   {"ECHOAGENT_ASK=1"},
	})
	for _, tt := range []struct {
		agent, state, reason string
		more                 []string
	}{
		{"silent", "stopped", "budget of 2 seconds", []string{"--timeout", "2s"}},
		{"stubborn", "stopped", "budget of 2 seconds", []string{"--timeout", "2s"}},
		{"stranger", "failed", "log stranger in first", nil},
		{"junk", "done", "", nil},
		{"flood", "done", "", nil},
		{"mortal", "failed", "the agent ended", nil},
		{"murderer", "failed", "the agent ended", nil},
		{"failing", "failed", "told to fail", nil},
		{"asking", "done", "", nil},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			r := b.try(ask(tt.agent, append(tt.more, "Do it.")...)...)
			d := b.delegations()[0]
			if d.Agent != tt.agent || d.State != tt.state || !strings.Contains(d.Reason, tt.reason) || (r.Code == 0) !=
				(tt.state == "done") {
				t.Errorf("exit %d, %+v\n%s", r.Code, d, r.Stderr)
			}
			switch tt.agent {
			case "asking":
				if len(d.Refused) != 1 || !strings.HasPrefix(d.Refused[0], "Write a file: ") {
					t.Errorf("refused: %q", d.Refused)
				}
			case "flood":
				if len(d.Answer) > 100<<10 || !strings.Contains(d.Answer, "word 0 ") {
					t.Errorf("an answer of %d bytes", len(d.Answer))
				}
			}
			b.orphans(patience)
		})
	}
	var agents []struct{ ID, Status string }
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "agents", "--json")), &agents))
	if i := slices.IndexFunc(agents, func(a struct{ ID, Status string }) bool { return a.ID == "flood" }); i < 0 ||
		agents[i].Status != "available" {
		t.Errorf("agents: %+v", agents)
	}
}

// Several with one key at once are one.
func TestDelegateOnce(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": {"ECHOAGENT_SLOW=200ms"}})
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if r := b.try(ask("heron", "--key", "one", "Once.")...); r.Code != 0 ||
				!strings.Contains(r.Stdout, "> Once.") {
				t.Errorf("exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
	all.Wait()
	if n := len(b.requests("session/prompt")); n != 1 || len(b.delegations()) != 1 {
		t.Errorf("%d prompts, %d rows", n, len(b.delegations()))
	}
	b.orphans(patience)
}

// Who waits may be ended in any way: what it asked ends within two seconds, unless it was to go on.
func TestDelegateCallerEnds(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			b := delegating(t, map[string][]string{"stubborn": {"ECHOAGENT_HANG=session/prompt"}})
			cmd := b.Command(t.Context(), nil, ask("stubborn", "Never end.")...)
			must(b, cmd.Start())
			b.wait("the prompt", func() bool { return len(b.requests("session/prompt")) == 1 })
			must(b, cmd.Process.Signal(signal))
			began := time.Now()
			_ = cmd.Wait()
			b.orphans(patience)
			t.Logf("all gone after %v", time.Since(began).Round(time.Millisecond))
			if d := b.delegations()[0]; d.State != "cancelled" {
				t.Errorf("%+v", d)
			}
		})
	}
	t.Run("detached", func(t *testing.T) {
		t.Parallel()
		b := delegating(t, map[string][]string{"heron": {"ECHOAGENT_SLOW=500ms"}})
		id := strings.TrimSpace(b.run(ask("heron", "--detach", "Go on.")...))
		b.wait("the end", func() bool { return b.delegations()[0].State == "done" })
		if d := b.delegations()[0]; d.ID != id || !strings.Contains(d.Answer, "> Go on.") {
			t.Errorf("%+v", d)
		}
		b.orphans(patience)
	})
}

// A runner that is killed leaves a row that says so, and no child.
func TestDelegateRunnerKilled(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"stubborn": {"ECHOAGENT_HANG=session/prompt"}})
	b.run(ask("stubborn", "--detach", "Never end.")...)
	b.wait("the prompt", func() bool { return len(b.requests("session/prompt")) == 1 })
	b.killAll(t, "--run")
	b.orphans(patience)
	if d := b.delegations()[0]; d.State != "lost" {
		t.Errorf("%+v", d)
	}
}

// killAll kills what runs with a word in its command line.
func (b *box) killAll(t *testing.T, word string) {
	t.Helper()
	all, err := b.Processes()
	must(b, err)
	for _, p := range all {
		if strings.Contains(p.Command, word) {
			_ = kill(p.ID) // it may have ended
		}
	}
}

// A chain of agents that always ask the next one ends by itself: at its depth, and before that by its scope.
func TestDelegateChain(t *testing.T) {
	t.Parallel()
	call, err := json.Marshal([]string{proxyBin, "delegate", "--scope", "heron.txt wings", "--keep", "the beak", "--to",
		"heron", "Hand it on."})
	if err != nil {
		t.Fatal(err)
	}
	variables := []string{"ECHOAGENT_CALL=" + string(call), "ECHOAGENT_CALL_AGAIN=1"}
	b := delegating(t, map[string][]string{"heron": variables})
	b.try(proxyBin, "delegate", "--to", "heron", "--scope", "heron.txt wings and the beak", "--keep", "the release",
		"Begin.")
	b.orphans(patience)
	all := b.delegations()
	if len(all) != 2 || all[0].Depth != 2 || all[1].Depth != 1 || all[0].Parent != all[1].ID {
		t.Errorf("%d rows: %+v", len(all), all)
	}
	if n := len(b.requests("session/prompt")); n != 2 {
		t.Errorf("%d prompts: %+v", n, all)
	}
}

// Tools are offered where they are switched on, and nowhere else; who is at the end of a chain has none.
func TestDelegationTools(t *testing.T) {
	t.Parallel()
	names := func(session *mcp.ClientSession) (names []string) {
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	offered := []string{"agents_list", "delegate", "delegation_cancel", "delegation_feedback", "delegation_status",
		"delegation_wait"}
	for _, tt := range []struct {
		name string
		set  []string
		want bool
	}{
		{"on", nil, true}, {"off", []string{"SIGNET_ACP_DELEGATION_ALLOW=execute"}, false},
		{"depth 1", []string{"SIGNET_ACP_DELEGATION=01M80NBSRTFAV0S21ENPW2PM13", "SIGNET_ACP_DELEGATION_DEPTH=1"}, true},
		{"depth 2", []string{"SIGNET_ACP_DELEGATION=01M80NBSRTFAV0S21ENPW2PM13", "SIGNET_ACP_DELEGATION_DEPTH=2"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := delegating(t, map[string][]string{"heron": nil})
			if tt.name == "off" {
				must(b, os.WriteFile(filepath.Join(b.Signet, "agent.yaml"),
					[]byte("acp:\n  memory: embedded\n"), 0o600))
			}
			b.set(tt.set...)
			s := b.openTools("scripted")
			e := s.entries[0]
			got := names(b.startTools(append([]string{e.Command}, e.Args...)...))
			for _, name := range offered {
				if slices.Contains(got, name) != tt.want {
					t.Errorf("%s: %v", name, got)
				}
			}
		})
	}
}

// An agent asks another through its tool: the result comes back, and both sessions are in the record, one as the
// other's child.
func TestDelegateByTool(t *testing.T) {
	t.Parallel()
	tool := `{"name":"delegate","arguments":{"agent":"heron","task":"Review heron.txt.","delegated_scope":["heron.txt"],` +
		`"kept_work":"the release","budget":{"turns":5}}}`
	b := delegating(t, map[string][]string{"heron": nil, "egret": {"ECHOAGENT_TOOL=" + tool}})
	reply := b.converseOnce("egret", "Ask the heron.")
	if !strings.Contains(reply, `\"state\":\"done\"`) || !strings.Contains(reply, `Review heron.txt.`) {
		t.Errorf("the reply:\n%s", reply)
	}
	b.orphans(patience)
	var rows []struct{ Harness, ACPXSessionID, Parent string }
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "sessions", "--json")), &rows))
	of := map[string]int{}
	for i, r := range rows {
		of[r.Harness] = i
	}
	if len(rows) != 2 || rows[of["heron"]].Parent != rows[of["egret"]].ACPXSessionID || rows[of["egret"]].Parent != "" {
		t.Errorf("sessions: %+v", rows)
	}
	if got := b.query(`SELECT m.content FROM memories m JOIN sessions s ON s.key = m.key WHERE m.source = 'delegation'
		AND s.harness = 'egret'`); len(got) != 1 || !strings.Contains(got[0][0], "heron was asked") {
		t.Errorf("egret remembers %q", got)
	}
	if list := b.run(proxyBin, "sessions"); !strings.Contains(list, "└ Review heron.txt.") {
		t.Errorf("the list shows no tree:\n%s", list)
	}
	asker, worker := rows[of["egret"]].ACPXSessionID, rows[of["heron"]].ACPXSessionID
	var shown struct {
		Delegation  *delegated
		Delegations []delegated
	}
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "show", asker, "--json")), &shown))
	if shown.Delegation != nil || len(shown.Delegations) != 1 || shown.Delegations[0].Session != worker {
		t.Fatalf("show of who asked: %+v", shown)
	}
	id := shown.Delegations[0].ID
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "show", worker, "--json")), &shown))
	if shown.Delegation == nil || shown.Delegation.ID != id || len(shown.Delegations) != 0 {
		t.Errorf("show of who was asked: %+v", shown)
	}
	if text := b.run(proxyBin, "show", id); !strings.Contains(text, "heron, read, review") ||
		!strings.Contains(text, "I was given 2 block(s)") {
		t.Errorf("show of the delegation:\n%s", text)
	}
	var states []string
	for line := range strings.Lines(b.run(proxyBin, "events", asker, "--json")) {
		var e struct{ Kind, Delegation, State string }
		must(b, json.Unmarshal([]byte(line), &e))
		if e.Delegation == id && (len(states) == 0 || states[len(states)-1] != e.State) {
			states = append(states, e.State)
		}
	}
	if diff := cmp.Diff([]string{"queued", "running", "done"}, states); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	b.run(proxyBin, "forget", asker, "--yes")
	if got := b.query(`SELECT task || answer FROM delegations UNION ALL SELECT content FROM memories
		WHERE source = 'delegation'`); len(got) != 1 || got[0][0] != "" {
		t.Errorf("after who asked was forgotten: %q", got)
	}
}

// converseOnce has one turn with an agent and gives all that it says.
func (b *box) converseOnce(agent, words string) string {
	b.t.Helper()
	_, reply := b.turnWith(agent, "", words)
	return reply
}

// turnWith has one turn with an agent, in a session that is loaded, or "" in a new one, and gives its id and all that
// the agent says then.
func (b *box) turnWith(agent, session, words string) (id, reply string) {
	b.t.Helper()
	cmd := b.Command(b.t.Context(), nil, proxyBin, "--agent", agent)
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	read := newLines(out)
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`+"\n")
	read.until(b, `"id":0`)
	if session == "" {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+
			"\n", b.Work)
		_, session, _ = strings.Cut(read.until(b, `"id":1`), `"sessionId":"`)
		session, _, _ = strings.Cut(session, `"`)
	} else {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":%q,"cwd":%q,`+
			`"mcpServers":[]}}`+"\n", session, b.Work)
		read.until(b, `"id":1`)
	}
	fmt.Fprintf(in,
		`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text",`+
			`"text":%q}]}}`+"\n", session, words)
	return session, read.until(b, `"id":2`)
}

// lines are what an agent says.
type lines struct{ read *bufio.Reader }

func newLines(r io.Reader) lines { return lines{bufio.NewReaderSize(r, 1<<20)} }

// until reads to the line that has text, and gives all up to there.
func (l lines) until(b *box, text string) string {
	b.t.Helper()
	var all strings.Builder
	for {
		line, err := l.read.ReadString('\n')
		all.WriteString(line)
		if err != nil {
			b.t.Fatalf("waiting for %s: %v\n%s", text, err, all.String())
		}
		if strings.Contains(line, text) {
			return all.String()
		}
	}
}
