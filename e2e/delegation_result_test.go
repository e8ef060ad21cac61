package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// A client that asks to be told hears how far a delegation has come; one that gives the call up and asks again gets
// what came of it, once.
func TestDelegateProgress(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"busy": {"ECHOAGENT_STEPS=4", "ECHOAGENT_SLOW=700ms"}})
	e := b.openTools("scripted").entries[0]
	var mu sync.Mutex
	var heard []*mcp.ProgressNotificationParams
	session := b.speakAs(b.toolsCommand(append([]string{e.Command}, e.Args...)...), &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, r.Params)
		}})
	asked := func(task string) *mcp.CallToolParams {
		return &mcp.CallToolParams{Name: "delegate", Arguments: map[string]any{"agent": "busy", "task": task,
			"delegated_scope": "heron.txt", "kept_work": "the release"}}
	}
	result := func(p *mcp.CallToolParams) (d delegated) {
		t.Helper()
		r, err := session.CallTool(t.Context(), p)
		if err != nil || r.IsError {
			t.Fatalf("%v %+v", err, r)
		}
		must(b, json.Unmarshal([]byte(r.Content[0].(*mcp.TextContent).Text), &d))
		return d
	}
	p := asked("Tell me.")
	p.SetProgressToken("token")
	if d := result(p); d.State != "done" {
		t.Fatalf("%+v", d)
	}
	b.wait("what it tells", func() bool { mu.Lock(); defer mu.Unlock(); return len(heard) > 1 })
	mu.Lock()
	for i, n := range heard {
		if n.ProgressToken != "token" || i > 0 && n.Progress <= heard[i-1].Progress ||
			!strings.HasPrefix(n.Message, "busy: ") {
			t.Errorf("%+v", n)
		}
	}
	if last := heard[len(heard)-1]; !strings.Contains(last.Message, "tool calls, the last: ") {
		t.Errorf("the last of %d is %+v", len(heard), last)
	}
	heard = nil
	mu.Unlock()

	letGo := b.holdPrompts()
	impatient, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		b.wait("the prompt", func() bool { return len(b.requests("session/prompt")) == 2 })
	}()
	if r, err := session.CallTool(impatient, asked("Give up.")); err == nil {
		t.Fatalf("it did not wait: %+v", r)
	}
	id := b.delegations()[0].ID
	result(&mcp.CallToolParams{Name: "delegation_tell", Arguments: map[string]any{"id": id, "text": "And the grebe."}})
	letGo()
	if d := result(asked("Give up.")); d.State != "done" || !strings.Contains(d.Answer, "> Give up.") ||
		!strings.Contains(d.Answer, "> And the grebe.") {
		t.Errorf("%+v", d)
	}
	if r := b.try(proxyBin, "delegations", "tell", id, "Late."); r.Code != 1 || !strings.Contains(r.Stderr, "has ended") {
		t.Errorf("told after its end: exit %d, %s", r.Code, r.Stderr)
	}
	if log := b.run(proxyBin, "delegations", "log", id); !strings.Contains(log, "And the grebe.\n") ||
		strings.Count(log, "delegated to you by") != 2 { // as the agent repeats its prompts
		t.Errorf("its log:\n%s", log)
	}
	if n := len(b.requests("session/prompt")); n != 3 {
		t.Errorf("%d prompts", n)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(heard) > 0 {
		t.Errorf("nobody asked to be told: %+v", heard)
	}
}

// What an agent leaves for another is told to that one's next session, once.
func TestAgentMessages(t *testing.T) {
	t.Parallel()
	message := `{"name":"agent_message_send","arguments":{"to":"heron","message":"The mast is 11.42 metres."}}`
	b := delegating(t, map[string][]string{"heron": nil, "egret": {"ECHOAGENT_TOOL=" + message},
		"listener": {"ECHOAGENT_TOOL={\"name\":\"agent_message_inbox\"}"}})
	if _, reply := b.turnWith("egret", "", "Tell the heron."); !strings.Contains(reply,
		"saved for the next session of heron") {
		t.Fatalf("the reply:\n%s", reply)
	}
	id, _ := b.turnWith("listener", "", "The keel is of oak.")
	b.run(proxyBin, "handoff", id, "--to", "heron")
	for _, child := range []string{"heron", "listener"} { // what waits for a session of the user's is not theirs
		reply := b.run(ask(child, "Anything new?")...)
		if strings.Contains(reply, "11.42") || strings.Contains(reply, "oak") {
			t.Errorf("the child %s was told:\n%s", child, reply)
		}
	}
	if _, reply := b.turnWith("heron", "", "Anything new?"); !strings.Contains(reply,
		"Message from agent egret: The mast is 11.42 metres.") || !strings.Contains(reply, "The keel is of oak.") {
		t.Errorf("the next session was told:\n%s", reply)
	}
	b.takeIn()
	if _, reply := b.turnWith("heron", "", "And now?"); strings.Contains(reply, "Message from agent") {
		t.Errorf("the one after it was told:\n%s", reply)
	}
}

