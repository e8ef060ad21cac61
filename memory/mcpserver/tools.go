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
)

// A tool is one of the memory tools that exist whether a daemon runs or not. Names and arguments are the daemon's.
type tool struct {
	name, about string
	readOnly    bool
	destructive bool
	arguments   []argument
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
		about: "Search what is remembered about the user, their projects and earlier sessions. Best first, the " +
			"user's own words among them; each result says when it was said, by whom and in which session, and which " +
			"newer one has replaced it. It goes by words: name files, functions, errors, " +
			"and where other words may have " +
			"been used for the thing, give two or three queries instead of one. memory_get with a result's id gives " +
			"the turn around it.",
		arguments: []argument{
			{name: "query", kind: text, required: true, instead: "queries",
				about: "what to look for, in three to eight words; or give queries"},
			{name: "limit", kind: integer, low: 1, high: maxResults, about: "at most so many results; 10 if not given"},
			{name: "type", kind: text, about: "only memories of this type, such as fact, preference or decision"},
			{name: "min_score", kind: number, low: 0, high: 1, about: "only results that score at least this"},
			{name: "queries", kind: texts, high: maxQueries,
				about: "the same in other words, at most 5; their results are merged"},
		},
	},
	{
		name: "memory_store",
		about: "Remember something for later sessions: a fact, a preference, a decision. " +
			"What stands already is updated.",
		arguments: []argument{
			{name: "content", kind: text, required: true,
				about: "what to remember, in words that are clear without this conversation"},
			{name: "type", kind: text, about: "fact, preference, decision, …; fact if not given"},
			{name: "importance", kind: number, low: 0, high: 1, about: "0 to 1"},
			{name: "tags", kind: text, about: "comma-separated"},
		},
	},
	{
		name: "memory_get", readOnly: true,
		about: "Get one memory whole, by its id; of what was said in a conversation also the turn around it, and the " +
			"ids by which the turns before and after it are read.",
		arguments: []argument{
			{name: "id", kind: text, required: true, about: "as memory_search or memory_list gave it"},
		},
	},
	{
		name: "memory_list", readOnly: true, about: "List memories, the newest first.",
		arguments: []argument{
			{name: "limit", kind: integer, low: 1, high: maxResults, about: "at most so many; 100 if not given"},
			{name: "offset", kind: integer, low: 0, high: math.MaxInt32, about: "how many of the newest to pass over"},
			{name: "type", kind: text, about: "only memories of this type"},
		},
	},
	{
		name: "memory_modify", about: "Change a memory. What is not given stays.", destructive: true,
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
		about: "Find the files of this project that earlier work on something touched, best first, each with the " +
			"sessions that edited or read it and the user's words there. With a path: what was done to that file, and why.",
		arguments: []argument{
			{name: "query", kind: text, required: true, about: "what the work is about, in a few words; or a path"},
			{name: "limit", kind: integer, low: 1, high: maxResults, about: "at most so many files; 10 if not given"},
		},
	},
	{
		name: "memory_feedback", about: "Say how helpful memories were.",
		arguments: []argument{
			{name: "session_key", kind: text, about: "the session in which they were given; this one if not given"},
			{name: "ratings", kind: ratings, required: true, low: -1, high: 1,
				about: "memory id to a number from -1 (harmful) to 1 (helpful)"},
		},
	},
}

// filesTool finds files, which the daemon does not know.
const filesTool = "memory_files"

// storeTool is the tool that stores a memory.
const storeTool = "memory_store"

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

// list returns a text argument, or the texts that stand in its place.
func (v values) list(name, instead string) []string {
	if all, ok := v[instead].([]string); ok {
		return all
	}
	return []string{v.text(name)}
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
		return "", fmt.Errorf("give a text (%s)", a.about)
	case a.required && strings.TrimSpace(s) == "":
		return "", fmt.Errorf("is empty; give %s", a.about)
	case len(s) > maxText:
		return "", fmt.Errorf("has %d bytes; give at most %d", len(s), maxText)
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError)), nil
}

func (a argument) readTexts(raw json.RawMessage) ([]string, error) {
	var list []string
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 || len(list) > int(a.high) {
		return nil, fmt.Errorf("give a list of 1 to %v texts", a.high)
	}
	for i, s := range list {
		if strings.TrimSpace(s) == "" || len(s) > maxText {
			return nil, fmt.Errorf("one of them has %d bytes; give words", len(s))
		}
		list[i] = strings.ToValidUTF8(s, string(utf8.RuneError))
	}
	return list, nil
}

func (a argument) readRatings(raw json.RawMessage) (map[string]float64, error) {
	var m map[string]float64
	if json.Unmarshal(raw, &m) != nil || len(m) == 0 {
		return nil, fmt.Errorf("give an object, %s", a.about)
	}
	for id, n := range m {
		if n < a.low || n > a.high {
			return nil, fmt.Errorf("%v of %.40q is no number from %v to %v", n, id, a.low, a.high)
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
		return 0, fmt.Errorf("give a%s number from %v to %v", whole, a.low, a.high)
	case n < a.low:
		return 0, fmt.Errorf("%v is too low; give a number from %v to %v", n, a.low, a.high)
	case n > a.high:
		return 0, fmt.Errorf("%v is too high; give a number from %v to %v", n, a.low, a.high)
	}
	return n, nil
}
