package answer

import (
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
			if got, left := taken(&a); got != pad+text || left != 0 {
				t.Fatalf("cut at %d behind %d: got %q, %d left out", cut, before, got[len(pad):], left)
			}
		}
	}
	var odd Text
	odd.Write([]byte(`words","more":"x"}` + "\n"))
	odd.End([]byte(suffix))
	if got, _ := taken(&odd); got != "words" {
		t.Errorf("another end: got %q", got)
	}
}

// Of a long answer the beginning and the newest are kept, and what lies between is counted.
func TestLong(t *testing.T) {
	var a Text
	var want strings.Builder
	for i := range 20_000 {
		chunk := fmt.Sprintf("%05d é\n", i)
		a.Add(escaped(chunk))
		want.WriteString(chunk)
	}
	parts := a.Take()
	if len(parts) != 2 || parts[0].Omitted != 0 || parts[1].Omitted == 0 {
		t.Fatalf("got %d parts", len(parts))
	}
	if !strings.HasPrefix(want.String(), parts[0].Text) || len(parts[0].Text) < headSize/2 {
		t.Errorf("the beginning: %d bytes", len(parts[0].Text))
	}
	if !strings.HasSuffix(want.String(), parts[1].Text) || len(parts[1].Text) < tailSize/2 {
		t.Errorf("the end: %q", parts[1].Text[:20])
	}
	a.Add(escaped("the last words"))
	if got, left := taken(&a); got != "the last words" || left != 0 {
		t.Errorf("got %q, %d left out", got, left)
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
