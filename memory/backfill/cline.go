package backfill

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// cline is Cline: tasks/TASK/api_conversation_history.json in the storage that an editor gives its extension
// (src/core/storage/disk.ts at 0162b828), and ~/.cline/data/sessions/SESSION/….messages.json of its newer command line.
var cline = tasks("cline", "saoudrizwan.claude-dev", func(p Place) []string {
	return []string{filepath.Join(p.env("CLINE_DIR", ".cline"), "data", "sessions")}
})

// roo is Roo Code, which was made of Cline (src/core/task-persistence/apiMessages.ts at 286c4658).
var roo = tasks("roo", "rooveterinaryinc.roo-cline", func(p Place) []string {
	return []string{filepath.Join(p.Home, ".vscode-mock", "global-storage", "tasks")}
})

// kilo is Kilo Code: at first made of Roo Code; since 7.2 it keeps OpenCode's database as ~/.local/share/kilo/kilo.db.
var kilo = tasks("kilo", "kilocode.kilo-code", func(p Place) []string { return []string{p.data("kilo", "kilo.db")} })

// tasks makes the format of an extension that keeps tasks as Cline does, and of more folders.
func tasks(agent, extension string, more func(Place) []string) format {
	return format{
		agent: agent,
		roots: func(p Place) []string { return append(p.allEditors("globalStorage", extension, "tasks"), more(p)...) },
		match: func(rel string) bool {
			name := rel[strings.LastIndex(rel, "/")+1:]
			return name == "api_conversation_history.json" || rel == "." ||
				strings.HasSuffix(name, ".messages.json")
		},
		read: func(ctx context.Context, p Place, path string, yield func(Conversation) error) error {
			if filepath.Base(path) == "kilo.db" {
				return opencodeTables.read(ctx, p, path, yield)
			}
			return readTask(ctx, p, path, yield)
		},
	}
}

// A task is the file of a conversation: in older versions the list of its messages alone.
type task struct {
	Agent    string `json:"agent"`
	Messages []struct {
		Role      string      `json:"role"`
		Content   taskContent `json:"content"`
		At        stamp       `json:"ts"`
		IsSummary bool        `json:"isSummary"`
		IsMark    bool        `json:"isTruncationMarker"`
	} `json:"messages"`
}

// UnmarshalJSON takes either form.
func (t *task) UnmarshalJSON(text []byte) error {
	type object task
	if text[0] == '[' {
		return json.Unmarshal(text, &t.Messages)
	}
	return json.Unmarshal(text, (*object)(t))
}

var readTask = jsonFile(func(b *builder, t task) {
	b.ID = filepath.Base(filepath.Dir(b.File))
	if t.Agent != "" && t.Agent != "lead" { // one of a team
		b.Parent, b.ID = b.ID, strings.TrimSuffix(filepath.Base(b.File), ".messages.json")
	}
	var at time.Time
	b.Cwd, at = taskHead(b.File)
	for _, m := range t.Messages {
		if found := taskFolder().FindStringSubmatch(m.Content.all); b.Cwd == "" && found != nil {
			b.Cwd = found[1]
		}
		at = latest(at, m.At.Time)
		switch {
		case m.IsSummary || m.IsMark:
			b.note(summary)
		case m.Role == "assistant":
			b.answered(m.Content.answer(), at)
		case m.Role == "user":
			b.user(m.Content.words(), at)
		}
	}
})

// taskFolder finds the folder in what these harnesses tell their model.
var taskFolder = pattern.New(`(?m)^# Current (?:Working|Workspace) Directory \((.+?)\) Files`)

// taskHead returns the folder and the beginning of a task, as far as a file beside it says them; else its last change.
func taskHead(path string) (folder string, at time.Time) {
	dir := filepath.Dir(path)
	type head struct {
		ID        string `json:"id"`
		At        stamp  `json:"ts"`
		Started   stamp  `json:"started_at"`
		Cwd       string `json:"cwd"`
		Root      string `json:"workspace_root"`
		Workspace string `json:"workspace"`
		Folder    string `json:"cwdOnTaskInitialization"`
	}
	var all []head // without these files nothing is known
	_ = readJSON(filepath.Join(filepath.Dir(filepath.Dir(dir)), "state", "taskHistory.json"), &all)
	for _, name := range []string{"history_item.json", filepath.Base(dir) + ".json"} {
		var one head
		if readJSON(filepath.Join(dir, name), &one) == nil {
			one.ID = filepath.Base(dir)
			all = append(all, one)
		}
	}
	for _, one := range all {
		if one.ID == filepath.Base(dir) {
			folder = cmp.Or(folder, one.Cwd, one.Root, one.Workspace, one.Folder)
			at = latest(one.At.Time, one.Started.Time)
		}
	}
	if at.IsZero() {
		at = modified(path)
	}
	return folder, at
}

