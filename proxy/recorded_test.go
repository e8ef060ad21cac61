package proxy

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

const titled = `{"sessionUpdate":"session_info_update","title":`

func saying(text string) string {
	return `{"sessionUpdate":"agent_message_chunk","content":` + textBlock(text) + `}`
}

func messageSaying(text string) string {
	return `{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":` + textBlock(text) + `}`
}

func tool(title string) string {
	return `{"sessionUpdate":"tool_call","toolCallId":"1","title":` + string(quote(title)) + `}`
}

func compacted(more string) string {
	return `{"sessionUpdate":"compaction_update","compactionId":"a","status":"completed"` + more + `}`
}

func summary(text string) string {
	return `{"sessionUpdate":"compaction_summary_chunk","compactionId":"a","content":` + textBlock(text) + `}`
}

// What of a turn is recorded: the words of both, tools, titles, summaries and usage, all without our blocks, secrets and
// what is private, and all of bounded length.
func TestRecorded(t *testing.T) {
	const (
		key    = "sk-ant-api03-Zt4mXk29fQvRw81LsNpYb6HcGd07JuEoIaT5xK3rVqWnMlPz"
		usage  = `,"usage":{"inputTokens":10,"outputTokens":5}`
		counts = `,"_meta":{"quota":{"token_count":{"input_tokens":20,"output_tokens":5}}}`
	)
	named := func(o *Options) { o.Traits = func(string) session.Traits { return session.Traits{MessageIDs: true} } }
	for _, tt := range []struct {
		name    string
		updates []string
		result  string // more of it
		change  func(*Options)
		want    []string // but the prompt
	}{
		{"nothing", nil, "", nil, nil},
		{"a tool before any word", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"Read main.go","kind":"read","status":"pending","locations":[{"path":"/x/main.go"}]}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`, saying("There it is.")}, "", nil,
			[]string{"tool: Read main.go read completed /x/main.go", "agent: There it is."}},
		{"long words of a tool", []string{strings.TrimSuffix(tool(strings.Repeat("é", 5000)), "}") + `,"kind":"` + strings.Repeat("k", 99) + `"}`},
			"", nil, []string{"tool: " + strings.Repeat("é", maxTitle/2) + " " + strings.Repeat("k", maxToolWord)}},
		{"many places of a tool", []string{strings.TrimSuffix(tool("t"), "}") + `,"locations":[` + `{"path":"/1"},{"path":"/1"},{"path":"/2"},{"path":"/3"},{"path":"/4"},` +
			`{"path":"/5"},{"path":"/6"},{"path":"/7"},{"path":"/8"},{"path":"/9"},{"path":"/10"},{"path":"/11"},{"path":"/12"},` +
			`{"path":"/13"},{"path":"/14"},{"path":"/15"},{"path":"/16"},{"path":"/17"},7]}`},
			"", nil, []string{"tool: t   /1 /2 /3 /4 /5 /6 /7 /8 /9 /10 /11 /12 /13 /14 /15 /16"}},
		{"a diff", []string{strings.TrimSuffix(tool("Edit"), "}") + `,"kind":"edit","content":[{"type":"diff","path":"/x/a.go","newText":"b"}]}`},
			"", nil, []string{"tool: Edit edit  /x/a.go"}},
		{"a command of codex", []string{strings.TrimSuffix(tool("go test"), "}") + `,"kind":"execute","status":"failed","rawInput":{"command":["bash","-lc",` +
			`"go test ` + key + `"]},"rawOutput":{"exit_code":3}}`}, "", nil,
			[]string{"tool: go test execute failed \n[\"go test [redacted:anthropic]\"] exit 3"}},
		{"a command of opencode", []string{strings.TrimSuffix(tool("Test it"), "}") + `,"rawInput":{"command":"go test"},"rawOutput":{"metadata":{"exit":0}}}`},
			"", nil, []string{"tool: Test it   \n[\"go test\"] exit 0"}},
		{"a command of claude", []string{strings.TrimSuffix(tool("go test"), "}") + `,"rawInput":{"command":"go test"},"rawOutput":"Exit code 2\nFAIL"}`},
			"", nil, []string{"tool: go test   \n exit 2"}},
		{"plans, of which the last counts", []string{
			`{"sessionUpdate":"plan","entries":[{"content":"a","status":"pending"}]}`,
			`{"sessionUpdate":"plan","entries":[{"content":"a","status":"completed"},{"content":"b ` + key + `","status":"in_progress"}]}`,
		}, "", nil, []string{"tool: Plan of 2 steps plan completed \n[\"\" \"b [redacted:anthropic]\"]"}},
		{"files of the client's", []string{
			`{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/x/a.go"}}`,
			`{"jsonrpc":"2.0","id":8,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/x/b.go","content":"b"}}`,
		}, "", nil, []string{"tool: Read /x/a.go read completed /x/a.go", "tool: Write /x/b.go edit completed /x/b.go"}},
		{"a key in a tool's title", []string{tool("curl -H 'X-Key: " + key + "'")}, "", nil, []string{"tool: curl -H 'X-Key: [redacted:anthropic]'"}},
		{"a key where it is cut", []string{tool(strings.Repeat("x ", maxTitle/2-5) + key)}, "", nil,
			[]string{"tool: " + strings.Repeat("x ", maxTitle/2-5) + "[redacted:"}},
		{"private in a tool's title", []string{tool("grep CANARY-Xy99Zq <private>whatever</private>")}, "", nil, []string{"tool: grep [private]"}},
		{"a notice", []string{saying("Warning: no metadata"), messageSaying("Hello"), messageSaying(" you")}, "", named, []string{"agent: Hello you"}},
		{"a notice in between", []string{messageSaying("Hello"), saying("Warning: slow"), messageSaying(" you")}, "", named, []string{"agent: Hello you"}},
		{"notices alone", []string{saying("Hello"), saying(" you")}, "", named, []string{"agent: Hello you"}},
		{"another harness's", []string{saying("Hello"), messageSaying(" you")}, "", nil, []string{"agent: Hello you"}},
		{"a whole summary", []string{compacted(`,"summary":[` + textBlock("one") + "," + textBlock("two") + "]")}, "", nil, []string{"compacted", "summary: one\ntwo"}},
		{"a summary in pieces", []string{summary("one "), summary("<private>two</private>, three"), compacted("")}, "", nil, []string{"compacted", "summary: one , three"}},
		{"a compaction without a word", []string{compacted("")}, "", nil, []string{"compacted"}},
		{"usage", nil, usage, nil, []string{"usage: result 10"}},
		{"gemini's usage", nil, counts, nil, []string{"usage: quota 20"}},
		{"usage, said twice", nil, usage + `,"_meta":{"quota":{"token_count":{"inputTokens":10,"outputTokens":5}}}`, nil, []string{"usage: result 10"}},
		{"a command of codex", nil, `,"_meta":{"quota":{"token_count":null,"model_usage":[]}}`, nil, nil},
		{"no title", []string{titled + `null}`}, "", nil, nil},
		{"a title", []string{titled + `"The mast of the  Curlew\n"}`}, "", nil, []string{"title: The mast of the Curlew"}},
		{"the last title", []string{titled + `"One"}`, titled + `"Two"}`, titled + `"Two"}`}, "", nil, []string{"title: Two"}},
		{"our block in a title", []string{titled + string(quote(sampleBlock+"hello")) + `}`}, "", nil, []string{"title: hello"}},
		{"private in a title", []string{titled + `"About CANARY-Xy99Zq and masts"}`}, "", nil, []string{"title: About [private] and masts"}},
		{"a key in a title", []string{titled + `"use AKIAIOSFODNN7EXAMPLX"}`}, "", nil, []string{"title: use [redacted:aws]"}},
		{"what the window holds", []string{`{"sessionUpdate":"usage_update","used":7,"size":200}`}, "", nil, []string{"usage: update of 7"}},
		{"claude's compaction", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Compact","status":"pending","_meta":{"claudeCode":{"toolName":"compact"}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`}, "", nil,
			[]string{"compacting", "compacted", "tool: Compact  completed"}},
		{"opencode's compaction", []string{messageSaying("A"), messageSaying("B"), strings.Replace(messageSaying("C"), "m1", "m2", 1)}, "",
			func(o *Options) { o.Traits = func(string) session.Traits { return session.Traits{SaysSummary: true} } },
			[]string{"compacted", "agent: ABC"}},
		{"a delegation", []string{titled + `"Delegated to you"}`}, "", func(o *Options) {
			o.Delegation, o.Task = "d1", func(prompt string) string { return strings.TrimPrefix(prompt, "my ") }
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := newQuiet(t, func(o *Options) {
				if tt.change != nil {
					tt.change(o)
				}
			}).opened()
			got := q.turn(t, textBlock("my <private>CANARY-Xy99Zq</private> word"), tt.result, tt.updates...)
			want := slices.Concat([]string{"user: my  word"}, tt.want)
			if tt.name == "a delegation" {
				want = []string{"user:  word"}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("recorded %q\nwant %q", got, want)
			}
		})
	}
}

