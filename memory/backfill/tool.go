package backfill

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// A Tool is a tool that the agent called: what for, and which files the call names. Neither what was written to them
// nor what came back is kept.
type Tool struct {
	Title  string
	Kind   string // ACP's: read, edit, execute, search, fetch, other; or planKind
	Paths  []string
	Failed bool
	Exit   *int     // of a command; nil: not known
	Steps  []string // of a plan: those that are not done
}

const planKind = "plan"

const (
	maxTools = 256 // of a turn
	maxTitle = 200 // bytes
)

// toolKinds maps words that stand in the names of tools to ACP's kinds; the first that fits counts.
var toolKinds = []struct{ kind, words string }{
	{"edit", "edit write patch replace"}, {"execute", "bash shell exec command terminal"},
	{"search", "grep glob search"}, {"fetch", "fetch"}, {"read", "read view list ls"},
}

// newTool makes a Tool of a call: what it was for is the command, else the name with the first path.
func newTool(name, command string, paths ...string) Tool {
	t := Tool{Title: name, Kind: "other", Paths: paths}
	for _, k := range toolKinds {
		for word := range strings.FieldsSeq(k.words) {
			if t.Kind == "other" && strings.Contains(strings.ToLower(name), word) {
				t.Kind = k.kind
			}
		}
	}
	switch {
	case command != "":
		t.Title = command
	case len(paths) > 0:
		t.Title += " " + paths[0]
	}
	t.Title = chars.Cut(strings.TrimSpace(t.Title), maxTitle)
	return t
}

// toolCall makes a Tool of a call's name and its arguments, a JSON object or, of a patch, a text.
func toolCall(name string, arguments string) Tool {
	var text string
	if json.Unmarshal([]byte(arguments), &text) == nil { // codex writes them as JSON in a string, a patch as it is
		arguments = text
	}
	var in struct {
		FilePath     string          `json:"file_path"`
		NotebookPath string          `json:"notebook_path"`
		Path         string          `json:"path"`
		CamelPath    string          `json:"filePath"`
		AbsolutePath string          `json:"absolute_path"`
		TargetFile   string          `json:"target_file"`
		Pattern      string          `json:"pattern"`
		Cmd          string          `json:"cmd"`
		Command      json.RawMessage `json:"command"`
		Todos        []step          `json:"todos"`
		Plan         []step          `json:"plan"`
	}
	decode([]byte(arguments), &in)
	var paths []string
	if path := cmp.Or(in.FilePath, in.NotebookPath, in.Path, in.CamelPath, in.AbsolutePath, in.TargetFile); path != "" {
		paths = []string{path}
	}
	for _, file := range patchedFile().FindAllStringSubmatch(text, -1) {
		paths = append(paths, file[1])
	}
	if steps := append(in.Todos, in.Plan...); len(steps) > 0 {
		return planOf(steps)
	}
	command := commandOf(in.Command) + in.Cmd
	if command == "" && len(paths) == 0 && in.Pattern != "" {
		command = name + " " + in.Pattern
	}
	return newTool(name, command, paths...)
}

// A step of a plan, as the tools of several harnesses take it.
type step struct{ Content, Step, Description, Status string }

func planOf(steps []step) Tool {
	t := Tool{Title: fmt.Sprintf("Plan of %d steps", len(steps)), Kind: planKind}
	for _, s := range steps {
		if text := cmp.Or(s.Content, s.Step, s.Description); s.Status != "completed" && text != "" {
			t.Steps = append(t.Steps, chars.Cut(text, maxTitle))
		}
	}
	return t
}

// patchedFile finds the files that a patch of codex's own form changes.
var patchedFile = pattern.New(`(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$`)

// commandOf returns a command line: a string, or a list of words that may begin with a shell and its flags.
func commandOf(raw json.RawMessage) string {
	var line string
	if json.Unmarshal(raw, &line) == nil {
		return line
	}
	var words []string
	if json.Unmarshal(raw, &words) != nil {
		return ""
	}
	if len(words) == 3 && shell().MatchString(words[0]) && strings.HasPrefix(words[1], "-") {
		return words[2]
	}
	return strings.Join(words, " ")
}

var shell = pattern.New(`^(?:.*/)?(?:ba|z|da)?sh$`)
