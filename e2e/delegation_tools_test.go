package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An agent asks another through its tool: the result comes back, and both sessions are in the record, one as the
// other's child. What the other may not do is put to the client of who asked, as a question of that session.
func TestDelegateByTool(t *testing.T) {
	t.Parallel()
	tool := `{"name":"delegate","arguments":{"agent":"heron","task":"Review heron.txt.","delegated_scope":["heron.txt"],` +
		`"kept_work":"the release","budget":{"turns":5}}}`
	b := delegating(t, map[string][]string{"heron": {"ECHOAGENT_ASK=1"}, "egret": {"ECHOAGENT_TOOL=" + tool}})
	b.set("SIGNET_ACP_DELEGATION_ASK=on")
	_, reply := b.turnWith("egret", "", "Ask the heron.")
	for _, want := range []string{`\"state\":\"done\"`, `Review heron.txt.`, `\"refused\":[]`, `"id":"signet-acp-proxy/`,
		`"title":"heron, your delegated agent, asks: Write a file"`} {
		if !strings.Contains(reply, want) {
			t.Errorf("no %s in the reply:\n%s", want, reply)
		}
	}
	b.orphans()
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
	if text := b.run(proxyBin, "show", id); !strings.Contains(text, "heron, read") ||
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
	if got := b.query(`SELECT concat(request ->> '$.task', result ->> '$.answer') FROM delegations UNION ALL SELECT content FROM memories
		WHERE source = 'delegation'`); len(got) != 1 || got[0][0] != "" {
		t.Errorf("after who asked was forgotten: %q", got)
	}
}