// A harness that reports what each turn took, and now took a third of it, has compacted.
func TestCompactedAsTurnsTell(t *testing.T) {
	quota := func(tokens string) string {
		return `,"_meta":{"quota":{"token_count":{"input_tokens":` + tokens + `,"output_tokens":5}}}`
	}
	q := newQuiet(t).opened()
	before := q.turn(t, textBlock("a long one"), quota("60000"))
	after := q.turn(t, textBlock("and now?"), quota("20000"))
	if slices.Contains(before, "compacted") || !slices.Contains(after, "compacted") {
		t.Errorf("recorded %q, then %q", before, after)
	}
}

// What one process heard marked private another does not store either, in an answer or in a tool's title, though its
// agent repeats it bare.
func TestPrivateInOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private")
	for _, prompt := range []string{"Robin is at <private>0151 442 88 10</private>", "and now?"} {
		q := newQuiet(t, func(o *Options) { o.Private = privacy.FileAt(path) }).opened()
		got := q.turn(t, textBlock(prompt), "", saying("Call 0151 442 "), saying("88 10 then."), tool("dial 0151 442 88 10"))
		if len(got) != 3 || got[1] != "tool: dial [private]" || got[2] != "agent: Call [private] then.\f" {
			t.Errorf("stored: %q", got)
		}
	}
}

