package proxy

import (
	"fmt"
	"strings"
	"testing"
)

// What two prompts on one session's way to the harness, its words and its responses make of the transcript, in every
// order that harnesses have been seen to use, and in some that they have not. The first prompt is held for its context
// meanwhile, or is not.
func TestOverlappingPrompts(t *testing.T) {
	for _, tt := range []struct{ order, want string }{
		{"P1 Wa R1 P2 Wb R2", "one: a (end_turn) | two: b (end_turn)"},
		{"P1 P2 Wa R1 Wb R2", "one: a (end_turn) | two: b (end_turn)"},
		{"P1 P2 Wa R1 R2 Wb", "one: a (end_turn) | two: b (end_turn)"},
		{"P1 Wa P2 Wb R2", "one: ab (unanswered) | two:  (end_turn)"},
		{"P1 P2 Wa R2 Wb R1", "one: a (end_turn) | two: b (end_turn)"},
		{"P1 R1 Wa P2 Wb R2", "one: a (end_turn) | two: b (end_turn)"},
		{"P1 P2 Wa", "one: a () | two:  ()"},
	} {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, held %t", tt.order, held), func(t *testing.T) {
				w := newWorld(t)
				c, h := w.scripted()
				c.openFor(h)
				if !held { // the context goes in with a prompt of its own
					c.write(promptOf(9, "zero"))
					h.await("zero")
					h.say(responseTo(9))
					c.until(`"id":9`)
				}
				for _, step := range strings.Fields(tt.order) {
					n := step[1:]
					switch step[0] {
					case 'P':
						id, words := 11, "one"
						if n == "2" {
							id, words = 12, "two"
						}
						c.write(promptOf(id, words))
						if tt.order[3] != 'P' || n == "2" { // a held one leaves with what comes behind it
							h.await(`"text":"` + words + `"`)
						}
					case 'W':
						h.say(update("s1", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`+n+
							`"}}`) + "\n")
						c.until(`"text":"` + n + `"`)
					case 'R':
						h.say(responseTo(10 + int(n[0]-'0')))
						c.until(`"id":1` + n)
					}
				}
				h.die()
				c.close()
				s := w.session("scripted", "s1")
				turns, err := w.store.Turns(t.Context(), s.ID)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, turn := range turns {
					if turn.User != "zero" {
						got = append(got, fmt.Sprintf("%s: %s (%s)", turn.User, turn.Assistant, turn.Stop))
					}
				}
				if strings.Join(got, " | ") != tt.want {
					t.Errorf("the transcript is %q, want %q", strings.Join(got, " | "), tt.want)
				}
				if held && !strings.Contains(h.heard.String(), "You are Alto.") {
					t.Error("the first prompt carried no context")
				}
			})
		}
	}
}

func promptOf(id int, words string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s1",`+
		`"prompt":[{"type":"text","text":%q}]}}`, id, words) + "\n"
}

func responseTo(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, id) + "\n"
}