// detached is the tool call of an agent that has another look at something and does not wait for it.
const detached = `ECHOAGENT_TOOL={"name":"delegate","arguments":{"agent":"heron","task":"Look at the beak.",` +
	`"delegated_scope":"beak","kept_work":"wings","detach":true}}`

// What went on without its caller is told to the conversation that asked, when that is gone on with, once; and an
// agent's new session in the project does not hear of it then.
func TestDelegateDetached(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": nil, "stork": {detached}})
	id, _ := b.turnWith("stork", "", "Have it looked at.")
	b.wait("the end", func() bool { return b.delegations()[0].State == "done" })
	var reply string
	b.wait("the conversation that asked to be told", func() bool { // a later prompt waits 300 ms for that
		_, reply = b.turnWith("stork", id, "What came of it?")
		return strings.Contains(reply, "Message from agent")
	})
	if strings.Count(reply, "Message from agent heron: Delegation ") != 1 || !strings.Contains(reply, "is done") {
		t.Errorf("the conversation that asked was told:\n%s", reply)
	}
	b.takeIn()
	if _, reply := b.turnWith("stork", id, "And now?"); strings.Contains(reply, "Message from agent") {
		t.Errorf("it was told again:\n%s", reply)
	}
	child := b.delegations()[0].Session
	if said := b.run(proxyBin, "log", child); !strings.Contains(said, "stork, which delegated\n  Look at the beak.\n") {
		t.Errorf("the child's log:\n%s", said)
	}
	if got := b.query(`SELECT count(*) FROM passages WHERE who IN ('typed', 'pasted', 'pin') AND content LIKE '%beak%'`); got[0][0] != "0" {
		t.Errorf("the task is the user's word in %s passages", got[0][0])
	}
	asked := b.delegations()[0]
	tree := func() string {
		all := b.delegations() // the other session below asks, too
		return all[slices.IndexFunc(all, func(d delegated) bool { return d.ID == asked.ID })].Tree
	}
	if tree() == "" {
		t.Error("nothing is kept for a follow-up")
	}
	db, err := sql.Open("sqlite3", "file:"+b.database()+"?_busy_timeout=5000")
	must(b, err)
	_, err = db.ExecContext(t.Context(), `UPDATE delegations SET ended = ended - 5 * 3600 * 1000`)
	must(b, errors.Join(err, db.Close()))
	if _, reply := b.turnWith("stork", "", "Anything new?"); strings.Contains(reply, "Message from agent") {
		t.Errorf("another one was told:\n%s", reply)
	}
	b.wait("the end of what was kept for hours", func() bool { return tree() == "" })
	b.orphans()
}

// With a daemon the result is in its inbox as well, and is told once all the same; the daemon has both memories.
func TestDelegateDaemon(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": nil, "stork": {detached}})
	d, err := daemontest.Listen(daemontest.Options{Generation: daemontest.Newer, AgentsDir: b.Signet})
	must(b, err)
	defer d.Close()
	b.set("SIGNET_ACP_MEMORY=auto", "SIGNET_DAEMON_URL="+d.URL())
	id, _ := b.turnWith("stork", "", "Have it looked at.")
	b.wait("the end", func() bool { return b.delegations()[0].State == "done" })
	asked := b.delegations()[0]
	inbox := d.Inbox()
	if len(inbox) != 1 || !strings.HasPrefix(inbox[0], "heron: Delegation "+asked.ID+" is done") {
		t.Fatalf("the daemon's inbox: %q", inbox)
	}
	if all := fmt.Sprint(d.Memories()); !strings.Contains(all, "heron was asked (read, delegation "+asked.ID) {
		t.Errorf("the daemon remembers %s", all)
	}
	child := b.query(`SELECT key FROM sessions WHERE acp_id = ?`, asked.Session)
	b.wait("what the other said, handed over", func() bool { return len(child) == 1 && len(d.Ends(child[0][0])) > 0 })
	// the inbox is read beside the conversation: on a busy machine the next prompt is the one that gets it
	b.wait("the conversation that asked to be told, once", func() bool {
		_, reply := b.turnWith("stork", id, "What came of it?")
		return strings.Count(reply, "Delegation "+asked.ID+" is done") == 1
	})
	if _, reply := b.turnWith("stork", id, "And now?"); strings.Contains(reply, "Message from agent") {
		t.Errorf("it was told again:\n%s", reply)
	}
	b.alone() // what is owed is handed over while the daemon is there
}

