package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// However a harness shows its history, titles included, nothing of ours is in it, and the person's words are.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"own", "glued", "space", "newline"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set("ECHOAGENT_REPLAY="+form, "ECHOAGENT_TERSE=1", "ECHOAGENT_TITLE=1")
			c := b.connect(embedded, echoBin, "-list")
			id := c.open()
			said := c.say(id, "My own words.")
			c.end()

			c = b.connect(embedded, echoBin, "-list")
			shown, listed := c.load(id), c.call("session/list", map[string]any{}).said
			again := c.say(id, "More words.")
			c.end()

			if n := b.received(id).contexts(); n != 1 {
				t.Errorf("the harness was given %d contexts, want 1", n)
			}
			everything := said + shown + listed + again
			if strings.Contains(everything, "signet-memory") || strings.Contains(everything, "Halyard") {
				t.Errorf("our block was shown to the client:\n%s", everything)
			}
			var users []string
			for frame := range strings.Lines(shown) {
				var u struct {
					Params struct {
						Update struct {
							SessionUpdate string
							Content       struct{ Text string }
						}
					}
				}
				must(b, json.Unmarshal([]byte(frame), &u))
				if u.Params.Update.SessionUpdate == "user_message_chunk" {
					users = append(users, u.Params.Update.Content.Text)
				}
			}
			if got := fmt.Sprint(users); got != "[My own words.]" {
				t.Errorf("the history shows %q", users)
			}
			if !strings.Contains(listed, `"title":"My own words."`) {
				t.Errorf("the list has no title of the person's: %s", listed)
			}
		})
	}
}
