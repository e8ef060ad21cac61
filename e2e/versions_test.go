package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The same conversation in version 1 and in version 2 of the protocol, with the TypeScript SDK on both ends: the model
// is given the same, and the same is kept. In neither is our block shown.
func TestVersions(t *testing.T) {
	t.Parallel()
	const words = "How long is the mast of the Curlew?"
	var asked, kept [2]string
	for i, version := range []string{"1", "2"} {
		b := newBox(t)
		b.set("SIGNET_E2E_MODULES=" + string(modules))
		script, err := filepath.Abs(filepath.Join("testdata", "versions.mjs"))
		must(b, err)
		node, err := modules.Node()
		must(b, err)
		shown := b.run(node, script, "client", version, b.Work,
			proxyBin, "--memory", "embedded", "--agent", "versions", "--", node, script, "agent", b.Echo)
		for _, ours := range []string{"signet-memory", "Halyard"} {
			if strings.Contains(shown, ours) {
				t.Errorf("version %s: %s is shown:\n%s", version, ours, shown)
			}
		}
		for _, line := range []string{`["stop","cancelled"]`, `["title","` + words + `"]`, `["user","` + words + `"]`} {
			if !strings.Contains(shown, line) {
				t.Errorf("version %s: %s is not shown:\n%s", version, line, shown)
			}
		}
		text, err := os.ReadFile(filepath.Join(b.Echo, "asked.jsonl"))
		must(b, err)
		asked[i] = string(text)
		if n := strings.Count(asked[i], "You are Halyard"); n != 1 ||
			!strings.Contains(asked[i], `"servers":["signet"]`) {
			t.Errorf("version %s: %d identities in what the model was given:\n%s", version, n, asked[i])
		}
		b.takeIn()
		for _, what := range []string{
			`SELECT acp_id, state, client, agent, agent_version FROM sessions`,
			`SELECT kind, block_id, text, outcome FROM injections`,
			`SELECT user, replace(assistant, char(12), ''), stop, json_extract(tools, '$[0].title'), ended > 0 FROM turns ORDER BY id`,
		} {
			for _, row := range b.query(what) {
				kept[i] += strings.Join(row, " | ") + "\n"
			}
		}
	}
	if diff := cmp.Diff(asked[0], asked[1]); diff != "" {
		t.Errorf("what the model was given (-version 1 +version 2):\n%s", diff)
	}
	if diff := cmp.Diff(kept[0], kept[1]); diff != "" {
		t.Errorf("what is kept (-version 1 +version 2):\n%s", diff)
	}
	if want := words + " | The mast is 11.42 metres long."; !strings.Contains(strings.ReplaceAll(kept[0], "\n\n", ""),
		want) {
		t.Errorf("%q is not in what is kept:\n%s", want, kept[0])
	}
}
