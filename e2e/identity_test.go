package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// A recorded conversation passes unchanged in both directions, apart from the one block, and not even that when we
// are off.
func TestByteIdentity(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("transcripts: %v (%v)", files, err)
	}
	modes := []struct {
		name  string
		flags []string
		env   []string
		block bool
	}{
		{name: "on", flags: []string{"--memory", "embedded"}, block: true},
		{name: "off", flags: []string{"--memory", "off"}},
		{name: "no hooks", env: []string{"SIGNET_NO_HOOKS=1"}},
		{name: "bypass", env: []string{"SIGNET_BYPASS=1"}},
	}
	for _, file := range files {
		for _, mode := range modes {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+mode.name, func(t *testing.T) {
				t.Parallel()
				b := newBox(t)
				b.set(mode.env...)
				d := b.withDaemon(daemontest.Newer)
				up, down := readTranscript(t, file)
				var steps []step
				for i := range up {
					steps = append(steps, step{strings.Count(up[i], "\n"), []byte(down[i])})
				}
				s := b.startScript(mode.flags, steps...)
				want := ""
				for i := range up {
					s.send(up[i])
					want += down[i]
					b.wait("what the harness says", func() bool { return len(s.sent()) >= len(want) })
				}
				received := s.end()
				if mode.block {
					blocks := 0
					if received, blocks = withoutOurs(t, received); blocks != 1 {
						t.Errorf("%d blocks of ours, want 1", blocks)
					}
				}
				if diff := cmp.Diff(strings.Join(up, ""), received); diff != "" {
					t.Errorf("client to harness (-sent +received):\n%s", diff)
				}
				if diff := cmp.Diff(want, s.sent()); diff != "" {
					t.Errorf("harness to client (-sent +received):\n%s", diff)
				}
				if n := len(d.Requests()); n != 0 {
					t.Errorf("the daemon was asked %d times", n)
				}
				if _, err := os.Stat(filepath.Dir(b.database())); !mode.block && !os.IsNotExist(err) {
					t.Errorf("a byte pump made %s (%v)", filepath.Dir(b.database()), err)
				}
			})
		}
	}
}

// withoutOurs takes out what we put into a conversation: our blocks, which it counts, and our MCP server.
func withoutOurs(t *testing.T, received string) (rest string, blocks int) {
	t.Helper()
	cut := func(start int, ours func(element string) bool) {
		d := json.NewDecoder(strings.NewReader(received[start:]))
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			t.Fatal(err)
		}
		end := start + int(d.InputOffset())
		switch {
		case !ours(string(element)):
			return
		case strings.HasPrefix(received[end:], ","):
			end++
		case strings.HasSuffix(received[:start], ","):
			start--
		}
		received = received[:start] + received[end:]
	}
	for at := strings.Index(received, `{"type":"text","text":"`+blockMark); at >= 0; at = strings.Index(received,
		`{"type":"text","text":"`+blockMark) {
		cut(at, func(string) bool { blocks++; return true })
	}
	const server = `{"name":"signet",`
	for at := strings.LastIndex(received, server); at >= 0; at = strings.LastIndex(received[:at], server) {
		cut(at, func(element string) bool { return strings.Contains(element, `"--connect"`) })
	}
	return received, blocks
}

// readTranscript returns the sections of each direction, which alternate.
func readTranscript(t *testing.T, file string) (up, down []string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, section := range archive.Files {
		text := strings.ReplaceAll(string(section.Data), "␍\n", "\r\n")
		switch {
		case section.Name == "up" && i%2 == 0:
			up = append(up, text)
		case section.Name == "down" && i%2 == 1:
			down = append(down, text)
		default:
			t.Fatalf("%s: section %d is %q, and up and down should alternate", file, i, section.Name)
		}
	}
	if len(up) != len(down) {
		t.Fatalf("%s: %d up and %d down sections", file, len(up), len(down))
	}
	return up, down
}
