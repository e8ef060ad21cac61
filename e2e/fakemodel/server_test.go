package fakemodel

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Each row is the least that a harness of that kind sends.
func TestServer(t *testing.T) {
	script := func(r Request) Reply {
		if slices.Contains(r.Tools, "look") && !r.Result {
			return Reply{Tool: "look", Args: map[string]any{"at": "sea"}}
		}
		return Reply{Text: "fine weather"}
	}
	rows := []struct {
		name, path, body    string
		system              string
		user, tools, events []string
	}{
		{
			"anthropic", "/v1/messages", `{"stream":true,"system":[{"type":"text","text":"S"}],"messages":[{"role":"user","content":[{"type":"text","text":"A"},{"type":"text","text":"B"}]}]}`,
			"S\n", []string{"A", "B"}, nil, []string{"message_start", "fine weather", "message_stop"},
		},
		{
			"anthropic", "/v1/messages", `{"stream":true,"messages":[{"role":"user","content":"A"}],"tools":[{"name":"look"}]}`,
			"", []string{"A"}, []string{"look"}, []string{"tool_use", `{\"at\":\"sea\"}`},
		},
		{
			"anthropic", "/v1/messages", `{"system":"Output <severity>N</severity>","messages":[{"role":"user","content":"A"}]}`,
			"Output <severity>N</severity>\n", []string{"A"}, nil, []string{`\u003cseverity\u003e0\u003c/severity\u003e`},
		},
		{
			"chat", "/v1/chat/completions",
			`{"stream":true,"messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"A"}]}],"tools":[{"type":"function","function":{"name":"look"}}]}`,
			"S\n", []string{"A"}, []string{"look"}, []string{"tool_calls", "[DONE]"},
		},
		{
			"chat", "/v1/chat/completions",
			`{"messages":[{"role":"user","content":"A"},{"role":"tool","content":"T"}],"tools":[{"type":"function","function":{"name":"look"}}]}`,
			"", []string{"A"}, []string{"look"}, []string{"fine weather"},
		},
		{
			"responses", "/v1/responses", `{"stream":true,"instructions":"S","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"A"}]}],"tools":[{"type":"namespace","name":"mcp","tools":[{"name":"x"}]}]}`,
			"S\n", []string{"A"}, []string{"mcp", "mcp/x"}, []string{"response.created",
				"fine weather", "response.completed"},
		},
		{
			"gemini", "/v1beta/models/m:streamGenerateContent",
			`{"systemInstruction":{"parts":[{"text":"S"}]},"contents":[{"role":"user","parts":[{"text":"A"}]}],"tools":[{"functionDeclarations":[{"name":"look"}]}]}`,
			"S\n", []string{"A"}, []string{"look"}, []string{"functionCall"},
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := Start(script)
			defer s.Close()
			resp, err := http.Post(s.URL+row.path, "application/json", strings.NewReader(row.body))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range row.events {
				if !strings.Contains(string(text), want) {
					t.Errorf("no %q in the answer:\n%s", want, text)
				}
			}
			got := s.Requests()
			if len(got) != 1 {
				t.Fatalf("%d requests were kept, want 1", len(got))
			}
			if r := got[0]; r.API != row.name || r.System != row.system || !slices.Equal(r.User, row.user) ||
				!slices.Equal(r.Tools, row.tools) {
				t.Errorf("read as %+v", r)
			}
		})
	}
}
