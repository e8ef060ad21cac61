//go:build harnesses

package harnesses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// A trace is a conversation with a real harness as both ends had it, for `make test` to play again
// (e2e/trace_test.go): what the client sent, and what the harness said. Where the harness said our block, {{block}}
// stands, {{folded}} where its white space is folded, and {{id}} for its id where that is the beginning of one.
// Frames that are mostly documentation are left out. SIGNET_RECORD=1 makes `make harnesses` write them.

const maxOfFrame = 64 << 10 // qwen sends half a megabyte of skills with its commands

// blockID is our block's id, escaped or not.
var blockID = regexp.MustCompile(`(<signet-memory source=\\*"acp-proxy\\*" id=\\*")[0-9a-f]+`)

// record writes what passed at the harness, with the client's own frames in place of those that we changed.
func (s stage) record(tapped string, version string, sent [][]byte) {
	t := s.t
	text, err := os.ReadFile(tapped)
	if err != nil {
		t.Fatal(err)
	}
	a := &txtar.Archive{Comment: []byte(s.name + " " + version +
		", behind the proxy: made by SIGNET_RECORD=1 make harnesses. Sections alternate; start is a new process.\n")}
	block := ""
	add := func(name string, line []byte) {
		if n := len(a.Files); n == 0 || a.Files[n-1].Name != name || name == "start" {
			a.Files = append(a.Files, txtar.File{Name: name})
		}
		last := &a.Files[len(a.Files)-1]
		last.Data = append(last.Data, line...)
	}
	for line := range bytes.Lines(text) {
		direction, frame, _ := bytes.Cut(line, []byte(" "))
		switch string(direction) {
		case "start":
			add("start", nil)
		case "up":
			if found := blockOf(frame); found != "" {
				block = found
			}
			add("up", s.scrubbed(sent[0], ""))
			sent = sent[1:]
		case "down":
			if len(frame) < maxOfFrame {
				add("down", s.scrubbed(frame, block))
			}
		}
	}
	if len(sent) > 0 {
		t.Errorf("%d frames of the client did not arrive", len(sent))
	}
	out := txtar.Format(a)
	for _, secret := range []string{s.Dir, os.Getenv("HOME") + "/"} {
		if strings.Contains(string(out), secret) {
			t.Errorf("the trace holds %q:\n%s", secret, lines(string(out), secret))
		}
	}
	if err := os.WriteFile(filepath.Join("..", "testdata", "traces", s.name+".txtar"), out, 0o644); err != nil {
		t.Fatal(err)
	}
}

// blockOf returns our block in a prompt, as it stands in a JSON text, without the empty lines behind it.
func blockOf(frame []byte) string {
	_, tail, found := bytes.Cut(frame, []byte(`"text":"`+mark))
	if !found {
		return ""
	}
	var text string
	if err := json.NewDecoder(strings.NewReader(`"` + mark + string(tail))).Decode(&text); err != nil {
		return ""
	}
	return jsonText(strings.TrimSpace(text))
}

// folded is a JSON text's inside with each run of newlines and spaces as one space, as titles have it.
func folded(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, `\n`, " ")), " ")
}

func jsonText(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return ""
	}
	return strings.Trim(strings.TrimSpace(b.String()), `"`)
}

// ids are what harnesses name sessions, messages and calls by.
var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(ses|msg|prt|call|toolu|evt)_[0-9A-Za-z]{12,}`)

func (s stage) scrubbed(frame []byte, block string) []byte {
	text := string(frame)
	if block != "" {
		text = strings.ReplaceAll(text, block, "{{block}}")
		text = strings.ReplaceAll(text, folded(block), "{{folded}}")
	}
	text = blockID.ReplaceAllString(text, "${1}{{id}}")
	text = strings.ReplaceAll(text, s.Dir, "/home/ines/box")
	text = strings.ReplaceAll(text, s.model.URL, "http://127.0.0.1:1")
	modules, err := filepath.Abs("..")
	if err == nil {
		text = strings.ReplaceAll(text, modules, "/opt")
	}
	return []byte(ids.ReplaceAllStringFunc(text, func(id string) string {
		if s.ids[id] == "" {
			n := len(s.ids) + 1
			if prefix, _, found := strings.Cut(id, "_"); found {
				s.ids[id] = fmt.Sprintf("%s_%020d", prefix, n)
			} else {
				s.ids[id] = fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
			}
		}
		return s.ids[id]
	}))
}

// What a trace holds is what was there, less what would tell of this machine.
func TestScrubbed(t *testing.T) {
	s := stage{ids: map[string]string{}}
	s.Sandbox, s.model = &sandbox.Sandbox{Dir: "/tmp/box-1"}, &fakemodel.Server{URL: "http://127.0.0.1:4711"}
	got := string(s.scrubbed([]byte(`{"cwd":"/tmp/box-1/work","a":"0b6c1f0e-aaaa-4bbb-8ccc-0123456789ab","b":"ses_dffa0d49effeSEstG012","c":"0b6c1f0e-aaaa-4bbb-8ccc-0123456789ab","u":"http://127.0.0.1:4711/v1","t":"<b>x"}`), "<b>"))
	want := `{"cwd":"/home/ines/box/work","a":"00000000-0000-4000-8000-000000000001","b":"ses_00000000000000000002","c":"00000000-0000-4000-8000-000000000001","u":"http://127.0.0.1:1/v1","t":"{{block}}x"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
