package clients

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// shapes are files as clients and people write them.
var shapes = []string{
	emptyFile,
	`{}`, "{}\n", "{ }", "{\n}\n", "{\n  }\n", "{\t}",
	"{\n  \"agents\": {}\n}\n",
	"{\n  \"agents\": { }\n}\n",
	"{\n  \"agents\": {\n  }\n}\n",
	`{"agents":{}}`,
	`{"agents":  {"x":{"command":"y"}}}`,
	`{"defaultAgent":"codex","agents":{"x":{"command":"y z"}},"auth":{}}`,
	"{\n  \"defaultAgent\": \"claude\",\n  \"mcpServers\": [],\n  \"agents\": {\n    \"x\": {\n      \"command\": " +
		"\"y\"\n    }\n  }\n}\n",
	"{\r\n  \"agents\": {\r\n    \"x\": { \"command\": \"y\" }\r\n  }\r\n}\r\n",
	"{\n\t\"agents\": {\n\t\t\"x\": { \"command\": \"y\" }\n\t}\n}",
	`{"agents":{"a":1},"agents":{"x":{}}}`,
	`{"\u0061gents":{"x":{"command":"\u00e9\\\" "}}, "n": [1e5, [{}, null], true, "]}"]}`,
}

// commented are files that only clients read that allow comments.
var commented = []string{
	"// Zed settings\n{\n  // theme\n  \"theme\": \"One\", // mine\n  \"vim\": true,\n}\n",
	"{ // first\n  \"a\": 1\n}",
	"{ /* first */\n  \"a\": 1\n}",
	"{ /* all */ }",
	"{\n  // nothing yet\n}\n",
	"{\n  \"agents\": {\n    // none\n  },\n}\n",
	"{\n  \"agents\": { // these\n    \"x\": {\"command\": \"y\",}, // that\n  } /* end */\n}\n// over\n",
	"{/*/\n*/}",
	"/* a */ {\"agents\":{/* b */\"x\":{}/* c */,/* d */}} // e",
}

func TestWhatIsAddedGoesToTheByte(t *testing.T) {
	command := []string{"signet-acp-proxy", "--agent", "it's", "--", `C:\a b`, "\"<é>"}
	for _, comments := range []bool{false, true} {
		all := shapes
		if comments {
			all = append(append([]string{}, shapes...), commented...)
		}
		for _, text := range all {
			for _, order := range [][]string{{"signet-a", "signet-b"}, {"signet-b", "signet-a"}} {
				c := &File{client: client{Section: "agents"}, file: jsonFile{text: []byte(text), comments: comments}}
				for _, name := range []string{"signet-a", "signet-b"} {
					if err := c.add(name, command); err != nil {
						t.Fatalf("%q: %v", text, err)
					}
				}
				if !comments && !json.Valid(c.file.text) {
					t.Fatalf("%q became invalid:\n%s", text, c.file.text)
				}
				entries, err := c.Entries()
				if err != nil || len(entries) < 2 || entries[0].Name != "signet-b" || !entries[0].Ours() ||
					strings.Join(entries[0].Command, "|") != strings.Join(command, "|") {
					t.Fatalf("%q became\n%s\nwith entries %+v, %v", text, c.file.text, entries, err)
				}
				for _, name := range order {
					if err := c.remove(name); err != nil {
						t.Fatal(err)
					}
				}
				if string(c.file.text) != text {
					t.Errorf("%q came back as %q", text, c.file.text)
				}
			}
		}
	}
}

