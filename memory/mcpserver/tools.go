package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A tool is one of the memory tools that exist whether a daemon runs or not. Names and arguments are the daemon's.
type tool struct {
	name, about string
	readOnly    bool
	destructive bool
	arguments   []argument
}

// A toolCall is a call of a tool, as the client made it.
type toolCall struct {
	who    memory.Session
	name   string
	raw    json.RawMessage // its arguments
	tool   tool            // zero: not one of ours
	values                 // of ours: the arguments, read
}

// A kind is what an argument may be, in the words of JSON Schema.
type kind string

const (
	text    kind = "string"
	number  kind = "number"
	integer kind = "integer"
	texts   kind = "array"  // of texts
	ratings kind = "object" // of numbers, by memory id
)

type argument struct {
	name     string
	kind     kind
	required bool
	instead  string  // of a required one: another that may stand in its place
	low      float64 // the least that a number may be
	high     float64 // the most
	about    string
}

const (
	maxResults = 1000    // of a search or a list
	maxText    = 1 << 20 // bytes of one text argument; what is stored has a tighter limit
	maxQueries = 5       // of one search
)

var tools = []tool{
	{
		name: searchTool, readOnly: true,
		about: "Search the memories of the user, their projects and earlier sessions, best match first. Each result " +
			"has its date, origin and session, and names the newer result that replaced it. It matches words: " +
			"name files, functions and errors; if an earlier session may have used other words, send two or three " +
			"queries instead of one. memory_get with a result's id returns the turn around it.",
		arguments: []argument{
			{name: "query", kind: text, required: true, instead: "queries",
				about: "three to eight words to search for; or use queries"},
			{name: "limit", kind: integer, low: 1, high: maxResults, about: "maximum number of results; default 10"},
			{name: "type", kind: text, about: "only memories of this type, such as fact, preference or decision"},
			{name: "min_score", kind: number, low: 0, high: 1, about: "minimum score of a result"},
			{name: "queries", kind: texts, high: maxQueries,
				about: "the same question in other words, at most 5; the results are merged"},
		},
	},
	{
		name: storeTool,
		about: "Save something for later sessions: a fact, a preference, a decision. " +
			"A memory with the same content is updated.",
		arguments: []argument{
			{name: "content", kind: text, required: true,
				about: "the text, clear without this conversation"},
			{name: "type", kind: text, about: "fact, preference, decision, …; default fact"},
			{name: "importance", kind: number, low: 0, high: 1, about: "0 to 1"},
			{name: "tags", kind: text, about: "comma-separated"},
		},
	},
	{
		name: "memory_get", readOnly: true,
		about: "Get one memory in full, by its id; for a passage of a conversation also the turn around it, and the " +
			"ids of the turns before and after.",
		arguments: []argument{
			{name: "id", kind: text, required: true, about: "an id from memory_search or memory_list"},
		},
	},
	{
		name: "memory_list", readOnly: true, about: "List memories, newest first.",
		arguments: []argument{
			{name: "limit", kind: integer, low: 1, high: maxResults, about: "maximum number; default 100"},
			{name: "offset", kind: integer, low: 0, high: math.MaxInt32, about: "number of newest memories to skip"},
			{name: "type", kind: text, about: "only memories of this type"},
		},
	},
	{
		name: "memory_modify", about: "Change a memory. Omitted arguments keep their values.", destructive: true,
		arguments: []argument{
			{name: "id", kind: text, required: true, about: "the memory"},
			{name: "content", kind: text, about: "the new text"},
			{name: "type", kind: text, about: "the new type"},
			{name: "importance", kind: number, low: 0, high: 1, about: "0 to 1"},
			{name: "tags", kind: text, about: "comma-separated"},
			{name: "reason", kind: text, required: true, about: "why"},
		},
	},
	{
		name: "memory_forget", about: "Forget a memory for good.", destructive: true,
		arguments: []argument{
			{name: "id", kind: text, required: true, about: "the memory"},
			{name: "reason", kind: text, required: true, about: "why"},
		},
	},
	{
		name: filesTool, readOnly: true,
		about: "Find files of this project by earlier work, best match first, each with the sessions that edited or " +
			"read it and the user's words there. With a path: what earlier sessions did to that file, and why.",
		arguments: []argument{
			{name: "query", kind: text, required: true, about: "what the work is about, in a few words; or a path"},
			{name: "limit", kind: integer, low: 1, high: maxResults, about: "maximum number of files; default 10"},
		},
	},
	{
		name: feedbackTool, about: "Rate how helpful memories were.",
		arguments: []argument{
			{name: "session_key", kind: text, about: "the session that recalled them; default this one"},
			{name: "ratings", kind: ratings, required: true, low: -1, high: 1,
				about: "memory id to a number from -1 (harmful) to 1 (helpful)"},
		},
	},
}

// searchTool searches the daemon's memories, and our own for what those do not hold.
const searchTool = "memory_search"

// filesTool finds files, which the daemon does not know.
const filesTool = "memory_files"

// storeTool is the tool that stores a memory.
const storeTool = "memory_store"

// feedbackTool rates memories for the session in which they were given. The model does not know that session's key, and
// a daemon rejects ratings of what was not given under the key.
const feedbackTool = "memory_feedback"

// toolNamed returns the memory tool with a name.
func toolNamed(name string) (tool, bool) {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name })
	if i < 0 {
		return tool{}, false
	}
	return tools[i], true
}

