package delegation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	acp "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
)

// What agents ask for as real ones spell it, and whether each mode allows it.
func TestPolicy(t *testing.T) {
	for _, tt := range []struct {
		name, call  string
		read, edit  bool
		withExecute bool // in edit, where a person has allowed that
	}{
		{"reading", `{"kind":"read","title":"Read a.go"}`, true, true, true},
		{"searching", `{"kind":"search"}`, true, true, true},
		{"editing", `{"kind":"edit","locations":[{"path":"/tree/a.go"}]}`, false, true, true},
		{"by its input", `{"kind":"edit","rawInput":{"file_path":"/tree/a.go","content":"x"}}`, false, true, true},
		{"by what it shows", `{"kind":"edit","content":[{"type":"diff","path":"/tree/a.go","newText":"x"}]}`, false, true, true},
		{"several", `{"kind":"edit","rawInput":{"changes":{"/tree/a.go":{},"/tree/b.go":{}}}}`, false, true, true},
		{"one of them outside", `{"kind":"edit","rawInput":{"changes":{"/tree/a.go":{},"/etc/b":{}}}}`, false, false, false},
		{"outside", `{"kind":"edit","locations":[{"path":"/etc/passwd"}]}`, false, false, false},
		{"inside, and writing outside",
			`{"kind":"edit","locations":[{"path":"/tree/a"}],"rawInput":{"path":"/etc/x"}}`, false,
			false, false},
		{"no file", `{"kind":"edit","title":"Write a file"}`, false, false, false},
		{"deleting", `{"kind":"delete","rawInput":{"path":"/tree/a.go"}}`, false, true, true},
		{"moving out", `{"kind":"move","rawInput":{"source":"/tree/a.go","destination":"/tmp/a.go"}}`, false, false, false},
		{"git's own", `{"kind":"edit","locations":[{"path":"/tree/sub/.git"}]}`, false, false, false},
		{"git's own, otherwise spelled", `{"kind":"edit","locations":[{"path":"/tree/.GIT/config"}]}`, false, false, false},
		{"git's own by NTFS", `{"kind":"edit","locations":[{"path":"/tree/git~1/config"}]}`, false, false, false},
		{"git's own in another argument",
			`{"kind":"edit","locations":[{"path":"/tree/a"}],"rawInput":{"to":"sub/.git/config"}}`, false, false, false},
		{"git's own in a list",
			`{"kind":"edit","rawInput":{"edits":[{"file_path":"/tree/a"},{"file_path":"/tree/.git/x"}]}}`, false, false, false},
		{"git's own in a patch", `{"kind":"edit","locations":[{"path":"/tree/a"}],
			"rawInput":{"patch":"*** Begin Patch\n*** Add File: /tree/.git/x\n"}}`, false, false, false},
		{"text that speaks of it", `{"kind":"edit","rawInput":{"path":"/tree/a","content":"see .git and\n.git/x"}}`, false,
			true, true},
		{"a kind that begins like another", `{"kind":"reading","title":"Read a.go"}`, false, false, false},
		{"executing", `{"kind":"execute","title":"rm -rf /"}`, false, false, true},
		{"fetching", `{"kind":"fetch"}`, false, false, false},
		{"leaving a mode", `{"kind":"switch_mode","title":"Ready to code?"}`, false, false, false},
		{"something else", `{"kind":"other","title":"Delegate"}`, false, false, false},
		{"no kind", `{"title":"memory_search"}`, false, false, false},
		{"our search, claude", `{"kind":"other","title":"mcp__signet__memory_search"}`, true, true, true},
		{"our search, gemini", `{"kind":"other","title":"memory_search (signet MCP Server)"}`, true, true, true},
		{"our search, opencode", `{"kind":"other","title":"signet_memory_search"}`, true, true, true},
		{"our delegate", `{"kind":"other","title":"mcp__signet__delegate"}`, true, true, true},
		{"our search, and more", `{"kind":"other","title":"mcp__signet__memory_search; rm -rf /"}`, false, false, false},
		{"our search, a line below", `{"kind":"other","title":"rm\nsignet_memory_search"}`, false, false, false},
		{"not ours", `{"kind":"other","title":"signet_delegated"}`, false, false, false},
		{"storing", `{"kind":"other","title":"mcp__signet__memory_store"}`, false, true, true},
		{"forgetting", `{"kind":"other","title":"mcp__signet__memory_forget"}`, false, false, false},
		{"another's tool", `{"kind":"other","title":"mcp__evil__signet_memory_search"}`, false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var call acpclient.ToolCall
			if err := json.Unmarshal([]byte(tt.call), &call); err != nil {
				t.Fatal(err)
			}
			call.ID = "c"
			inside := func(path string) bool { return strings.HasPrefix(path, "/tree/") }
			got := []bool{
				(&policy{mode: Read, inside: inside}).allow(call), (&policy{mode: Edit, inside: inside}).allow(call),
				(&policy{mode: Edit, inside: inside, allowedKinds: []string{"execute"}}).allow(call),
			}
			if diff := cmp.Diff([]bool{tt.read, tt.edit, tt.withExecute}, got); diff != "" {
				t.Errorf("read, edit, with execute (-want +got):\n%s", diff)
			}
		})
	}
}

