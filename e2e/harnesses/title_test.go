//go:build harnesses

package harnesses

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// The title of a session is about what the person said, also where the block is longer than what the harness makes
// titles of, and where a command came first.
func TestTitles(t *testing.T) {
	const question = "How long is the mast of the Curlew?"
	for _, tt := range []struct{ name, command string }{
		{"codex", ""}, {"pi", ""}, {"copilot", ""}, {"codex", "/status"}, {"pi", "/session"}, {"copilot", "/usage"},
	} {
		name := tt.name
		t.Run(name+tt.command, func(t *testing.T) {
			s := named(name).stage(t, func(r fakemodel.Request) fakemodel.Reply {
				if strings.Contains(strings.Join(r.User, "\n"), "generate a very short title") {
					return fakemodel.Reply{Text: `{"title":"A clerk of a boatyard"}`}
				}
				return fakemodel.Reply{Text: "11.42 metres."}
			})
			long := strings.Repeat("Halyard writes down what was measured, with the date. ", 60)
			for _, file := range []string{"SOUL.md", "AGENTS.md", "USER.md"} {
				if err := os.WriteFile(filepath.Join(s.Signet, file), []byte("# "+file+"\n\n"+long), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := s.connect(true, "")
			_, session := c.open(s.Work, "")
			what := "title of the user's words"
			if tt.command != "" {
				what = "… after a command"
				c.prompt(session, tt.command)
			}
			c.prompt(session, question)
			for range 100 { // codex asks for it beside the conversation
				if name != "codex" || asksTitle(s.model) {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			c.prompt(session, "And its boom?")
			listed := string(c.call("session/list", map[string]any{"cwd": s.Work}))
			c.hangUp()
			if block := asked(s.model, question); name == "codex" && len(block) < 4000 {
				t.Fatalf("the block is short:\n%s", block)
			}
			var titles []string
			for _, frame := range c.seen {
				var f struct {
					Params struct {
						Update struct{ Title, SessionUpdate string }
					}
				}
				if json.Unmarshal([]byte(frame), &f) == nil && f.Params.Update.SessionUpdate == "session_info_update" &&
					f.Params.Update.Title != "" {
					titles = append(titles, f.Params.Update.Title)
				}
			}
			shown := strings.Join(append(titles, listed), "\n")
			said := strings.Contains(shown, question) || tt.command != "" && strings.Contains(shown, tt.command)
			s.check(what, said &&
				!strings.Contains(shown, "boatyard") && !strings.Contains(shown, "Halyard") &&
				!strings.Contains(shown, "signet-memory"), "titles and list:\n%s", shown)
			s.alone()
		})
	}
}

func asksTitle(model *fakemodel.Server) bool {
	return slices.ContainsFunc(model.Requests(), func(r fakemodel.Request) bool {
		return strings.Contains(strings.Join(r.User, "\n"), "generate a very short title")
	})
}
