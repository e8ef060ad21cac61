package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// escaped is text as it stands between its quotes in a frame.
func escaped(text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return quoted[1 : len(quoted)-1]
}

func taken(t *Text) (text string, left int) {
	for _, p := range t.Take() {
		text += p.Text
		left += p.Omitted
	}
	return text, left
}

func TestText(t *testing.T) {
	var a Text
	if !a.emptyLocked() || a.Take() != nil || a.Said() {
		t.Error("there is something in an empty answer")
	}
	a.ToolCalled() // a tool ran before any word
	for _, chunk := range []string{"Hello ", `"world"`, "", "\nand é😀"} {
		a.Add(escaped(chunk))
	}
	if got, left := taken(&a); got != "Hello \"world\"\nand é😀" || left != 0 {
		t.Errorf("got %q, %d left out", got, left)
	}
	a.ToolCalled()
	a.ToolCalled()
	a.Add(escaped("A new paragraph.\n"))
	a.ToolCalled()
	a.Add(escaped("No other line."))
	if got, _ := taken(&a); got != "\f\n\nA new paragraph.\n\fNo other line." {
		t.Errorf("got %q", got)
	}
	a.ToolCalled() // and nothing is said after it
	if got, _ := taken(&a); got != "\f" {
		t.Errorf("got %q", got)
	}
	a.Add(escaped("The end."))
	if got, _ := taken(&a); got != "\n\nThe end." {
		t.Errorf("got %q", got)
	}
	a.ToolCalled()
	for _, chunk := range []string{"", "\n", "One", " more"} {
		a.Add(escaped(chunk))
	}
	if got, _ := taken(&a); got != "\f\n\n\nOne more" {
		t.Errorf("got %q", got)
	}
	a.Add([]byte("\n"))
	a.Add([]byte("x"))
	a.ToolCalled()
	a.Add(escaped("\n"))
	a.ToolCalled()
	a.Add(escaped("y"))
	a.ToolCalled()
	if got, _ := taken(&a); got != "x\f\n\n\n\fy\f" {
		t.Errorf("got %q", got)
	}
	for _, chunk := range []string{`\n`, `\`} { // taken one by one
		a.Add([]byte(chunk))
		taken(&a)
	}
	a.ToolCalled()
	a.Add(escaped("z"))
	if got, _ := taken(&a); got != "\fz" {
		t.Errorf("got %q", got)
	}
	if !a.emptyLocked() || !a.Said() {
		t.Error("taken text stays")
	}
}

// A chunk that comes in pieces is one text, wherever the pieces end.
func TestPieces(t *testing.T) {
	const text, suffix = "a \"quoted\" é😀 text\n", "\"}}}\n"
	whole := string(escaped(text)) + suffix
	for _, before := range []int{0, headSize - 10, headSize - len(whole) + 3, headSize} {
		for cut := range len(whole) + 1 {
			var a Text
			pad := strings.Repeat("x", max(0, before-1))
			if before > 0 {
				a.Add([]byte(pad))
			}
			a.Write([]byte(whole[:cut]))
			if a.Take() != nil {
				t.Fatal("an open chunk is given")
			}
			a.Write([]byte(whole[cut:]))
			a.End([]byte(suffix))
			if n := len(a.head) + len(a.tail); n != before+len(whole)-len(suffix)+1 || a.used != len(a.head) {
				t.Fatalf("cut at %d behind %d: %d bytes are held, %d used", cut, before, n, a.used)
			}
			if got, left := taken(&a); got != pad+text || left != 0 {
				t.Fatalf("cut at %d behind %d: got %q, %d left out", cut, before, got[len(pad):], left)
			}
		}
	}
	for _, piece := range []string{`words","more":"x"}` + "\n", "words"} {
		var odd Text
		odd.Write([]byte(piece))
		odd.End([]byte(suffix))
		if got, _ := taken(&odd); got != "words" {
			t.Errorf("%q: got %q", piece, got)
		}
	}
}