// A taskContent is a message's content, and all its text, also that in results of tools: what a person answers to the
// agent stands there.
type taskContent struct {
	content
	all string
}

// UnmarshalJSON takes any form, as that of content does.
func (c *taskContent) UnmarshalJSON(b []byte) error {
	var blocks []struct {
		Text    string  `json:"text"`
		Content content `json:"content"`
	}
	if json.Unmarshal(b, &c.all) != nil && decode(b, &blocks) {
		var texts []string
		for _, block := range blocks {
			texts = append(texts, block.Text, block.Content.join())
		}
		c.all = strings.Join(texts, "\n")
	}
	return c.content.UnmarshalJSON(b)
}

// taskWords are the elements in which a person's words stand.
var taskWords = pattern.New(`(?s)<(task|feedback|answer|user_message|user_input)\b[^>]*>\s*(.*?)\s*</(?:task|feedback|` +
	`answer|user_message|user_input)>`)

// words returns what a person has said. Without such elements a text that begins with a bracket is the harness's: a
// tool's result, or an order to go on.
func (c taskContent) words() string {
	if text := c.join(); !taskWords().MatchString(c.all) && !strings.HasPrefix(text, "[") {
		return text
	}
	return elements(taskWords(), c.all)
}

// elements returns what stands in all elements that a pattern finds, in its last group.
func elements(p *regexp.Regexp, text string) string {
	var said []string
	for _, found := range p.FindAllStringSubmatch(text, -1) {
		said = append(said, found[len(found)-1])
	}
	return strings.Join(said, "\n\n")
}

// taskTools are the elements in which older versions have their model call tools, and the one in them that is said.
var taskTools = map[string]string{
	"attempt_completion": "result", "ask_followup_question": "question", "plan_mode_respond": "response",
	"read_file": "", "write_to_file": "", "replace_in_file": "", "apply_diff": "", "insert_content": "",
	"search_and_replace": "", "search_files": "", "list_files": "", "list_code_definition_names": "",
	"execute_command": "", "browser_action": "", "use_mcp_tool": "", "access_mcp_resource": "", "new_task": "",
	"switch_mode": "", "fetch_instructions": "", "update_todo_list": "", "codebase_search": "",
}

// taskTag finds the beginning of an element.
var taskTag = pattern.New(`<(thinking|[a-z_]+)>`)

// answer returns what the agent has said, and the tools that it called, in either form.
func (c taskContent) answer() (all content) {
	for _, p := range c.content {
		if p.call != nil {
			all = append(all, p)
			continue
		}
		endless := map[string]bool{}
		for text := p.text; text != ""; {
			before, name, inner, rest := nextElement(text, endless)
			all = append(all, piece{text: before})
			said, isTool := taskTools[name]
			switch {
			case said != "":
				all = append(all, piece{text: elementIn(inner, said)})
			case isTool:
				var paths []string
				if path := elementIn(inner, "path"); path != "" {
					paths = []string{path}
				}
				call := newTool(name, elementIn(inner, "command"), paths...)
				all = append(all, piece{call: &call})
			}
			text = rest
		}
	}
	return all
}

// nextElement cuts a text at the first element that calls a tool or holds thoughts. It notes the names of those that
// end nowhere, so that they are not looked for again and again.
func nextElement(text string, endless map[string]bool) (before, name, inner, rest string) {
	for at := 0; ; {
		found := taskTag().FindStringSubmatchIndex(text[at:])
		if found == nil {
			return text, "", "", ""
		}
		name = text[at+found[2] : at+found[3]]
		if _, isTool := taskTools[name]; (isTool || name == "thinking") && !endless[name] {
			inner, rest, closed := strings.Cut(text[at+found[1]:], "</"+name+">")
			if closed {
				return text[:at+found[0]], name, inner, rest
			}
			endless[name] = true
		}
		at += found[1]
	}
}

// elementIn returns what stands in the first element of a name, "" for none.
func elementIn(text, name string) string {
	_, text, _ = strings.Cut(text, "<"+name+">")
	text, _, _ = strings.Cut(text, "</"+name+">")
	return strings.TrimSpace(text)
}
