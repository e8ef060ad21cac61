package main

import (
	"strings"
	"testing"
)

// Each command has a section, and no line of help is taken for a request.
func TestPage(t *testing.T) {
	help := map[string]string{
		"": "Give any agent a memory.\n\nUsage:\n  p COMMAND\n\nCommands (COMMAND -h explains one):\n" +
			"  init         Set up.\n               More.\n  log          Print.\n\nFlags:\n  --x   Y\n",
		"init": "Set up.\n.starts with a dot\n", "log": "Print C:\\x.\n",
	}
	got, err := page("1.2.3", func(args ...string) (string, error) { return help[strings.Join(args, " ")], nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`.TH SIGNET-ACP-PROXY 1 "" "1.2.3"`, "signet-acp-proxy \\- give any agent a memory\n",
		".SH INIT\n.nf\nSet up.\n\\&.starts", ".SH LOG\n.nf\nPrint C:\\ex.\n", `\-\-x`} {
		if !strings.Contains(got, want) {
			t.Errorf("it has no %q:\n%s", want, got)
		}
	}
}