// describe returns the tool as tools/list shows it.
func (t tool) describe() *mcp.Tool {
	properties, required := map[string]any{}, []string{}
	for _, a := range t.arguments {
		properties[a.name] = a.schema()
		if a.required && a.instead == "" {
			required = append(required, a.name)
		}
	}
	closed := false
	return &mcp.Tool{
		Name: t.name, Description: t.about,
		InputSchema: map[string]any{"type": "object", "properties": properties, "required": required},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.readOnly, DestructiveHint: &t.destructive,
			OpenWorldHint: &closed},
	}
}

// schema describes the argument in JSON Schema.
func (a argument) schema() map[string]any {
	p := map[string]any{"type": a.kind, "description": a.about}
	switch a.kind {
	case texts:
		p["items"], p["minItems"], p["maxItems"] = map[string]any{"type": text}, 1, a.high
	case ratings:
		p["additionalProperties"] = map[string]any{"type": number, "minimum": a.low, "maximum": a.high}
	case number, integer:
		p["minimum"], p["maximum"] = a.low, a.high
	}
	return p
}

// values are the arguments of a call, checked and decoded: string, float64, []string or map[string]float64 by name.
type values map[string]any

func (v values) text(name string) string {
	s, _ := v[name].(string)
	return s
}

// queries are those of a search: several, or the one.
func (v values) queries() []string {
	if all, ok := v["queries"].([]string); ok {
		return all
	}
	return []string{v.text("query")}
}

func (v values) integer(name string) int {
	n, _ := v[name].(float64)
	return int(n)
}

// optional returns an argument as a pointer, nil where the caller left it out.
func optional[T any](v values, name string) *T {
	if x, ok := v[name].(T); ok {
		return &x
	}
	return nil
}

// read checks and decodes a call's arguments. Unknown ones are ignored, as the daemon does; null counts as left out.
// The error tells the agent what to do.
func (t tool) read(raw json.RawMessage) (values, error) {
	fields := map[string]json.RawMessage{}
	if len(raw) > 0 && json.Unmarshal(raw, &fields) != nil {
		return nil, fmt.Errorf("%s takes an object of arguments: %s", t.name, t.usage())
	}
	v := values{}
	for _, a := range t.arguments {
		field, ok := fields[a.name]
		if !ok || bytes.Equal(field, []byte("null")) {
			if _, other := fields[a.instead]; a.required && !other {
				return nil, fmt.Errorf("%s is missing: %s", a.name, t.usage())
			}
			continue
		}
		x, err := a.read(field)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		v[a.name] = x
	}
	return v, nil
}

// usage names the arguments, optional ones in brackets.
func (t tool) usage() string {
	var names []string
	for _, a := range t.arguments {
		if a.required {
			names = append(names, a.name)
		} else {
			names = append(names, "["+a.name+"]")
		}
	}
	return t.name + " takes " + strings.Join(names, ", ")
}

// read checks and decodes one argument.
func (a argument) read(raw json.RawMessage) (any, error) {
	switch a.kind {
	case text:
		return a.readText(raw)
	case texts:
		return a.readTexts(raw)
	case ratings:
		return a.readRatings(raw)
	}
	return a.readNumber(raw)
}

func (a argument) readText(raw json.RawMessage) (string, error) {
	var s string
	switch {
	case json.Unmarshal(raw, &s) != nil:
		return "", fmt.Errorf("must be text: %s", a.about)
	case a.required && strings.TrimSpace(s) == "":
		return "", fmt.Errorf("is empty; must be %s", a.about)
	case len(s) > maxText:
		return "", fmt.Errorf("has %d bytes; the maximum is %d", len(s), maxText)
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError)), nil
}

func (a argument) readTexts(raw json.RawMessage) ([]string, error) {
	var list []string
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 || len(list) > int(a.high) {
		return nil, fmt.Errorf("must be a list of 1 to %v texts", a.high)
	}
	for i, s := range list {
		if strings.TrimSpace(s) == "" || len(s) > maxText {
			return nil, fmt.Errorf("one of them has %d bytes; send words", len(s))
		}
		list[i] = strings.ToValidUTF8(s, string(utf8.RuneError))
	}
	return list, nil
}

func (a argument) readRatings(raw json.RawMessage) (map[string]float64, error) {
	var m map[string]float64
	if json.Unmarshal(raw, &m) != nil || len(m) == 0 {
		return nil, fmt.Errorf("must be an object: %s", a.about)
	}
	for id, n := range m {
		if n < a.low || n > a.high {
			return nil, fmt.Errorf("%v of %.40q is not a number from %v to %v", n, id, a.low, a.high)
		}
	}
	return m, nil
}

func (a argument) readNumber(raw json.RawMessage) (float64, error) {
	var n float64
	whole := ""
	if a.kind == integer {
		whole = " whole"
	}
	switch {
	case json.Unmarshal(raw, &n) != nil, a.kind == integer && n != math.Trunc(n):
		return 0, fmt.Errorf("must be a%s number from %v to %v", whole, a.low, a.high)
	case n < a.low:
		return 0, fmt.Errorf("%v is too low; must be %v to %v", n, a.low, a.high)
	case n > a.high:
		return 0, fmt.Errorf("%v is too high; must be %v to %v", n, a.low, a.high)
	}
	return n, nil
}

// addQueries lets a daemon's search take several queries, which it is asked one by one.
func addQueries(t *mcp.Tool) {
	schema, _ := t.InputSchema.(map[string]any)
	properties, ok := schema["properties"].(map[string]any)
	ours, _ := toolNamed(searchTool)
	for _, a := range ours.arguments {
		if _, has := properties[a.name]; ok && a.kind == texts && !has {
			properties[a.name] = a.schema()
		}
	}
}
