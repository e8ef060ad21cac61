package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func spoken(text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":`+
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s},"messageId":"m1"}}}`+"\n", quoted)
}

var textPath = []string{"params", "update", "content", "text"}

func learned(t testing.TB, line []byte) *Shape {
	at, ok := Find(line, textPath...)
	if !ok {
		t.Fatalf("no text in %s", line)
	}
	s := new(Shape)
	s.Learn(line, at)
	return s
}

func TestShape(t *testing.T) {
	s := learned(t, spoken("Hello"))
	for _, text := range []string{"", "world", `a "quoted" \word`, "new\nline", "é😀\u2028",
		strings.Repeat("long ", 1000), `\`, `\\"`} {
		raw, ok := s.Text(spoken(text))
		if got := string(AppendDecoded(nil, raw)); !ok || got != text {
			t.Errorf("%q: got %q, %v", text, got, ok)
		}
	}
	for name, line := range map[string]string{
		"another session": strings.Replace(string(spoken("x")), `"s"`, `"t"`, 1),
		"another message": strings.Replace(string(spoken("x")), `"m1"`, `"m2"`, 1),
		"another end":     strings.Replace(string(spoken("x")), "\n", "\r\n", 1),
		"too short":       string(spoken("")[:len(s.Head)+len(s.Tail)-1]),
		"empty":           "",
	} {
		if _, ok := s.Text([]byte(line)); ok {
			t.Errorf("%s is of the shape", name)
		}
	}
}

// More than a text may stand between both ends: what is decoded ends with the text.
func TestShapeOfOddFrame(t *testing.T) {
	s := learned(t, spoken("Hello"))
	line := bytes.Replace(spoken("x"), []byte(`"x"},`), []byte(`"a\\","more":"b"},`), 1)
	raw, ok := s.Text(line)
	if got := string(AppendDecoded(nil, raw)); !ok || got != `a\` {
		t.Errorf("got %q, %v", got, ok)
	}
}

func TestShapeNeedsText(t *testing.T) {
	s := new(Shape)
	line := []byte(`{"text":12}`)
	at, _ := Find(line, "text")
	s.Learn(line, at)
	if s.Begins(line) {
		t.Error("a number is no text")
	}
	line = spoken(strings.Repeat("x", 10))
	line = append(line[:len(line)-2], `,"more":"`+strings.Repeat("y", maxShape)+"\"}\n"...)
	at, _ = Find(line, textPath...)
	s.Learn(line, at)
	if s.Begins(line) {
		t.Error("a frame with much around its text has a shape")
	}
}

func TestAppendDecoded(t *testing.T) {
	for raw, want := range map[string]string{
		``:              "",
		`a\nb`:          "a\nb",
		`a"b`:           "a",
		`a\"b"c`:        `a"b`,
		`a\qb`:          "a\ufffdb",
		`a\`:            "a",
		`a\u00e`:        "a",
		`a\u00e9`:       "aé",
		`a\ud83d\ude00`: "a😀",
		`a\u00"x`:       "a\ufffd00",
		"a\xe2\x82":     "a",
		"a\xe2\x82\xac": "a€",
		`\\"rest\`:      `\`,
		"\xff":          "",
		"x\xff":         "x",
		`a\ud83d`:       "a\ufffd",
	} {
		if got := string(AppendDecoded(nil, []byte(raw))); got != want &&
			!(strings.HasSuffix(raw, "\xff") && got == raw) {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
	}
}

// Where a text was cut at its beginning, half a word is left out, or without a space nearby half an escape or character.
func TestSkipCut(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                    "",
		"lf a word":                           "a word",
		strings.Repeat("x", 1023) + " a word": "a word",
		strings.Repeat("x", 1024) + " a":      strings.Repeat("x", 1023) + " a",
		`0gword`:                              "word",
		`u00e9`:                               "",
		`9AFx\"y`:                             `\"y`,
		"\xa9é":                               "é",
	} {
		if got := string(SkipCut([]byte(raw))); got != want {
			t.Errorf("%.20q: %.20q is left", raw, got)
		}
	}
}

// A decoder waits for the rest of an escape or a character, until a quote has closed the string.
func TestDecoderIdle(t *testing.T) {
	for raw, want := range map[string]bool{"": true, "a": true, `a\`: false, `\u00e9`: true, "\xc3": false, `a"`: false} {
		var d Decoder
		if d.Append(nil, []byte(raw)); d.Idle() != want {
			t.Errorf("%q: idle %t", raw, d.Idle())
		}
	}
}

// What is decoded in one piece equals what encoding/json reads, and of a beginning it is the beginning.
func TestGeneratedDecoding(t *testing.T) { rapid.Check(t, generatedDecoding) }
func FuzzGeneratedDecoding(f *testing.F) { f.Fuzz(rapid.MakeFuzz(generatedDecoding)) }

func generatedDecoding(t *rapid.T) {
	token := drawString(t)
	var want string
	if err := json.Unmarshal([]byte(token), &want); err != nil {
		t.Fatal(err)
	}
	raw := []byte(token[1 : len(token)-1])
	got := AppendDecoded([]byte("before "), raw)
	if valid := strings.ToValidUTF8(string(got[7:]), "\ufffd"); utf8.ValidString(token) && valid != want {
		t.Fatalf("%s: got %q, want %q", token, valid, want)
	}
	cut := rapid.IntRange(0, len(raw)).Draw(t, "cut")
	if part := AppendDecoded(nil, raw[:cut]); utf8.ValidString(token) &&
		!strings.HasPrefix(want, strings.TrimSuffix(string(part), "\ufffd")) {
		t.Fatalf("%s cut at %d: %q is no beginning of %q", token, cut, part, want)
	}
	if odd := AppendDecoded(nil, append(bytes.Clone(raw), `","more":"x`...)); utf8.ValidString(token) &&
		string(odd) != string(got[7:]) {
		t.Fatalf("%s with more behind it: %q", token, odd)
	}
}

func BenchmarkShapeText(b *testing.B) {
	for _, size := range []int{200, 4 << 10, 64 << 10} {
		line := spoken(strings.Repeat(`<b>é & "x"</b>`, size/14))
		s := learned(b, line)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if _, ok := s.Text(line); !ok {
					b.Fatal("another shape")
				}
			}
		})
	}
}
