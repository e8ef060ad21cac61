package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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
	for at, file := range files {
		for i, mode := range modes {
			if !mode.block && at%(len(modes)-1) != i-1 {
				continue // a pump is one, whatever passes
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+mode.name, func(t *testing.T) {
				t.Parallel()
				b := newBox(t)
				b.set(mode.env...)
				d := b.withDaemon(daemontest.Newer)
				all := readTranscript(t, file)
				received, _ := b.converse(mode.flags, all...)
				if mode.block {
					blocks := 0
					if received, blocks = withoutOurs(t, received); blocks != 1 {
						t.Errorf("%d blocks of ours, want 1", blocks)
					}
				}
				up := ""
				for _, one := range all {
					up += one.up
				}
				if diff := cmp.Diff(up, received); diff != "" {
					t.Errorf("client to harness (-sent +received):\n%s", diff)
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

// readTranscript returns what was said: the sections of each direction alternate.
func readTranscript(t *testing.T, file string) (all []exchange) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil || len(archive.Files)%2 != 0 {
		t.Fatalf("%s: %d sections (%v)", file, len(archive.Files), err)
	}
	for pair := range slices.Chunk(archive.Files, 2) {
		if pair[0].Name != "up" || pair[1].Name != "down" {
			t.Fatalf("%s: %q and %q, and up and down should alternate", file, pair[0].Name, pair[1].Name)
		}
		crlf := func(text []byte) string { return strings.ReplaceAll(string(text), "␍\n", "\r\n") }
		all = append(all, exchange{crlf(pair[0].Data), crlf(pair[1].Data)})
	}
	return all
}
