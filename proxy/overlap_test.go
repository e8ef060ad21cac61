package proxy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// What two prompts on one session's way to the harness, its words and its responses make of the transcript, in every
// order that harnesses have been seen to use, and in some that they have not.
func TestOverlappingPrompts(t *testing.T) {
	for _, tt := range []struct{ order, want string }{
		{"P1 Wa R1 P2 Wb R2", "one: a (end_turn) | two: b (end_turn)"},
		{"P1 P2 Wa R1 Wb R2", "one: a (end_turn) | two: b (end_turn)"},
		{"P1 P2 Wa R1 R2 Wb", "one: a (end_turn) | two: b (end_turn)"},
		{"P1 Wa P2 Wb R2", "one: ab (unanswered) | two:  (end_turn)"},
		{"P1 P2 Wa R2 Wb R1", "one: a (end_turn) | two: b (end_turn)"},
		{"P1 R1 Wa P2 Wb R2", "one: a (end_turn) | two: b (end_turn)"},
	} {
		q := newQuiet(t).opened()
		for step := range strings.FieldsSeq(tt.order) {
			n := step[1:]
			switch step[0] {
			case 'P':
				id := int(n[0] - '0')
				q.sends(t, promptOf(id, []string{"one", "two"}[id-1]))
			case 'W':
				q.says(t, update("s1", saying(n)))
			case 'R':
				q.says(t, strings.Replace(downEnd, `"id":2`, `"id":`+n, 1))
			}
		}
		q.recorder.record()
		turns, order := map[int]*correlation.Turn{}, []string{}
		of := func(n int) *correlation.Turn {
			if turns[n] == nil {
				turns[n] = &correlation.Turn{}
			}
			return turns[n]
		}
		for _, e := range q.events.take() {
			switch e := e.(type) {
			case correlation.UserSaid:
				of(e.Turn).User = e.Text
			case correlation.AssistantSaid:
				of(e.Turn).Assistant += e.Text
			case correlation.TurnEnded:
				of(e.Turn).Stop = e.Stop
			}
		}
		for _, n := range slices.Sorted(maps.Keys(turns)) {
			order = append(order, fmt.Sprintf("%s: %s (%s)", turns[n].User, turns[n].Assistant, turns[n].Stop))
		}
		if got := strings.Join(order, " | "); got != tt.want {
			t.Errorf("%s: the transcript is %q, want %q", tt.order, got, tt.want)
		}
	}
}

func promptOf(id int, words string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s1",`+
		`"prompt":[{"type":"text","text":%q}]}}`, id, words) + "\n"
}