// Where it is off the conversation is byte for byte what it is without, and no tool more is offered; where it is on
// the conversation is that as well, and what is offered are the tools of before and those of delegation.
func TestDelegationOff(t *testing.T) {
	t.Parallel()
	converse := func(setting string, set ...string) (frames, tools string) {
		b := newBox(t)
		b.set(set...)
		config := fmt.Sprintf("acp:\n%s  memory: embedded\n  agents:\n    heron:\n      command: [%q, -name, heron]\n",
			setting, echoBin)
		must(b, os.WriteFile(filepath.Join(b.Signet, "agent.yaml"), []byte(config), 0o600))
		id, reply := b.turnWith("heron", "", "Which colour are feathers?")
		frames = blockID.ReplaceAllString(strings.ReplaceAll(strings.ReplaceAll(reply, id, "SESSION"), b.Dir,
			"BOX"), "ID")
		e := b.openTools("scripted").entries[0]
		list, err := b.startTools(append([]string{e.Command}, e.Args...)...).ListTools(t.Context(), nil)
		must(b, err)
		for _, tool := range list.Tools {
			text, err := json.Marshal(tool)
			must(b, err)
			tools += string(text) + "\n"
		}
		return frames, tools
	}
	frames, tools := converse("")
	if !strings.Contains(frames, "I was given 2 block(s)") || !strings.Contains(tools, "memory_search") {
		t.Fatalf("%s\n%s", frames, tools)
	}
	offFrames, offTools := converse("  delegation: off\n")
	if diff := cmp.Diff(frames+tools, offFrames+offTools); diff != "" {
		t.Errorf("off (-without +off):\n%s", diff)
	}
	onFrames, onTools := converse("  delegation: on\n")
	if diff := cmp.Diff(frames, onFrames); diff != "" {
		t.Errorf("on (-without +on):\n%s", diff)
	}
	// a child has what its mode allows, and at the end of a chain it delegates nothing
	const reads, delegates = "memory_files memory_get memory_list memory_search",
		"agents_list delegate delegation_cancel delegation_diff delegation_status delegation_tell delegation_wait "
	for _, child := range []struct{ mode, depth, want string }{
		{"read", "1", delegates + reads}, {"edit", "1", delegates + reads + " memory_store"},
		{"read", "2", reads}, {"edit", "2", reads + " memory_store"}, {"", "2", reads},
	} {
		_, childs := converse("  delegation: on\n", "SIGNET_ACP_DELEGATION_ID=01M80NBSRTFAV0S21ENPW2PM13",
			"SIGNET_ACP_DELEGATION_DEPTH="+child.depth, "SIGNET_ACP_DELEGATION_MODE="+child.mode)
		var names []string
		for line := range strings.Lines(childs) {
			var tool struct{ Name string }
			must(&box{t: t}, json.Unmarshal([]byte(line), &tool))
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != child.want {
			t.Errorf("%q at depth %s: %s", child.mode, child.depth, got)
		}
	}
	kept, added := "", 0
	for line := range strings.Lines(onTools) {
		if strings.Contains(tools, line) {
			kept += line
		} else {
			added++
		}
	}
	if kept != tools || added != 9 {
		t.Errorf("on: %d tools more, and of the others\n%s", added, cmp.Diff(tools, kept))
	}
}

// blockID is that of a block, which hangs on the session.
var blockID = regexp.MustCompile(`[0-9a-f]{12}`)