// How much is kept of pieces of these sizes: 48 KB of the beginning, and at the end at least as much.
func TestLimits(t *testing.T) {
	const limit = 48 << 10
	for _, tt := range []struct{ pieces, parts []int }{ // parts: bytes, and bytes left out in front of them
		{[]int{limit}, []int{limit, 0}},
		{[]int{limit, limit}, []int{2 * limit, 0}},
		{[]int{limit + limit}, []int{2 * limit, 0}},
		{[]int{limit + limit + 1}, []int{limit, 0, limit - 1, 1}}, // one may be half a character, or of an escape
		{[]int{limit, limit, limit}, []int{3 * limit, 0}},
		{[]int{limit, limit, limit, 1}, []int{limit, 0, limit - 1, limit + 1}},
	} {
		var a Text
		for _, n := range tt.pieces {
			a.Write(bytes.Repeat([]byte("x"), n))
		}
		a.open = false
		var parts []int
		for _, p := range a.Take() {
			parts = append(parts, len(p.Text), p.Omitted)
		}
		if !slices.Equal(parts, tt.parts) {
			t.Errorf("%d: got %d", tt.pieces, parts)
		}
		a.Add(bytes.Repeat([]byte("y"), 200<<10))
		if parts := a.Take(); len(parts) != 1 {
			t.Errorf("%d parts without the beginning", len(parts))
		}
	}
}

// What is held does not grow with what is added.
func TestHeld(t *testing.T) {
	var a Text
	huge := []byte(strings.Repeat(`0123456\n`, 1<<17))
	for range 20 {
		a.Write(huge)
		a.Write(huge)
		a.End(nil)
	}
	if n := cap(a.head) + cap(a.tail); n > 2*headSize+2*tailSize {
		t.Errorf("%d bytes are held", n)
	}
	if parts := a.Take(); len(parts) != 2 || !strings.HasSuffix(parts[1].Text, "0123456\n") ||
		parts[1].Omitted < 40*len(huge)-headSize-2*tailSize {
		t.Errorf("got %d parts", len(parts))
	}
}

// However chunks come and are taken: what is given is in order, the beginning is whole, and nothing is made up.
func TestGenerated(t *testing.T) { rapid.Check(t, generated) }

func generated(t *rapid.T) {
	var a Text
	var all, got strings.Builder
	left := 0
	words := rapid.SampledFrom([]string{"word ", "é", "\n", `"`, `\`, "😀 ", strings.Repeat("longer ", 700),
		strings.Repeat("x", 5000)})
	for range rapid.IntRange(1, 40).Draw(t, "chunks") {
		chunk := strings.Join(rapid.SliceOfN(words, 0, 8).Draw(t, "words"), "")
		all.WriteString(chunk)
		if raw := escaped(chunk); rapid.Bool().Draw(t, "whole") {
			a.Add(raw)
		} else {
			for piece := range slices.Chunk(append(raw, "\"}\n"...), rapid.IntRange(1, 9000).Draw(t, "size")) {
				a.Write(piece)
			}
			a.End([]byte("\"}\n"))
		}
		if rapid.IntRange(0, 3).Draw(t, "take") == 0 {
			for _, p := range a.Take() {
				if left += p.Omitted; left == 0 {
					got.WriteString(p.Text)
				}
				if !strings.Contains(all.String(), p.Text) || !utf8.ValidString(p.Text) {
					t.Fatalf("%q was not said", p.Text)
				}
			}
		}
	}
	text, more := taken(&a)
	if left+more == 0 && got.String()+text != all.String() {
		t.Fatalf("got %q of %q", got.String()+text, all.String())
	}
	if !strings.HasPrefix(all.String(), got.String()) {
		t.Fatalf("%q is not the beginning", got.String())
	}
	if all.Len() < tailSize/2 && left+more > 0 {
		t.Fatalf("%d bytes of a short answer were left out", left+more)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, size := range []int{200, 4 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var a Text
			raw := []byte(strings.Repeat(`word \"x\" `, size/11))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				a.Add(raw)
			}
		})
	}
}
