package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// calling is a box in which each turn of the agent "signet-echo" calls another agent, through acpx and another proxy.
func calling(t *testing.T) *acpxBox {
	t.Helper()
	a := newAcpx(t, acpxVersions["0.19.1"])
	a.register("inner", echoBin, "-name", "inneragent")
	call, err := json.Marshal(slices.Concat(a.acpx,
		[]string{"--format", "quiet", "signet-inner", "exec", "Inner words."}))
	must(a.box, err)
	a.set("ECHOAGENT_CALL=" + string(call))
	return a
}

// An agent that an agent calls gets nothing and leaves nothing, unless a person wants it to.
func TestNestedOff(t *testing.T) {
	t.Parallel()
	a := calling(t)
	reply := a.say("exec", "Outer words.")
	a.alone()
	if !strings.Contains(reply, "I called an agent, which said:\nI was given 1 block(s).") {
		t.Errorf("the reply:\n%s", reply)
	}
	if diff := cmp.Diff([][]string{{"echoagent", "Outer words."}},
		a.query(`SELECT s.harness, t.user FROM turns t JOIN sessions s ON s.id = t.session`)); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}

// Memory for such agents: the inner session is a child of the outer one that is in a turn, here and at the daemon.
func TestNestedInject(t *testing.T) {
	t.Parallel()
	a := calling(t)
	d := a.withDaemon(daemontest.Newer)
	a.set("SIGNET_ACP_NESTED=inject")
	reply := a.say("exec", "Outer words.")
	a.alone()
	if !strings.Contains(reply, "I called an agent, which said:\nI was given 2 block(s).") {
		t.Errorf("the reply:\n%s", reply)
	}
	keys := map[string]string{}
	for _, row := range a.query(`SELECT harness, key FROM sessions`) {
		keys[row[0]] = row[1]
	}
	want := [][]string{{"echoagent", ""}, {"inneragent", keys["echoagent"]}}
	if diff := cmp.Diff(want, a.query(`SELECT harness, parent_key FROM sessions ORDER BY id`)); diff != "" {
		t.Errorf("parents (-want +got):\n%s", diff)
	}
	told := map[string]string{}
	for _, r := range d.Requests() {
		var body struct{ SessionKey, ParentSessionKey string }
		if strings.HasSuffix(r.Path, "/session-start") && json.Unmarshal(r.Body, &body) == nil {
			told[body.SessionKey] = body.ParentSessionKey
		}
	}
	if diff := cmp.Diff(map[string]string{keys["echoagent"]: "",
		keys["inneragent"]: keys["echoagent"]}, told); diff != "" {
		t.Errorf("the daemon was told of parents (-want +got):\n%s", diff)
	}
}

// Signet drives harnesses through acpx itself. What it says then is none of its memories: we are a byte pump that
// leaves no file.
func TestSignetInference(t *testing.T) {
	t.Parallel()
	eachAcpx(t, func(t *testing.T, a *acpxBox) {
		d := a.withDaemon(daemontest.Newer)
		file := filepath.Join(a.Dir, "prompt")
		must(a.box, os.WriteFile(file, []byte("Distil this."), 0o600))
		a.set("SIGNET_NO_HOOKS=1", "SIGNET_ACP_NESTED=inject")
		reply := a.say("exec", "--file", file)
		if !strings.Contains(reply, "I was given 1 block(s).") || !strings.Contains(reply, "> Distil this.") {
			t.Errorf("the reply:\n%s", reply)
		}
		a.alone()
		if _, err := os.Stat(filepath.Join(a.Signet, "acp")); !os.IsNotExist(err) {
			t.Errorf("a folder of ours was made (%v)", err)
		}
		if n := len(d.Requests()); n != 0 {
			t.Errorf("%d requests to the daemon", n)
		}
	})
}

// Signet's scheduler has a named session for each task. It goes on from run to run, under one Signet key.
func TestScheduler(t *testing.T) {
	t.Parallel()
	eachAcpx(t, func(t *testing.T, a *acpxBox) {
		a.set("ECHOAGENT_TERSE=1")
		run := func(task, words string) {
			t.Helper()
			command := slices.Concat(a.acpx, []string{"--format", "quiet", "--ttl", "1", "signet-echo"})
			a.run(append(slices.Clone(command), "sessions", "ensure", "--name", task)...)
			a.run(append(slices.Clone(command), "-s", task, words)...)
			a.alone()
		}
		run("task-7", "Count the boats.")
		run("task-8", "Count the gulls.")
		run("task-7", "Count them again.")
		want := [][]string{{"1", "Count the boats."}, {"2", "Count the gulls."}, {"1", "Count them again."}}
		got := a.query(`SELECT dense_rank() OVER (ORDER BY s.id), t.user FROM turns t JOIN sessions s ON s.id =
			t.session
			ORDER BY t.id`)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("turns by session (-want +got):\n%s", diff)
		}
		keys := a.query(`SELECT count(DISTINCT t.key), count(DISTINCT s.record), (SELECT count(*) FROM sessions)
			FROM turns t
			JOIN sessions s ON s.id = t.session`)
		if diff := cmp.Diff([][]string{{"2", "2", "2"}}, keys); diff != "" {
			t.Errorf("keys, records, sessions (-want +got):\n%s", diff)
		}
		for _, row := range a.query(`SELECT DISTINCT acp_id FROM sessions`) {
			if n := a.received(row[0]).contexts(); n != 1 {
				t.Errorf("%d contexts in %s", n, row[0])
			}
		}
	})
}
