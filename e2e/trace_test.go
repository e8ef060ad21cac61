package e2e

import (
	"bytes"
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
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
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
				shown += plainly(t, process, s.sent())
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
			b.compareUsage(archive)
		})
	}
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
	seen := 0
	for _, section := range sections {
		if section.Name == "up" {
			s.send(string(section.Data))
			continue
		}
		last := ""
		for line := range strings.Lines(string(section.Data)) {
			if !ours(line) {
				last = line
			}
		}
		b.wait("what the harness says", func() bool {
			at := strings.LastIndex(s.sent()[seen:], last)
			if at >= 0 {
				seen += at + len(last)
			}
			return at >= 0
		})
	}
	return s, s.end()
}

// ours says whether a line of a trace holds our block or the beginning of it.
func ours(line string) bool { return strings.Contains(line, "{{") }

// plainly checks what the client saw of a process: each frame without our block as it was, and nothing of ours in the
// others, which it gives.
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
