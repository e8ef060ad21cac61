package proxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What is kept of a prompt is the same in whatever way it comes: held, whole, in pieces. However long what is pasted or
// attached is, what the user asks behind it is kept.
func TestWordsOfPrompts(t *testing.T) {
	if testing.Short() {
		t.Skip("it has one goroutine")
	}
	paste := strings.Repeat("line of a log\n", 81<<10/14)
	resource := `{"type":"resource","resource":{"uri":"file:///log","text":` + string(quote(paste)) + `}}`
	before := "a word " + strings.Repeat("x ", 20<<10)
	private := "<private>" + strings.Repeat("CANARY one ", 5<<10) + "</private>"
	question := "," + textBlock("QUESTION")
	image := func(size int) string {
		return `{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("iVBORw0K", size/8) + `"}`
	}
	type test struct {
		name, prompt string
		begins       string
		cut          bool
	}
	tests := []test{
		{"an image alone", image(100), "[image]", false},
		{"an image", image(100) + question, "QUESTION", false},
		{"a larger image", image(150<<10) + question, "QUESTION", false},
		{"a large image", image(2<<20) + question, "QUESTION", false},
		{"resource", resource + question, "QUESTION", false},
		{"text", textBlock(paste) + question, "line of a log\n", true},
		{"within one text", textBlock(paste + "QUESTION"), "line of a log\n", true},
		{"many", strings.Repeat(textBlock(paste)+",", 4) + textBlock("QUESTION"), "line of a log\n", true},
		{"private across the cut", textBlock(before + private + " QUESTION"), "a word", false},
		{"behind private ones across the cut", textBlock(before + private + paste + private + " QUESTION"), "a word", true},
		{"private to the end", textBlock(paste+"<private>"+paste) + "," + textBlock("CANARY"), "line of a log\n", true},
		{"longer than is held", textBlock(paste+strings.Repeat("x ", 32<<20)) + question, "line of a log\n", true},
	}
	fill := func(n int) string { return strings.Repeat("a \"word\" of é\n", n/16) }
	secret := func(n int) string { return "<private>" + strings.Repeat("CANARY ", n/7) + "</private>" }
	for _, size := range []int{1 << 10, 40 << 10, 60 << 10, 80 << 10, 1 << 20} {
		name, third, quarter := fmt.Sprint(size>>10, " KB, "), textBlock(fill(size/3)), fill(size/4)+secret(size/4)
		tests = append(tests,
			test{name + "one text", textBlock(fill(size) + "QUESTION"), "a \"word\"", size > maxPrompt},
			test{name + "three texts", third + "," + third + question, "a \"word\"", size > 2*maxPrompt},
			test{name + "private passages", textBlock(quarter + quarter + "QUESTION"), "a \"word\"", size > 2*maxPrompt})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first := newQuiet(t, holding).opened().turn(t, tt.prompt, "")
			got := strings.TrimPrefix(first[len(first)-1], "user: ")
			asked := strings.HasSuffix(got, "QUESTION") == strings.Contains(tt.prompt, "QUESTION")
			if !strings.HasPrefix(got, tt.begins) || !asked || slices.Contains(first, "cut") != tt.cut ||
				len(got) > 2*maxPrompt || strings.Contains(got, "CANARY") {
				t.Errorf("%q, %d bytes: %.30q…%q", first[0], len(got), got, got[max(0, len(got)-30):])
			}
			if tt.name == "longer than is held" {
				return
			}
			for _, most := range []int{0, 10_000} {
				q := newQuiet(t).opened()
				q.inPieces = most
				if other := q.turn(t, tt.prompt, ""); !slices.Equal(other, first) {
					t.Errorf("in pieces of %d: %d bytes, held %d", most, len(other[len(other)-1]), len(got))
				}
			}
		})
	}
}

// What the user says in the middle of a turn is the user's words, too.
func TestSteering(t *testing.T) {
	q := newQuiet(t).opened()
	q.sends(t, promptOf(2, "look at it"),
		`{"jsonrpc":"2.0","id":3,"method":"_session/steering","params":{"sessionId":"s1","prompt":[`+textBlock("not that one")+`]}}`)
	if got := q.recorded(); !slices.Equal(got, []string{"user: look at it", "user: not that one"}) {
		t.Errorf("recorded %q", got)
	}
}
