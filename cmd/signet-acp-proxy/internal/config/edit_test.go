package config

import (
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSet(t *testing.T) {
	for _, tt := range []struct{ name, before, key, value, want string }{
		{"no file", "", "hold", "2s", "acp:\n  hold: 2s\n"},
		{"no section", "name: Alto # me\n", "memory", "embedded", "name: Alto # me\nacp:\n  memory: embedded\n"},
		{"no line end", "name: Alto", "memory", "off", "name: Alto\nacp:\n  memory: off\n"},
		{"an empty section", "acp:\nname: x\n", "hold", "2s", "acp:\n  hold: 2s\nname: x\n"},
		{"an empty section at the end", "acp:", "hold", "2s", "acp:\n  hold: 2s\n"},
		{"first in a section", "acp:\n    # about\n    hold: 1s\n", "memory", "auto",
			"acp:\n    # about\n    memory: auto\n    hold: 1s\n"},
		{"a value and its comment", "acp:\n  hold:   1s   # long\n  db: x\n", "hold", "3s",
			"acp:\n  hold:   3s   # long\n  db: x\n"},
		{"quoted", "acp:\n  agent_id: 'it''s # me' # who\n", "agent_id", "you: # two",
			"acp:\n  agent_id: 'you: # two' # who\n"},
		{"a list", "acp:\n  exclude: [a, 'b, c'] # these\n", "exclude", "x,~/y", "acp:\n  exclude: [x, ~/y] # these\n"},
		{"CRLF", "name: Ä\r\nacp:\r\n  hold: 1s\r\n", "presence", "on",
			"name: Ä\r\nacp:\r\n  presence: on\r\n  hold: 1s\r\n"},
		{"an agent", "acp:\n  agents:\n    claude:\n      mcp: off\n", "agents.codex.mcp", "http",
			"acp:\n  agents:\n    codex:\n      mcp: http\n    claude:\n      mcp: off\n"},
		{"no value", "acp:\n  db:\n  hold: 1s\n", "db", "/a b", "acp:\n  db: /a b\n  hold: 1s\n"},
		{"a block of lines", "acp:\n  exclude:\n    - a\n", "exclude", "b", ""},
		{"one line for all", "acp: {hold: 1s}\n", "memory", "off", ""},
		{"an alias", "x: &x 1s\nacp:\n  hold: *x\n", "hold", "2s", ""},
		{"no mapping", "- a\n", "hold", "2s", ""},
		{"a wrong value", "", "hold", "long", ""},
		{"an empty document", "# mine\n", "hold", "2s", "# mine\nacp:\n  hold: 2s\n"},
	} {
		got, err := Set([]byte(tt.before), tt.key, tt.value)
		if string(got) != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
	for name, hint := range map[string]string{"hodl": `"hold"`, "agents.claude.mpc": `"agents.claude.mcp"`, "zzz": ""} {
		_, err := Set(nil, name, "x")
		unknown := UnknownSetting{}
		if !errors.As(err, &unknown) || !strings.Contains(unknown.Hint, hint) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnset(t *testing.T) {
	for _, tt := range []struct{ name, before, key, want string }{
		{"no file", "", "hold", ""},
		{"not set", "acp:\n  db: x\n", "hold", "acp:\n  db: x\n"},
		{"a value and its comment", "acp:\n  # mine\n  hold: 1s # long\n  db: x", "hold", "acp:\n  # mine\n  db: x"},
		{"the last one", "name: Alto\nacp:\n  hold: 1s", "hold", "name: Alto\nacp:\n"},
		{"a block of lines", "acp:\n  exclude:\n    - a\n    - b\n  db: x\n", "exclude", "acp:\n  db: x\n"},
		{"an agent's", "acp:\r\n  agents:\r\n    claude:\r\n      mcp: off\r\n", "agents.claude.mcp",
			"acp:\r\n  agents:\r\n    claude:\r\n"},
		{"one that is gone", "acp:\n  fetch: 1s\n", "fetch", "acp:\n"},
		{"a list that ends on a line of its own", "acp:\n  exclude: [a,\n  ]\n", "exclude", "not editable"},
		{"one line for all", "acp: {hold: 1s, db: x}\n", "hold", "not editable"},
		{"lines of text", "acp:\n  agent_id: |\n    a\n    b\n", "agent_id", "not editable"},
	} {
		got, err := Unset([]byte(tt.before), tt.key)
		if err != nil && errors.Is(err, errNotEditable) {
			got = []byte("not editable")
		}
		if string(got) != tt.want {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
	if _, err := Unset(nil, "hodl"); !errors.As(err, new(UnknownSetting)) {
		t.Errorf("a misspelt one: %v", err)
	}
}

// Whatever the file holds, what is returned differs in that value alone.
func FuzzSet(f *testing.F) {
	f.Add("acp:\n  hold: 1s # x\n", "2s")
	f.Add("a: [b,\n c]\nacp:\n agents: {}\n", "15m")
	f.Fuzz(func(t *testing.T, before, value string) {
		after, err := Set([]byte(before), "hold", value)
		if err != nil {
			return
		}
		var was, is map[string]any
		if yaml.Unmarshal([]byte(before), &was) != nil || yaml.Unmarshal(after, &is) != nil {
			t.Fatalf("%q became %q", before, after)
		}
		for key := range was {
			if _, ok := is[key]; !ok {
				t.Errorf("%q lost %q: %q", before, key, after)
			}
		}
	})
}
