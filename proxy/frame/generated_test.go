package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The frames that are drawn here are valid, and as odd as JSON allows: known keys at every level, twice, with escapes,
// values of the wrong kind, any white space.

var (
	spaces   = rapid.SampledFrom([]string{"", "", "", " ", "\t", "\r", "\n", "  \r\n"})
	literals = rapid.SampledFrom([]string{"null", "true", "false", "0", "-0", "12", "1.0", "-1.5e+30", "10E-2"})
	keys     = rapid.SampledFrom([]string{"method", "id", "params", "result", "error", "sessionId", "update",
		"sessionUpdate",
		"jsonrpc", "prompt", "Method", "ids", "session", "", "a", `id"`, "\\", "\ufffd"})
	pieces = rapid.SampledFrom([]string{"a", "method", `\"`, `\\`, `\/`, `\n`, `\u0041`, `\ud83d\ude00`, `\ud800`,
		`\udc00`,
		"é", "😀", "\xff", "\xe2\x82", "{", "}", "[", "]", ",", ":", `\",\"method\":\"x\"`, "a somewhat longer text"})
)

func drawString(t *rapid.T) string {
	return `"` + strings.Join(rapid.SliceOfN(pieces, 0, 6).Draw(t, "pieces"), "") + `"`
}

// drawKey spells a key, some letters of it as escapes.
func drawKey(t *rapid.T) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range keys.Draw(t, "key") {
		switch {
		case r == '"' || r == '\\':
			fmt.Fprintf(&b, `\%c`, r)
		case rapid.IntRange(0, 9).Draw(t, "escape") == 0:
			fmt.Fprintf(&b, rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "case"), r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func drawValue(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	switch {
	case kind == 0:
		return literals.Draw(t, "literal")
	case kind <= 2 || depth == 0:
		return drawString(t)
	case kind == 3:
		return drawList(t, "[", "]", func() string { return drawValue(t, depth-1) })
	}
	return drawObject(t, depth-1)
}

func drawObject(t *rapid.T, depth int) string {
	return drawList(t, "{", "}", func() string {
		return drawKey(t) + spaces.Draw(t, "space") + ":" + spaces.Draw(t, "space") + drawValue(t, depth)
	})
}

func drawList(t *rapid.T, start, end string, item func() string) string {
	items := make([]string, rapid.IntRange(0, 5).Draw(t, "items"))
	for i := range items {
		items[i] = spaces.Draw(t, "space") + item() + spaces.Draw(t, "space")
	}
	if len(items) == 0 {
		start += spaces.Draw(t, "space")
	}
	return start + strings.Join(items, ",") + end
}

func drawFrame(t *rapid.T) []byte {
	line := []byte(spaces.Draw(t, "space") + drawObject(t, 4) + spaces.Draw(t, "space"))
	if !json.Valid(line) {
		t.Fatalf("drew %q", line)
	}
	return line
}

func drawPath(t *rapid.T) []string {
	return rapid.SliceOfN(keys.Filter(func(key string) bool { return key != "\ufffd" }), 0, 3).Draw(t, "path")
}

func TestGeneratedPeek(t *testing.T) { rapid.Check(t, generatedPeek) }
func FuzzGeneratedPeek(f *testing.F) { f.Fuzz(rapid.MakeFuzz(generatedPeek)) }

func generatedPeek(t *rapid.T) {
	line := drawFrame(t)
	need := Need(rapid.Uint8().Draw(t, "need")) & All
	want := oracle(t, line)
	checkNeed(t, line, All, want)
	checkNeed(t, line, need, want)
	checkBeginnings(t, line, need, want)
}

func TestGeneratedEdits(t *testing.T) { rapid.Check(t, generatedEdits) }
func FuzzGeneratedEdits(f *testing.F) { f.Fuzz(rapid.MakeFuzz(generatedEdits)) }

func generatedEdits(t *rapid.T) {
	line, path := drawFrame(t), drawPath(t)
	checkFind(t, line, path)
	checkArrayEdits(t, line, path)

	// A frame with one byte changed must be judged as encoding/json does.
	i := rapid.IntRange(0, len(line)-1).Draw(t, "place")
	broken := bytes.Clone(line)
	broken[i] = rapid.SampledFrom([]byte("\"\\{}[]:, \x01\xff0-.eEtnu")).Draw(t, "byte")
	if got, want := Valid(broken), json.Valid(broken); got != want {
		t.Fatalf("Valid of %q: %v", broken, got)
	}
	checkFind(t, broken, path)
	checkArrayEdits(t, broken, path)
}
