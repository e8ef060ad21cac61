package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// Code that the blocks of these tests hold, and that answers show again.
var snippets = map[string]string{
	"go": "func (b *Boat) Heel(wind Knots) (Degrees, error) {\n\tif b.mast == nil {\n\t\treturn 0, errors.New(\"no mast\")\n" +
		"\t}\n\n\treturn b.mast.heel(wind, b.sails...), nil\n}\n",
	"python": "class Boat:\n    def heel(self, wind: float) -> float:\n        if self.mast is None:\n" +
		"            raise ValueError(\"no mast\")\n\n        return self.mast.heel(wind, *self.sails)\n",
	"ts": "export async function heel(boat: Boat, wind: number) {\n  const mast = await boat.mast();\n" +
		"  return mast?.heel<number>(wind, ...boat.sails) ?? 0;\n}\n",
	"rust": "impl Boat {\n    pub fn heel(&self, wind: f64) -> Option<f64> {\n        let mast = self.mast.as_ref()?;\n" +
		"        Some(mast.heel(wind, &self.sails))\n    }\n}\n",
	"sql": "SELECT boat.name, max(heel.degrees) AS most\n  FROM boat JOIN heel ON heel.boat = boat.id\n" +
		" WHERE heel.wind > 20\n GROUP BY boat.name;\n",
}

// agentsFile is an AGENTS.md with all of it.
func agentsFile() string {
	var b strings.Builder
	b.WriteString("# How we write\n\n")
	for name, code := range snippets {
		fmt.Fprintf(&b, "```%s\n%s```\n\n", name, code)
	}
	return b.String()
}

const (
	secretNumber = "4711-curlew-heron" // the user's, private
	secretKey    = "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"
)

// An answer shows none, some or all lines of the block's code again, among words of its own.
func answerOf(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(6) {
		name := slices.Sorted(maps.Keys(snippets))[r.IntN(len(snippets))]
		code := snippets[name]
		switch r.IntN(7) {
		case 0:
			fmt.Fprintf(&b, "It heels %d degrees, as the log says. ", r.IntN(60))
		case 1:
			fmt.Fprintf(&b, "Here is all of it:\n\n```%s\n%s```\n", name, code)
		case 2, 3:
			b.WriteString("Here is the function with the fix:\n\n```" + name + "\n")
			for line := range strings.Lines(code) {
				switch r.IntN(4) {
				case 0:
					b.WriteString(strings.Replace(line, "heel", "list", 1))
				case 1:
				default:
					b.WriteString(line)
				}
			}
			b.WriteString("```\n")
		case 4:
			for line := range strings.Lines(code) {
				b.WriteString("> " + line)
			}
			b.WriteString("\nis what you gave me.\r\n")
		case 5:
			b.WriteString(code)
		case 6:
			fmt.Fprintf(&b, "Your number is %s, the key %s, die Größe 12 m.\n", secretNumber, secretKey)
		}
	}
	return b.String()
}

