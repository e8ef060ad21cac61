package backfill

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// A content is what a message consists of. In JSON it is a string, or a list of blocks of which texts are taken, and
// that a tool was called.
type content []piece

// A piece of a message is a text, a tool that was called, or its result.
type piece struct {
	text   string
	call   *Tool
	id     string // of the call
	result *result
}

// A result is what came of a tool's call, as the Anthropic API has it.
type result struct {
	ToolUseID string  `json:"tool_use_id"`
	IsError   bool    `json:"is_error"`
	Content   content `json:"content"`
}

// A call is that a tool was called, in the JSON of any harness.
type call struct {
	Name      string          `json:"name"`
	Tool      string          `json:"toolName"`
	Input     json.RawMessage `json:"input"`
	Args      json.RawMessage `json:"args"`
	Arguments json.RawMessage `json:"arguments"`
	ID        string          `json:"id"`
}

func (c call) tool() Tool {
	return toolCall(cmp.Or(c.Name, c.Tool), cmp.Or(string(c.Input), string(c.Args), string(c.Arguments)))
}

// A block is a part of a message in the JSON of any harness.
type block struct {
	call
	Type string `json:"type"`
	Text string `json:"text"`
	result
	Thought   json.RawMessage `json:"thought"`
	Synthetic bool            `json:"synthetic"` // not the user's, in OpenCode's

	Function *call                `json:"functionCall"` // as the Gemini API has it
	ToolUse  *call                // Zed's
	Request  struct{ Value call } `json:"toolCall"` // Goose's
	Tool     string               `json:"tool"`     // OpenCode's
	State    struct {
		Input    json.RawMessage
		Metadata struct{ Exit *int }
	} `json:"state"`
	Data struct { // Crush's
		call
		Text string `json:"text"`
	} `json:"data"`
}

// callTypes are the types of blocks that say that a tool was called, in lower case.
var callTypes = []string{"tool_use", "toolcall", "tool-call", "toolrequest", "tool_call", "tool"}

// piece returns what is taken of a block. ok is false where that is nothing.
func (b block) piece() (p piece, ok bool) {
	kind := strings.ToLower(b.Type)
	tool := cmp.Or(b.Function, b.ToolUse)
	if tool == nil && slices.Contains(callTypes, kind) {
		all := []call{b.call, b.Request.Value, b.Data.call, {Name: b.Tool, Input: b.State.Input}}
		named := slices.IndexFunc(all, func(c call) bool { return cmp.Or(c.Name, c.Tool) != "" })
		tool = &all[max(named, 0)]
	}
	switch {
	case tool != nil:
		made := tool.tool()
		made.Exit = b.State.Metadata.Exit
		return piece{call: &made, id: tool.ID}, true
	case kind == "tool_result":
		return piece{result: &b.result}, true
	case kind == "" || kind == "text" || kind == "input_text" || kind == "output_text":
		text := cmp.Or(b.Text, b.Data.Text)
		return piece{text: text}, text != "" && b.Thought == nil && !b.Synthetic
	}
	return piece{}, false
}

// UnmarshalJSON takes either form. Of any other it takes nothing, and returns no error: the line's other fields count.
func (c *content) UnmarshalJSON(b []byte) error {
	var text string
	var blocks []block
	switch {
	case json.Unmarshal(b, &text) == nil:
		*c = content{{text: text}}
	case decode(b, &blocks):
		for _, block := range blocks {
			if p, ok := block.piece(); ok {
				*c = append(*c, p)
			}
		}
	}
	return nil
}

// prompt makes one text of what the user says, in which each block can be told.
func (c content) prompt() string { return c.with(chars.BlockMark) }

// join makes one text of all.
func (c content) join() string { return c.with("\n\n") }

// with makes one text of all, without our block, which is a text of its own.
func (c content) with(between string) string {
	var own []string
	for _, p := range c {
		if text := strings.TrimSpace(ourBlock().ReplaceAllString(p.text, "")); text != "" {
			own = append(own, text)
		}
	}
	return strings.Join(own, between)
}