// A request for permission may leave out what was told of the call before; what was refused is told.
func TestPolicyRemembers(t *testing.T) {
	p := &policy{mode: Edit, inside: func(string) bool { return false }}
	p.remember(acpclient.ToolCall{ID: "1", ToolKind: "read", Title: "Read"})
	p.remember(acpclient.ToolCall{ID: "2", ToolKind: "edit", Title: "Write\nhere",
		Input: json.RawMessage(`{"path":"/etc/x"}`)})
	ours := acpclient.ToolCall{ID: "4", ToolKind: "other", Title: "Search"}
	ours.Meta.Claude.Tool = "mcp__signet__memory_search"
	p.remember(ours)
	if !p.allow(acpclient.ToolCall{ID: "1"}) || p.allow(acpclient.ToolCall{ID: "2"}) || !p.allow(acpclient.ToolCall{ID: "4"}) {
		t.Error("what was told before is forgotten")
	}
	if diff := cmp.Diff([]string{"Write here: /etc/x is outside its folder"}, p.refused); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for range 3 * maxRefused {
		p.allow(acpclient.ToolCall{ID: "3"})
	}
	if len(p.refused) != maxRefused {
		t.Errorf("%d are told", len(p.refused))
	}
}

// The answer is the last message that holds something; a notice that comes without an id beside messages that have
// one is none. A long one keeps its beginning and its end.
func TestAnswer(t *testing.T) {
	say := func(id, text string) acpclient.Update {
		return acpclient.Update{Kind: "agent_message_chunk", Message: id,
			ToolCall: acpclient.ToolCall{Content: acpclient.Content{Text: text}}}
	}
	tool := acpclient.Update{Kind: "tool_call", ToolCall: acpclient.ToolCall{ID: "t", Title: "Read"}}
	long := strings.Repeat("é", 3*maxAnswer)
	for name, tt := range map[string]struct {
		said []acpclient.Update
		want string
	}{
		"chunks":              {[]acpclient.Update{say("", "one "), say("", "two")}, "one two"},
		"after a tool":        {[]acpclient.Update{say("", "Let me look."), tool, say("", "It is grey.")}, "It is grey."},
		"while a tool works":  {[]acpclient.Update{tool, say("", "It is "), tool, say("", "grey.")}, "It is grey."},
		"nothing after it":    {[]acpclient.Update{say("", "It is grey."), tool, say("", " ")}, "It is grey."},
		"messages":            {[]acpclient.Update{say("a", "First."), say("b", "Second.")}, "Second."},
		"a notice behind":     {[]acpclient.Update{say("a", "It is grey."), say("", "**Warning:** old")}, "It is grey."},
		"a notice before":     {[]acpclient.Update{say("", "Warning: x"), say("a", "It is grey.")}, "It is grey."},
		"nothing but notices": {[]acpclient.Update{say("", "Warning: x")}, "Warning: x"},
	} {
		c := &child{tools: map[string]bool{}, stop: func(State, string) {}}
		for _, u := range tt.said {
			c.Update(u)
		}
		if got := c.over().Answer; got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	c := &child{tools: map[string]bool{}, stop: func(State, string) {}}
	c.Update(say("", "[MODE_UPDATE] plan")) // gemini's, when it is put into its mode
	c.taskSent()
	c.Update(say("", "It is grey."))
	if got := c.over().Answer; got != "It is grey." {
		t.Errorf("with what was said before the task: %q", got)
	}
	for i := range 10_000 {
		c.tools[fmt.Sprint(i)] = true
	}
	c.Update(tool) // one more than are counted
	if c.usage.Turns != 10_001 {
		t.Errorf("%d turns", c.usage.Turns)
	}
	c = &child{tools: map[string]bool{}, stop: func(State, string) {}}
	for range 20 {
		c.Update(say("", long))
	}
	got := c.over().Answer
	if len(got) > 4*maxAnswer || !strings.HasPrefix(got, "éé") || !strings.HasSuffix(got, "éé") ||
		!strings.Contains(got, "bytes left out") || strings.Contains(got, "\ufffd") {
		t.Errorf("%d bytes: %.40q … %.40q", len(got), got, got[max(0, len(got)-40):])
	}
}

// A bound that is reached ends it, with what others used whom it asked.
func TestBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		budget Budget
		do     func(c *child)
		want   string
	}{
		"turns": {Budget{Turns: 3}, func(c *child) {
			for _, id := range []string{"1", "1", "2", "3"} {
				c.Update(acpclient.Update{Kind: "tool_call", ToolCall: acpclient.ToolCall{ID: id}})
			}
		}, "3 turns"},
		"tokens": {Budget{Tokens: 100}, func(c *child) {
			n := int64(60)
			c.Update(acpclient.Update{Kind: "usage_update", Used: &n})
			c.addInside(Usage{Tokens: &n})
		}, "100 tokens"},
		"cost": {Budget{Cost: 0.5}, func(c *child) {
			c.Update(update(t, `{"sessionUpdate":"usage_update","used":1,"cost":{"amount":0.6,"currency":"USD"}}`))
		}, "0.5 USD"},
		"none": {Budget{}, func(c *child) {
			n := int64(1e9)
			c.Update(acpclient.Update{Kind: "usage_update", Used: &n})
		}, ""},
	} {
		why := ""
		c := &child{budget: tt.budget, tools: map[string]bool{}, stop: func(_ State, reason string) { why = reason }}
		tt.do(c)
		if !strings.Contains(why, tt.want) || (why == "") != (tt.want == "") {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// allow decides a request, as a child does for which nobody is asked.
func (p *policy) allow(call acpclient.ToolCall) (allowed bool) {
	c := child{policy: *p}
	c.Allow(call, func(yes bool) { allowed = yes })
	*p = c.policy
	return allowed
}

// What the policy refuses is asked of the caller's client, one question after the other, but for what is git's own.
func TestAsked(t *testing.T) {
	var asked []string
	answer := true
	c := &child{tools: map[string]bool{}, stop: func(State, string) {}, policy: policy{mode: Edit,
		inside: func(string) bool { return false }},
		ask: func(call acpclient.ToolCall) (bool, string) {
			asked = append(asked, call.Title)
			return answer, "the user said no"
		}}
	var got []bool
	request := func(title, kind, path string) {
		c.Allow(acpclient.ToolCall{Title: title, ToolKind: acp.ToolKind(kind), Input: json.RawMessage(`{"path":"` + path + `"}`)},
			func(yes bool) { got = append(got, yes) })
		c.asking.Wait()
	}
	request("read", "read", "")
	request("allowed", "execute", "")
	answer = false
	request("refused", "edit", "/etc/x")
	request("git", "edit", "/tree/.git/config")
	c.Update(update(t, `{"sessionUpdate":"tool_call","toolCallId":"d","kind":"edit","title":"shown",`+
		`"content":[{"type":"diff","path":"/etc/y"}]}`))
	c.Allow(acpclient.ToolCall{ID: "d"}, func(yes bool) { got = append(got, yes) })
	c.asking.Wait()
	refused := c.over().Refused
	if diff := cmp.Diff([]any{[]string{"allowed", "refused", "shown"}, []bool{true, true, false, false, false},
		[]string{"refused: /etc/x is outside its folder; the user said no", "git: /tree/.git/config is git's own", "shown: /etc/y is outside its folder; the user said no"}},
		[]any{asked, got, refused}); diff != "" {
		t.Errorf("asked, allowed, refused (-want +got):\n%s", diff)
	}
}

// What is counted of a child and of those that it asked, and what is said of it meanwhile.
func TestCounted(t *testing.T) {
	c := &child{tools: map[string]bool{}, stop: func(State, string) {}, usage: Usage{Turns: 1}}
	if got := c.noted().Progress; got != "working" {
		t.Errorf("at first: %q", got)
	}
	c.reopening() // and what it shows again does not count
	for _, text := range []string{`{"sessionUpdate":"tool_call","toolCallId":"0","title":"Old"}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"plan"}]}`} {
		c.Update(update(t, text))
	}
	c.taskSent()
	for _, text := range []string{`{"sessionUpdate":"tool_call","toolCallId":"1","title":"Read  a"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","title":"Read b"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"2","name":"grep"}`, `{"sessionUpdate":"usage_update","used":20}`,
		`{"sessionUpdate":"usage_update","used":10,"cost":{"amount":0.5,"currency":"USD"}}`} {
		c.Update(update(t, text))
	}
	c.ended(acpclient.Turn{})
	n, cost := int64(7), 0.25
	c.addInside(Usage{Turns: 2, Tokens: &n, Cost: &cost})
	u := c.over().Usage
	if got := c.noted().Progress; got != "2 tool calls, the last: grep" || u.Turns != 5 || *u.Tokens != 27 || *u.Cost != 0.75 || u.Currency != "USD" ||
		len(c.commands) != 1 {
		t.Errorf("%s, %+v, %d tokens, cost %v, %q", got, u, *u.Tokens, *u.Cost, c.commands)
	}
	c.ended(acpclient.Turn{Usage: &struct {
		Input  int64 `json:"inputTokens"`
		Output int64 `json:"outputTokens"`
		Total  int64 `json:"totalTokens"`
	}{Total: 100}})
	if u := c.over().Usage; *u.Tokens != 107 {
		t.Errorf("%d tokens", *u.Tokens)
	}
}

func update(t *testing.T, text string) (u acpclient.Update) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &u); err != nil {
		t.Fatal(err)
	}
	return u
}

// over is a delegation that ends with what the child has said and done.
func (c *child) over() (d Delegation) {
	c.end(&d)
	return d
}
