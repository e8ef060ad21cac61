package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// What real harnesses said, with a conversation in one process and its session loaded in another, is played again: what
// the client sends arrives but for our block, all that the harness says arrives but for our block, and of that nothing
// is left where a history or a title shows it. The traces are made by `make harnesses` (e2e/harnesses/trace_test.go).
func TestTraces(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "traces", "*.txtar"))
	if err != nil || len(files) < 7 {
		t.Fatalf("traces: %v (%v)", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b := newBox(t)
			b.goesOn = true
			b.set("SIGNET_ACP_MCP=off") // else a harness that is not there would have to be told of a server
			up, received, shown := "", "", ""
			for _, process := range processes(archive) {
				var s *scripted
				s, received = b.replay(t, process) // of all processes so far
				for _, section := range process {
					if section.Name == "up" {
						up += string(section.Data)
					}
				}
				shown += plainly(t, process, s.heard.String())
			}
			received, blocks := withoutOurs(t, received)
			if diff := cmp.Diff(up, received); diff != "" {
				t.Errorf("client to harness (-sent +received):\n%s", diff)
			}
			if want := strings.Count(up, `"session/new"`); blocks != want {
				t.Errorf("%d blocks of ours, want %d", blocks, want)
			}
			if !strings.Contains(up, `"session/load"`) || !strings.Contains(shown, "mast of the Curlew") {
				t.Errorf("the person's own words are not shown where the session is loaded:\n%s", shown)
			}
			if used := b.used(); used != usedInTraces[name] {
				t.Errorf("the command usage sums up %s, and what is reported is %s", used, usedInTraces[name])
			}
		})
	}
}

// usedInTraces is what the harnesses report: turns with a report, tokens in and out, cost. Copilot reports what its process
// has used so far, the others each turn; a cost is what the process has cost so far.
var usedInTraces = map[string]string{
	"claude": "3 30 15 0.0007 USD", "codex": "3 30 15 - -", "copilot": "4 30 15 - -", "gemini": "3 30 15 - -",
	"opencode": "4 30 15 0 USD", "pi": "0 - - - -", "qwen": "0 - - - -",
}

// used is what the command usage sums up, in the same words.
func (b *box) used() string {
	b.t.Helper()
	b.takeIn()
	var rows []map[string]any
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "usage", "--by", "harness", "--json")), &rows))
	if len(rows) != 1 {
		b.t.Fatalf("%d harnesses used something: %+v", len(rows), rows)
	}
	var sums []string
	for _, column := range []string{"reportedTurns", "inputTokens", "outputTokens", "cost", "currency"} {
		switch value := rows[0][column].(type) {
		case nil:
			sums = append(sums, "-")
		case float64:
			sums = append(sums, fmt.Sprintf("%.4g", value))
		default:
			sums = append(sums, fmt.Sprint(value))
		}
	}
	return strings.Join(sums, " ")
}

// processes parts a trace at the starts of the harness; in each part up and down alternate.
func processes(a *txtar.Archive) (all [][]txtar.File) {
	for _, section := range a.Files {
		if section.Name == "start" {
			all = append(all, nil)
			continue
		}
		all[len(all)-1] = append(all[len(all)-1], section)
	}
	return all
}

// replay plays one process of a trace, to its end.
func (b *box) replay(t *testing.T, sections []txtar.File) (s *scripted, received string) {
	t.Helper()
	var steps []step
	lines := 0
	for _, section := range sections {
		if section.Name == "up" {
			lines += bytes.Count(section.Data, []byte("\n"))
			continue
		}
		steps, lines = append(steps, step{lines, section.Data}), 0
	}
	s = b.startScript([]string{"--memory", "embedded"}, steps...)
	for _, section := range sections {
		if section.Name == "up" {
			s.send(string(section.Data))
			continue
		}
		for line := range strings.Lines(string(section.Data)) { // each of them: a harness may say the same twice
			if ours(line) {
				continue
			}
			if _, err := s.readTo(line, &s.heard); err != nil {
				t.Fatalf("waiting for %.300s: %v", line, err)
			}
		}
	}
	return s, s.end()
}

// ours says whether a line of a trace holds our block or the beginning of it.
func ours(line string) bool { return strings.Contains(line, "{{") }

// plainly checks what the client saw of a process: each frame without our block as it was, and nothing of ours in the
// others, which it returns.
func plainly(t *testing.T, sections []txtar.File, sent string) (others string) {
	t.Helper()
	var want []string
	for _, section := range sections {
		if section.Name == "down" {
			for line := range strings.Lines(string(section.Data)) {
				if !ours(line) {
					want = append(want, line)
				}
			}
		}
	}
	for line := range strings.Lines(sent) {
		if len(want) > 0 && line == want[0] {
			want = want[1:]
			others += line
			continue
		}
		others += line
		if strings.Contains(line, "signet-memory") || strings.Contains(line, "Halyard") {
			t.Errorf("ours is shown:\n%.2000s", line)
		}
	}
	if len(want) > 0 {
		t.Errorf("%d frames of the harness did not arrive as they were, the first\n%.2000s", len(want), want[0])
	}
	return others
}