// Of a long answer the beginning and the end are recorded, and how much is missing between them.
func TestLongAnswer(t *testing.T) {
	q := newQuiet(t).opened()
	line, size := strings.Repeat("å", 499)+" \n", 0
	q.sends(t, promptOf(1, "why?"))
	all := slices.Concat([]string{"FIRST "}, slices.Repeat([]string{line}, 3000), []string{"FINAL", "ANSWER"})
	for i, text := range all {
		all[i] = update("s1", saying(text))
		size += len(text)
	}
	q.says(t, all...)
	if !q.down.stream.shape.Begins([]byte(all[0])) {
		t.Error("each chunk is parsed")
	}
	q.says(t, strings.Replace(downEnd, `"id":2`, `"id":1`, 1))
	q.recorder.record()
	got, skipped := "", 0
	for _, e := range q.events.take() {
		if e, ok := e.(correlation.AssistantSaid); ok {
			got, skipped = got+e.Text, skipped+e.Skipped
		}
	}
	// What is left out is counted as it came: a line's end is two bytes of JSON.
	if off := len(got) + skipped - size; !strings.HasPrefix(got, "FIRST å") || !strings.HasSuffix(got, "\nFINALANSWER") ||
		skipped == 0 || off < 0 || off > 2*3000 || len(got) > 1<<20 {
		t.Errorf("%d+%d bytes of %d: %.20q…%q", len(got), skipped, size, got, got[max(0, len(got)-20):])
	}
}

// A session is closed when the harness says so, by either method.
func TestClosed(t *testing.T) {
	for _, method := range []string{methodClose, methodDelete} {
		for answer, want := range map[string]bool{`"result":null`: true, `"error":{"code":-32603,"message":"busy"}`: false} {
			q := newQuiet(t).opened()
			q.sends(t, `{"jsonrpc":"2.0","id":3,"method":"`+method+`","params":{"sessionId":"s1"}}`)
			q.says(t, `{"jsonrpc":"2.0","id":3,`+answer+`}`)
			if closed := q.session("s1") == nil; closed != want {
				t.Errorf("%s, %s: closed %t", method, answer, closed)
			}
		}
	}
}
