package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every configuration in the pages is one that the program takes, or what it writes.
func TestPageBlocks(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			check := map[string]func(*reader, *page, string){"yaml": (*reader).settings, "json": (*reader).object,
				"text": (*reader).sample}[b.language]
			if check != nil {
				t.Run(b.where, func(t *testing.T) {
					t.Parallel()
					check(newReader(t), p, b.text)
				})
			}
		}
	}
}

// settings checks an agent.yaml.
func (r *reader) settings(_ *page, text string) {
	r.configure(text)
	if out := r.shell("signet-acp-proxy config show"); !strings.Contains(out, "agent.yaml:") {
		r.t.Errorf("nothing is configured by\n%s", text)
	}
}

func (r *reader) configure(text string) {
	must(r.box, os.WriteFile(filepath.Join(r.Signet, "agent.yaml"), []byte(text), 0o600))
}

// object checks a JSON block by what it is: a client's configuration, which is the one that we write, an entry for
// programs that take MCP servers, or what on_session_end reads.
func (r *reader) object(p *page, text string) {
	text = strings.ReplaceAll(text, "/path/to/", r.bin+"/")
	var keys map[string]json.RawMessage
	must(r.box, json.Unmarshal([]byte(text), &keys))
	names := slices.Sorted(maps.Keys(keys))
	files := map[string][2]string{
		"agents":        {"acpx", filepath.Join(r.Home, ".acpx", "config.json")},
		"agent_servers": {"zed", filepath.Join(r.Home, "xdg", "config", "zed", "settings.json")},
	}
	switch client, ok := files[names[0]]; {
	case ok:
		var entries map[string]any
		must(r.box, json.Unmarshal(keys[names[0]], &entries))
		for name := range entries {
			r.shell("signet-acp-proxy setup " + client[0] + " " + name)
		}
		written, err := os.ReadFile(client[1])
		must(r.box, err)
		r.equal(text, string(written))
	case names[0] == "mcpServers":
		var servers map[string]struct {
			Command string
			Args    []string
		}
		must(r.box, json.Unmarshal(keys["mcpServers"], &servers))
		for _, s := range servers {
			for name := range strings.Lines(r.tools(strings.Join(append([]string{s.Command}, s.Args...), " "))) {
				if name = strings.TrimSpace(name); !strings.Contains(p.prose, "`"+name+"`") {
					r.t.Errorf("%s does not name the tool %s", p.name, name)
				}
			}
		}
	case slices.Contains(names, "transcriptPath"):
		r.configure("acp: {on_session_end: [sh, -c, 'cat > " + filepath.Join(r.Dir, "ended") + "']}")
		r.converse("signet-acp-proxy --agent gemini")
		r.shell("signet-acp-proxy deliver --wait")
		var ended map[string]any
		r.wait("the hook", func() bool {
			got, err := os.ReadFile(filepath.Join(r.Dir, "ended"))
			return err == nil && json.Unmarshal(got, &ended) == nil
		})
		if diff := cmp.Diff(names, slices.Sorted(maps.Keys(ended))); diff != "" {
			r.t.Errorf("what the hook reads (-page +got):\n%s", diff)
		}
	default:
		r.t.Errorf("nobody knows what this is:\n%s", text)
	}
}

// equal compares JSON.
func (r *reader) equal(page, got string) {
	var values [2]any
	for i, text := range []string{page, got} {
		must(r.box, json.Unmarshal([]byte(text), &values[i]))
	}
	if diff := cmp.Diff(values[0], values[1]); diff != "" {
		r.t.Errorf("(-page +got):\n%s", diff)
	}
}

// sample checks a picture of our block: what is not a person's stands in a real one.
func (r *reader) sample(_ *page, text string) {
	if !strings.HasPrefix(text, blockMark) {
		return // a picture of something else
	}
	got := r.converseTwice()
	for line := range strings.Lines(text) {
		line = regexp.MustCompile(`id="[0-9a-f]+"`).ReplaceAllString(strings.TrimSpace(line), `id="…"`)
		if !strings.HasPrefix(line, "- (") && line != "…" &&
			!regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")).MatchString(got) {
			r.t.Errorf("no %q in\n%s", line, got)
		}
	}
}
