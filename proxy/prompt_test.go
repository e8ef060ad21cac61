package proxy

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// armed opens s2, which was given nothing yet and is looked up, on a quiet relay with a memory.
func armed(t *testing.T, mem Memory, change ...func(*Options)) *quiet {
	t.Helper()
	q := newQuiet(t, append([]func(*Options){remembering(mem)}, change...)...)
	q.sends(t, upNew)
	q.says(t, strings.Replace(downNew, "s1", "s2", 1))
	q.settle(t, "s2")
	return q
}

func promptTo(session, blocks string) string {
	return `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"` + session + `","prompt":` + blocks + `}}`
}

// Prompts that cannot carry a block, or may not, arrive as they were sent, and the session's next plain one carries it.
func TestPromptsThatPass(t *testing.T) {
	for name, prompt := range map[string]string{
		"slash command":                 promptTo("s2", `[{"type":"text","text":"/help me"}]`),
		"slash command behind an image": promptTo("s2", `[{"type":"image","data":"x","mimeType":"y"},{"type":"text","text":"/help"}]`),
		"empty array":                   promptTo("s2", `[]`),
		"no array":                      promptTo("s2", `"hello"`),
		"null":                          promptTo("s2", `null`),
		"missing":                       strings.Replace(promptTo("s2", ``), `,"prompt":`, ``, 1),
		"unknown session":               promptTo("nobody", `[{"type":"text","text":"hi"}]`),
		"wrong case":                    strings.Replace(promptTo("s2", `[{"type":"text","text":"hi"}]`), "sessionId", "SessionId", 1),
		"id null":                       strings.Replace(promptTo("s2", `[{"type":"text","text":"hi"}]`), `"id":2`, `"id":null`, 1),
		"no id":                         strings.Replace(promptTo("s2", `[{"type":"text","text":"hi"}]`), `"id":2,`, ``, 1),
		"a batch":                       "[" + promptTo("s2", `[{"type":"text","text":"hi"}]`) + "]",
	} {
		q := armed(t, newSource())
		if got := q.sends(t, prompt); got != prompt {
			t.Errorf("%s: the harness got %s", name, got)
		}
		q.says(t, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		if got := q.sends(t, promptTo("s2", `[{"type":"text","text":"hi"}]`)); !strings.Contains(got, markLetters) {
			t.Errorf("%s: the next prompt is %s", name, got)
		}
	}
}

// Odd spellings of a prompt are prompts all the same, and keep every byte beside the block.
func TestPromptSpellings(t *testing.T) {
	const text = `[{"type":"text","text":"hi"}]`
	for name, line := range map[string]string{
		"method last":      `{"params":{"prompt":` + text + `,"sessionId":"s2"},"id":2,"jsonrpc":"2.0","method":"session/prompt"}`,
		"escaped keys":     `{"jsonrpc":"2.0","id":2,"\u006dethod":"session\/prompt","params":{"sessionI\u0064":"s2","prompt":` + text + `}}`,
		"duplicate method": `{"jsonrpc":"2.0","id":2,"method":"session/set_mode","method":"session/prompt","params":{"sessionId":"s2","prompt":` + text + `}}`,
		"duplicate prompt": `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s2","prompt":[{"type":"text","text":"/no"}],"prompt":` + text + `}}`,
		"white space":      " \t{ \"jsonrpc\" : \"2.0\" , \"id\" : 2 , \"method\" : \"session/prompt\" , \"params\" : { \"sessionId\" : \"s2\" , \"prompt\" : " + text + " } } \r",
		"decoys":           `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"_meta":{"prompt":[1],"method":"x","signet.ai":{"inject":true}},"sessionId":"s2","prompt":` + text + `}}`,
	} {
		got := armed(t, newSource()).sends(t, line)
		if rest, n := withoutBlocks(got); n != 1 || rest != line {
			t.Errorf("%s: %d blocks, and beside them\n%q, want\n%q", name, n, rest, line)
		}
	}
}

// Both forms of cancel end the wait of a held prompt: it leaves as it came, then the cancel, and the next one carries the
// block.
func TestCancelWhileHeld(t *testing.T) {
	for _, cancel := range []string{`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s2"}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`} {
		mem := newSource()
		mem.block = make(chan struct{})
		q := armed(t, mem, func(o *Options) { o.HoldLimit = time.Hour })
		frames := []string{promptTo("s2", "["+textBlock("slow")+"]"), `{"jsonrpc":"2.0","method":"_between","params":{}}`, cancel,
			`{"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{}}`}
		if got := q.sends(t, frames...); got != strings.Join(frames, "\n") {
			t.Errorf("the harness got\n%s", got)
		}
		q.says(t, `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}`)
		close(mem.block)
		if got := q.sends(t, frames[0]); !strings.Contains(got, markLetters) {
			t.Errorf("the next prompt is %s", got)
		}
	}
}

// A prompt may switch us off, the first or a later one, however long it is and wherever it says so.
func TestSwitchedOff(t *testing.T) {
	long := `"prompt":[` + textBlock(strings.Repeat("words ", 130<<10/6)) + `]`
	const off = `"_meta":{"signet.ai":{"inject":false}}`
	for name, tt := range map[string]struct{ session, params string }{
		"the first": {"s2", `"prompt":[{"type":"text","text":"x"}],` + off},
		"in front":  {"s1", off + "," + long}, "behind": {"s1", long + "," + off},
	} {
		q := armed(t, newSource())
		q.opened()
		prompt := `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"` + tt.session + `",` + tt.params + `}}`
		if got := q.sends(t, prompt); got != prompt {
			t.Errorf("%s: %d bytes of %d", name, len(got), len(prompt))
		}
		plain := promptTo(tt.session, "["+textBlock("plain")+"]")
		if got := q.sends(t, plain); got != plain {
			t.Errorf("%s: the next prompt is %s", name, got)
		}
		if got := q.recorded(); !slices.Equal(got, []string{"switched off"}) {
			t.Errorf("%s: recorded %.100q", name, got)
		}
	}
}

var blocksOfAlto = regexp.MustCompile(`\{"type":"text","text":"<signet-memory (?:[^"\\]|\\.)*You are Alto[.,](?:[^"\\]|\\.)*",` +
	`"annotations":[^}]*\},"_meta":[^}]*\}\}\},`)

// withoutBlocks takes our blocks out of what a harness was sent, and returns how many there were.
func withoutBlocks(sent string) (rest string, n int) {
	return blocksOfAlto.ReplaceAllString(sent, ""), len(blocksOfAlto.FindAllString(sent, -1))
}

// A prompt that is too long to be held is not kept in memory once it has passed.
func TestTooLongIsLetGo(t *testing.T) {
	q := armed(t, newSource())
	q.up.heldAs = heldFrame{method: methodPrompt}
	q.up.TooLong([]byte(promptTo("s2", `[{"type":"text","text":"hi"}]`)))
	if q.up.head.Method != nil || q.up.head.Session != nil {
		t.Error("its head still points into it")
	}
}

// Equal ids are equal however they are spelled, and a string is no number.
func TestIDKey(t *testing.T) {
	for token, want := range map[string]string{
		"7": "7", "7.0": "7", "70e-1": "7", "0.7E1": "7", "-7": "-7", "9007199254740993": "9007199254740993",
		`"7"`: `"7`, `"\u0037"`: `"7`, `"x`: `"x`, "null": "null", "": "",
	} {
		if got := idKey([]byte(token)); got != want {
			t.Errorf("%s: %s", token, got)
		}
	}
}