// said is a turn whose answer comes in chunks of at most so many bytes.
func said(id int, session, asked, answer string, chunk int) exchange {
	e := turn(id, session, asked, "")
	var frames strings.Builder
	for answer != "" {
		n := min(chunk, len(answer))
		for n < len(answer) && answer[n]&0xc0 == 0x80 { // JSON has whole characters
			n++
		}
		text, _ := json.Marshal(answer[:n])
		answer = answer[n:]
		fmt.Fprintf(&frames, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":`+
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}}}`+"\n", session, text)
	}
	e.down = frames.String() + e.down
	return e
}

// What an agent says is stored as it said it, also where it repeats our block, in chunks of whatever size; but for
// secrets, and what the user marked private.
func TestRecordIsWhole(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	must(b, os.WriteFile(filepath.Join(b.Signet, "AGENTS.md"), []byte(agentsFile()), 0o600))
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SIGNET_ACP_SEED"), "42"), 10, 64)
	must(b, err)
	r := rand.New(rand.NewPCG(seed, 1))
	const cases = 200
	all, want, sizes := []exchange{initialized}, map[string]string{}, map[string]int{}
	for i := range cases {
		session, answer := fmt.Sprintf("scripted-%04d", i), answerOf(r)
		sizes[session] = min(1+int(r.ExpFloat64()*float64([]int{1, 30, 400, 4000}[i%4])), 4000)
		all = append(all, opening(b.Work, session), said(2+i, session, fmt.Sprintf(
			"Boat %d heels too much. My number is <private>%s</private>.", i, secretNumber), answer, sizes[session]))
		want[session] = strings.NewReplacer(secretNumber, "[private]", secretKey, "[redacted:github]").Replace(answer)
	}
	received, _ := b.converse([]string{"--memory", "embedded"}, all...)
	for name, code := range snippets {
		line, _, _ := strings.Cut(code, "\n")
		quoted, err := json.Marshal(line)
		must(b, err)
		if n := strings.Count(received, strings.Trim(string(quoted), `"`)); n < cases {
			t.Errorf("%d blocks hold %s", n, name)
		}
	}
	b.takeIn()
	stored := b.query(`SELECT s.acp_id, t.assistant FROM turns t JOIN sessions s ON s.id = t.session`)
	if len(stored) != cases {
		t.Errorf("%d turns are stored", len(stored))
	}
	for _, row := range stored {
		if got := row[1]; got != want[row[0]] {
			t.Errorf("seed %d, %s, chunks of %d bytes: stored\n%q\nwant\n%q", seed, row[0], sizes[row[0]], got, want[row[0]])
		}
	}
}

// The log, the page, a handoff and the daemon have the words, with the indentation of code.
func TestRecordIsShown(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	d := daemontest.Start(t, daemontest.Options{AgentsDir: b.Signet, Files: map[string]string{"AGENTS.md": agentsFile()}})
	b.set("SIGNET_DAEMON_URL=" + d.URL())
	fixed := strings.Replace(snippets["go"], "b.mast == nil", "b == nil", 1)
	answer := "Here is the function with the fix:\n\n```go\n" + fixed + "```\n" + strings.Repeat("It is checked. ", 30)
	session := "scripted-0123456789"
	received, _ := b.converse(nil, initialized, opening(b.Work, session), said(2, session, "Fix it.", answer, 7))
	if !strings.Contains(received, `return b.mast.heel(wind, b.sails...), nil`) {
		t.Fatalf("the block has no code: %.3000s", received)
	}
	shown := "      if b == nil {\n          return 0, errors.New(\"no mast\")\n      }\n\n      return b.mast.heel(wind, b.sails...)"
	if got := b.run(proxyBin, "log", session); !strings.Contains(got, shown) {
		t.Errorf("log:\n%s", got)
	}
	var said []struct{ Role, Text string }
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "log", session, "--json")), &said))
	if n := len(said); n == 0 || said[n-1].Text != answer {
		t.Errorf("log --json: %q", said)
	}
	sent := strings.Join(strings.Fields("Assistant: "+answer), " ")
	if got := b.queued(d, 1)[0].Transcript; !strings.Contains(got, sent) {
		t.Errorf("the daemon got %q", got)
	}
	cmd, _, address := b.openPage()
	browser, at := browse(b, address)
	reply, err := browser.Get(at.JoinPath("sessions/1").String())
	must(b, err)
	page, err := io.ReadAll(reply.Body)
	must(b, err)
	reply.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if !strings.Contains(string(page), "\n\t\treturn 0, errors.New(") {
		t.Errorf("the page:\n%s", page)
	}
	must(b, cmd.Process.Signal(os.Interrupt))
	must(b, cmd.Wait())
	b.run(proxyBin, "handoff", session, "--to", "claude")
	c := b.connect([]string{"--agent", "claude"}, echoBin)
	told := strings.Join(b.received(c.talk("Go on.")).told(), "")
	if !strings.Contains(told, "b.mast.heel(wind, b.sails...)") {
		t.Errorf("a handoff tells\n%s", told)
	}
}
