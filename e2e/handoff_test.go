package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const earlierHeading = "## Earlier in this conversation"

// talk opens a session and says something in it, and returns its id.
func (c *client) talk(words ...string) (id string) {
	c.t.Helper()
	id = c.open()
	for _, text := range words {
		c.say(id, text)
	}
	return id
}

// told are the blocks of a session that tell what was said earlier.
func (s echoSession) told() (blocks []string) {
	for _, t := range s.Turns {
		for _, given := range t.Blocks {
			if strings.Contains(given.Text, earlierHeading) {
				blocks = append(blocks, given.Text)
			}
		}
	}
	return blocks
}

// From each of the seven agents to each other one, under the names that they give themselves: the second is told once
// what the first was, and both know each other.
func TestHandoff(t *testing.T) {
	t.Parallel()
	seven := map[string]string{
		"claude": "@agentclientprotocol/claude-agent-acp", "codex": "@agentclientprotocol/codex-acp", "opencode": "OpenCode",
		"gemini": "gemini-cli", "qwen": "qwen-code", "pi": "pi-acp", "copilot": "Copilot",
	}
	for from := range seven {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set("ECHOAGENT_TERSE=1")
			first := b.connect([]string{"--memory", "embedded", "--agent", from}, echoBin, "-name", seven[from])
			id := first.talk("The keel of the Curlew is lead, and weighs 1,730 kg.", "She was built in Falmouth.")
			first.end()
			for to := range seven {
				if to == from {
					continue
				}
				printed := b.run(proxyBin, "handoff", id, "--to", to)
				if !strings.Contains(printed, "--agent "+to) || strings.Count(printed, "\n") != 1 {
					t.Errorf("to %s: it prints %q", to, printed)
				}
				c := b.connect([]string{"--memory", "embedded", "--agent", to}, echoBin, "-name", seven[to])
				second, third := c.talk("Go on.", "And on."), c.talk("Hello.")
				c.end()
				told := b.received(second).told()
				if len(told) != 1 || !strings.Contains(told[0], "1,730 kg") || !strings.Contains(told[0], "Falmouth") {
					t.Errorf("to %s: it was told %q", to, told)
				}
				if again := b.received(third).told(); len(again) != 0 {
					t.Errorf("to %s: the session after it was told, too: %q", to, again)
				}
				var rows []struct{ ACPXSessionID, Continues, ContinuedBy string }
				must(b, json.Unmarshal([]byte(b.run(proxyBin, "sessions", "--json", "--limit", "0")), &rows))
				known := map[string][2]string{}
				for _, r := range rows {
					known[r.ACPXSessionID] = [2]string{r.Continues, r.ContinuedBy}
				}
				want := map[string][2]string{id: {"", second}, second: {id, ""}, third: {}}
				got := map[string][2]string{id: known[id], second: known[second], third: known[third]}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("to %s: continues and continuedBy (-want +got):\n%s", to, diff)
				}
			}
		})
	}
}

// Where acpx cannot load a session and opens another one, that one is told once what was said.
func TestAcpxContinues(t *testing.T) {
	t.Parallel()
	eachAcpx(t, func(t *testing.T, a *acpxBox) {
		a.set("ECHOAGENT_TERSE=1")
		before := a.newSession()
		a.say("The keel of the Curlew weighs 1,730 kg.")
		a.endOwners()
		a.set("ECHOAGENT_LOAD_ERROR=-32002")
		a.say("What does it weigh?")
		a.say("And the mast?")
		prompted := a.requests("session/prompt")
		after := prompted[len(prompted)-1].Session
		if told := a.received(after).told(); after == before || len(told) != 1 ||
			!strings.Contains(told[0], "> User: The keel of the Curlew weighs 1,730 kg.") {
			t.Errorf("%s goes on from %s and was told %q", after, before, told)
		}
		a.cleanHistory()
	})
}

// takenUp holds a conversation of some prompts, loses it as acpx does, and returns the first prompt of the session that
// takes its place, as the harness was sent it.
func takenUp(t *testing.T, setting string, said ...string) (prompt string) {
	b := newBox(t)
	b.set("SIGNET_ACP_CONTINUE="+setting, "SIGNET_ACP_MEMORY=embedded")
	acpx := initialized
	acpx.up = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,` +
		`"clientInfo":{"name":"acpx","version":"0.19.1"}}}` + "\n"
	lost := exchange{fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":"session/load","params":`+
		`{"sessionId":"first-0123456789","cwd":%q,"mcpServers":[]}}`+"\n", b.Work),
		`{"jsonrpc":"2.0","id":9,"error":{"code":-32002,"message":"Resource not found"}}` + "\n"}
	all := []exchange{acpx, opening(b.Work, "first-0123456789")}
	for i, text := range said {
		all = append(all, turn(10+i, "first-0123456789", text, ""))
	}
	b.converse(nil, all...)
	received, _ := b.converse(nil, acpx, lost, opening(b.Work, "second-0123456789"),
		turn(10, "second-0123456789", "Good morning.", ""))
	received = strings.TrimSpace(received)
	return received[strings.LastIndexByte(received, '\n')+1:]
}

// With continue off, and where nothing was said before, the first prompt is the one of a new conversation, byte for
// byte.
func TestContinueOff(t *testing.T) {
	t.Parallel()
	const keel = "The keel of the Curlew weighs 1,730 kg."
	on, off, silent, silentOff := takenUp(t, "on", keel), takenUp(t, "off", keel), takenUp(t, "on"), takenUp(t, "off")
	if !strings.Contains(on, earlierHeading) || !strings.Contains(on, keel) {
		t.Errorf("with continue on it is sent\n%s", on)
	}
	for name, got := range map[string]string{"off": off, "on, and nothing was said": silent} {
		if diff := cmp.Diff(silentOff, got); diff != "" || !strings.Contains(got, blockMark) {
			t.Errorf("with continue %s it is sent\n%s\n%s", name, got, diff)
		}
	}
}