// An entry stands first in its section, indented as the others are.
func TestAdded(t *testing.T) {
	const entry = `"signet-a": {"command": "p", "args": []}`
	for _, tt := range []struct{ before, after string }{
		{"{\n    \"agents\": {\n          \"x\": {}\n    }\n}\n", "{\n    \"agents\": {\n          ENTRY,\n          \"x\": {}\n    }\n}\n"},
		{"{\n  \"agents\": {\n  }\n}\n", "{\n  \"agents\": {\n    ENTRY\n  \n  }\n}\n"},
		{"{\n\t\"agents\": {\n\t\t\"x\": {}\n\t}\n}", "{\n\t\"agents\": {\n\t\tENTRY,\n\t\t\"x\": {}\n\t}\n}"},
		{"{\r\n  \"agents\": {\r\n    \"x\": {}\r\n  }\r\n}", "{\r\n  \"agents\": {\r\n    ENTRY,\r\n    \"x\": {}\r\n  }\r\n}"},
		{`{"agents": {"x": {}}}`, "{\"agents\": {\n  ENTRY,\"x\": {}}}"},
		{"{\n  \"agents\": {  \"x\": {},\n      \"y\": {}}\n}", "{\n  \"agents\": {\n    ENTRY,  \"x\": {},\n      \"y\": {}}\n}"},
		{"{\n  \"other\": 1\n}\n", "{\n  \"agents\":  {\n    ENTRY\n  },\n  \"other\": 1\n}\n"},
		{"{\n\n  // mine\n  \"agents\": {\n    // these\n    \"x\": {}\n  }\n}", "{\n\n  // mine\n  \"agents\": {\n    ENTRY,\n    // these\n    \"x\": {}\n  }\n}"},
		{emptyFile, "{\n  \"agents\":  {\n    ENTRY\n  }\n}\n\n"},
		{"{ // these\n  \"agents\": { /* none */\n  }\n}", "{ // these\n  \"agents\": { /* none */\n    ENTRY\n  \n  }\n}"},
		{"{ /* a */ \"agents\": { /* b */ \"x\": 1 /* c */ } }", "{ /* a */ \"agents\": {\n  ENTRY, /* b */ \"x\": 1 /* c */ } }"},
	} {
		c := &File{client: client{Section: "agents"}, file: jsonFile{text: []byte(tt.before), comments: true}}
		if err := c.add("signet-a", []string{"p"}); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(string(c.file.text), entry, "ENTRY"); got != tt.after {
			t.Errorf("%q became\n%q, want\n%q", tt.before, got, tt.after)
		}
	}
}

func TestBrokenFilesAreLeftAlone(t *testing.T) {
	for _, text := range []string{"", " ", "[]", "1", "{", `{"a"}`, `{"a":}`, `{"a":1 "b":2}`, `{"a":1,,}`, `{} {}`,
		`{"a":"`, `{"agents":[]}`, `{"agents":null}`, `{"agents":{"a":{]}}`, "{'a':1}", "\ufeff{}"} {
		for _, comments := range []bool{false, true} {
			c := &File{client: client{Section: "agents"}, file: jsonFile{text: []byte(text), comments: comments}}
			if err := c.add("signet-a", []string{"x"}); err == nil {
				t.Errorf("%q with comments %v became %q", text, comments, c.file.text)
			}
			if string(c.file.text) != text {
				t.Errorf("%q with comments %v was changed to %q", text, comments, c.file.text)
			}
		}
	}
	for _, text := range commented {
		c := &File{client: client{Section: "agents"}, file: jsonFile{text: []byte(text)}}
		if err := c.add("signet-a", []string{"x"}); err == nil {
			t.Errorf("comments in %q were taken", text)
		}
	}
}

// FuzzSetup adds to whatever file and takes out again.
func FuzzSetup(f *testing.F) {
	for _, text := range append(append([]string{}, shapes...), commented...) {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, comments bool) {
		c := &File{client: client{Section: "agents"}, file: jsonFile{text: bytes.Clone(text), comments: comments}}
		if _, section, ok, err := c.agents(); err != nil || ok && len(section.Members) > 0 &&
			hasKey(section, "signet-fuzz") {
			return
		} else if ok && len(section.Members) == 0 && bytes.Contains(text, []byte(":"+madeByUs+"{}")) {
			return // taken for ours
		}
		if err := c.add("signet-fuzz", []string{"signet-acp-proxy", "--agent", "x"}); err != nil {
			t.Fatal(err)
		}
		if !comments && !json.Valid(c.file.text) {
			t.Fatalf("%q became invalid: %q", text, c.file.text)
		}
		if err := c.remove("signet-fuzz"); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(c.file.text, text) {
			t.Fatalf("%q came back as %q", text, c.file.text)
		}
	})
}

func hasKey(o object, key string) bool {
	_, ok := o.last(key)
	return ok
}
