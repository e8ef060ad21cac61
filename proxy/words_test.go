package proxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// The words behind an image are what the user said, however large the image is.
func TestWordsBehindAnImage(t *testing.T) {
	for _, size := range []int{100, 50 << 10, 150 << 10, 2 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			w := newWorld(t)
			c := w.start(newSource(), echo())
			c.open()
			c.call(1, "session/new", cwd)
			said := []string{"what is this?", "and that?"} // held for its context, and not
			for i, words := range said {
				c.call(2+i, "session/prompt",
					fmt.Sprintf(`{"sessionId":"s1","prompt":[{"type":"image","mimeType":"image/png","data":%q},`+
						`{"type":"text","text":%q}]}`,
						strings.Repeat("iVBORw0K", size/8), words))
			}
			c.close()
			turns, err := w.store.Turns(t.Context(), w.session("echo", "s1").ID)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, turn := range turns {
				got = append(got, turn.User)
				if turn.Truncated {
					t.Errorf("%q is said to be cut", turn.User)
				}
			}
			if !slices.Equal(got, said) {
				t.Errorf("the turns are %q, want %q", got, said)
			}
		})
	}
}

// However long what is pasted or attached is, what the user asks behind it is kept.
func TestQuestionBehindAPaste(t *testing.T) {
	paste := strings.Repeat("line of a log\n", 81<<10/14)
	resource := `{"type":"resource","resource":{"uri":"file:///log","text":` +
		textBlock(paste)[len(`{"type":"text","text":`):] + `}`
	before := "a word " + strings.Repeat("x ", 20<<10)
	private := "<private>" + strings.Repeat("CANARY one ", 5<<10) + "</private>"
	tests := []struct {
		name, prompt string
		begins       string
		cut          bool
	}{
		{"resource", resource + "," + textBlock("QUESTION"), "QUESTION", false},
		{"text", textBlock(paste) + "," + textBlock("QUESTION"), "line of a log\n", true},
		{"within one text", textBlock(paste + "QUESTION"), "line of a log\n", true},
		{"many", strings.Repeat(textBlock(paste)+",", 4) + textBlock("QUESTION"), "line of a log\n", true},
		{"private across the cut", textBlock(before + private + " QUESTION"), "a word", false},
		{"behind private ones across the cut", textBlock(before + private + paste + private + " QUESTION"), "a word", true},
		{"longer than is held", textBlock(paste + strings.Repeat("x ", wire.MaxHeld/2)), "line of a log\n", true},
		{"private to the end", textBlock(paste+"<private>"+paste) + "," + textBlock("CANARY"), "line of a log\n", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			turn := turnOf(t, tt.prompt, echo())
			asked := strings.HasSuffix(turn.User, "QUESTION") == strings.Contains(tt.prompt, "QUESTION")
			if got := turn.User; !strings.HasPrefix(got, tt.begins) || !asked || turn.Truncated != tt.cut ||
				len(got) > 2*maxPrompt || strings.Contains(got, "CANARY") {
				t.Errorf("truncated %v, %d bytes: %.30q…%q", turn.Truncated, len(got), got, got[max(0, len(got)-30):])
			}
		})
	}
}
