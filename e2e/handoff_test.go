package e2e

import (
	"encoding/json"
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

// From each of the seven agents to another one, under the names that they give themselves: the second is told once what
// the first was, and both know each other.
func TestHandoff(t *testing.T) {
	t.Parallel()
	seven := [][2]string{
		{"claude", "@agentclientprotocol/claude-agent-acp"}, {"codex", "@agentclientprotocol/codex-acp"}, {"opencode", "OpenCode"},
		{"gemini", "gemini-cli"}, {"qwen", "qwen-code"}, {"pi", "pi-acp"}, {"copilot", "Copilot"},
	}
	for i := range seven {
		from, to := seven[i], seven[(i+1)%len(seven)]
		t.Run(from[0]+" to "+to[0], func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set("ECHOAGENT_TERSE=1")
			connect := func(agent [2]string) *client {
				return b.connect([]string{"--memory", "embedded", "--agent", agent[0]}, echoBin, "-name", agent[1])
			}
			first := connect(from)
			id := first.talk("The keel of the Curlew is lead, and weighs 1,730 kg.", "She was built in Falmouth.")
			first.end()
			printed := b.run(proxyBin, "handoff", id, "--to", to[0])
			if !strings.Contains(printed, "--agent "+to[0]) || strings.Count(printed, "\n") != 1 {
				t.Errorf("it prints %q", printed)
			}
			c := connect(to)
			second, third := c.talk("Go on.", "And on."), c.talk("Hello.")
			c.end()
			told := b.received(second).told()
			if len(told) != 1 || !strings.Contains(told[0], "1,730 kg") || !strings.Contains(told[0], "Falmouth") {
				t.Errorf("it was told %q", told)
			}
			if again := b.received(third).told(); len(again) != 0 {
				t.Errorf("the session after it was told, too: %q", again)
			}
			var rows []struct{ ACPXSessionID, Continues, ContinuedBy string }
			must(b, json.Unmarshal([]byte(b.run(proxyBin, "sessions", "--json")), &rows))
			got := map[string][2]string{}
			for _, r := range rows {
				got[r.ACPXSessionID] = [2]string{r.Continues, r.ContinuedBy}
			}
			want := map[string][2]string{id: {"", second}, second: {id, ""}, third: {}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("continues and continuedBy (-want +got):\n%s", diff)
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
