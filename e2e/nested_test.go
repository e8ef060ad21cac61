package e2e

import (
	"encoding/json"
	"fmt"
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

// An agent that an agent calls gets nothing and leaves nothing, unless a person wants it to: then the inner session is a
// child of the outer one that is in a turn, here and at the daemon.
func TestNested(t *testing.T) {
	t.Parallel()
	a := calling(t)
	d := a.withDaemon(daemontest.Newer)
	called := func(blocks int) {
		t.Helper()
		reply := a.say("exec", "Outer words.")
		a.alone()
		if want := fmt.Sprintf("I called an agent, which said:\nI was given %d block(s).", blocks); !strings.Contains(reply, want) {
			t.Errorf("no %q in the reply:\n%s", want, reply)
		}
	}
	called(1)
	if diff := cmp.Diff([][]string{{"echoagent", "Outer words."}},
		a.query(`SELECT s.harness, t.user FROM turns t JOIN sessions s ON s.id = t.session`)); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	a.set("SIGNET_ACP_NESTED=inject")
	called(2)
	keys := a.query(`SELECT key FROM sessions ORDER BY id`)
	if len(keys) != 3 {
		t.Fatalf("sessions: %q", keys)
	}
	outer, inner := keys[1][0], keys[2][0]
	want := [][]string{{"echoagent", ""}, {"echoagent", ""}, {"inneragent", outer}}
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
	if diff := cmp.Diff(map[string]string{keys[0][0]: "", outer: "", inner: outer}, told); diff != "" {
		t.Errorf("the daemon was told of parents (-want +got):\n%s", diff)
	}
}
