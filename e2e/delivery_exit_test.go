package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// talk has a conversation of one prompt with echoagent, up to its end.
func (b *box) talk(text string, flags ...string) {
	b.t.Helper()
	c := b.connect(flags, echoBin)
	c.talk(text)
	c.end()
}

// workers are the processes in the box that deliver.
func (b *box) workers() (workers []sandbox.Process) {
	b.t.Helper()
	found, err := b.Processes()
	must(b, err)
	for _, p := range found {
		if strings.Contains(p.Command, " deliver ") {
			workers = append(workers, p)
		}
	}
	return workers
}

// A harness that says something after the client has gone, once the test lets it; a worker must not be there before it.
const lateHarness = `
say() { printf '%s\n' "$1"; }
read l; say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"late","version":"1"}}}'
read l; say '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"late-session-0123456789"}}'
read l
say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"late-session-0123456789","update":{"sessionUpdate":"compaction_update","compactionId":"c1","status":"in_progress"}}}'
say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"late-session-0123456789","update":{"sessionUpdate":"compaction_summary_chunk","compactionId":"c1","content":{"type":"text","text":"What was said "}}}}'
say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"late-session-0123456789","update":{"sessionUpdate":"compaction_summary_chunk","compactionId":"c1","content":{"type":"text","text":"before."}}}}'
say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"late-session-0123456789","update":{"sessionUpdate":"compaction_update","compactionId":"c1","status":"completed"}}}'
say '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
while read l; do :; done
read l < "$GATE"
say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"late-session-0123456789","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"late words"}}}}'
`

func TestLateWords(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	d := b.withDaemon(daemontest.Older)
	gate := filepath.Join(b.Dir, "gate")
	b.run("mkfifo", gate)
	b.set("GATE=" + gate)
	c := b.connect([]string{"--memory", "daemon"}, "sh", "-c", lateHarness)
	c.talk(words)
	c.hangUp()
	b.wait("what is owed", func() bool { return len(b.query(`SELECT 1 FROM debts WHERE kind = 'daemon'`)) == 1 })
	b.run(proxyBin, "deliver", "--once") // one that did not wait for the proxy
	if ends := d.Ends(); len(ends) != 0 {
		t.Errorf("delivered while the harness was still speaking: %+v", ends)
	}
	b.wait("a worker, before the harness has ended", func() bool { return len(b.workers()) > 0 })
	open, err := os.OpenFile(gate, os.O_RDWR, 0) // both ways, so as not to wait for a harness that may have gone
	must(b, err)
	defer open.Close()
	_, err = open.WriteString("go on\n")
	must(b, err)
	c.end()
	if got := b.queued(d, 1)[0]; !strings.HasSuffix(got.Transcript, "Assistant: late words\n") {
		t.Errorf("%s", got.Transcript)
	}
	b.wait("the summary", func() bool { return len(d.Compactions()) == 1 })
	if got := d.Compactions()[0]; got.Summary != "What was said before." || got.Project != b.Work {
		t.Errorf("%+v", got)
	}
}

// A turn that is under way when the client goes, in a proxy that is killed before the harness has ended.
func TestKilledInTurn(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.set("ECHOAGENT_SLOW=1m")
	d := b.withDaemon(daemontest.Older)
	c := b.connect([]string{"--memory", "daemon"}, "sh", "-c", `trap "" TERM; `+echoBin+`; sleep 60`)
	c.open()
	c.sendPrompt(words)
	b.wait("the turn", func() bool {
		return len(b.requests("session/prompt")) == 1 &&
			len(b.query(`SELECT 1 FROM turns`)) == 1
	})
	c.hangUp()
	b.wait("a worker that is no child of the proxy", func() bool {
		workers := b.workers()
		return len(workers) > 0 &&
			!slices.ContainsFunc(workers, func(p sandbox.Process) bool { return p.Parent == c.cmd.Process.Pid })
	})
	must(b, c.cmd.Process.Kill())
	if got := b.queued(d, 1)[0]; !strings.HasPrefix(got.Transcript, "User: The mast") ||
		got.Reason != "stale-session-sweep" {
		t.Errorf("%+v", got)
	}
}
