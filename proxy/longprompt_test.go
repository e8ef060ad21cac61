package proxy

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// The words of a prompt are those of a whole parse, without what is private, whatever pieces they come in; of more than
// there is room for they are the beginning and the end.
func TestCollector(t *testing.T) { rapid.Check(t, collectorCheck) }

func FuzzCollector(f *testing.F) { f.Fuzz(rapid.MakeFuzz(collectorCheck)) }

func collectorCheck(t *rapid.T) {
	part := rapid.SampledFrom([]string{"<private>", "</private>", "< Private x=1 >", "CANARY ",
		"&lt;private&gt;", "<", "é", "😀", "word ", `"`, `\`, "\n", strings.Repeat("many words ", 1000),
		strings.Repeat("unbroken", 1000)})
	var texts, blocks []string
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "text"), "")
		texts, blocks = append(texts, text), append(blocks, textBlock(text))
	}
	line := []byte(`{"method":"session/prompt","params":{"sessionId":"s","prompt":[` + strings.Join(blocks, ",") +
		`]}}`)
	whole, private := privacy.WithoutPrivate(strings.Join(texts, chars.BlockMark))
	for _, size := range []int{len(line), rapid.IntRange(1, 5000).Draw(t, "size")} {
		w := &collector{}
		read := frame.Texts{Into: w}
		for piece := range slices.Chunk(line, size) {
			read.Write(piece)
		}
		read.End()
		p := w.End()
		got, found := p.Words()
		if p.Omitted == 0 && got != whole || !slices.Equal(found, private) {
			t.Fatalf("in pieces of %d: %d bytes of %d, %d private passages of %d", size, len(got), len(whole),
				len(found), len(private))
		}
		if !utf8.ValidString(got) || p.Omitted > 0 && len(whole) <= maxPrompt {
			t.Fatalf("in pieces of %d: %d bytes were left out of %d", size, p.Omitted, len(whole))
		}
		if head, _, cut := strings.Cut(got, frame.Seam); cut && !strings.HasPrefix(whole, head) {
			t.Fatalf("in pieces of %d the beginning is another", size)
		}
	}
}

// Where a long text is cut into blocks no escape, no tag and no end is lost, though it has no spaces.
func TestWordsOfBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("it has one goroutine")
	}
	for _, fill := range []string{"x", `"`, `\`, `\"`} {
		for shift := range 40 {
			begin := strings.Repeat("y", shift) + strings.Repeat(fill, 200<<10)
			text := begin + "<private>CANARY</private>" + strings.Repeat(fill, 100<<10) + "QUESTION"
			words, private := collect([]byte(`{"params":{"prompt":[` + textBlock(text) + `]}}`)).Words()
			if !strings.HasSuffix(words, "QUESTION") || strings.Contains(words, "CANARY") ||
				!slices.Equal(private, []string{"CANARY"}) {
				t.Fatalf("%q, %d bytes shifted: %d bytes end with %.20q, %d private passages", fill, shift, len(words),
					words[max(0, len(words)-20):], len(private))
			}
			words, _ = collect([]byte(`{"params":{"prompt":[` + textBlock(begin+"QUESTION") + `]}}`)).Words()
			if !strings.HasSuffix(words, "QUESTION") {
				t.Fatalf("%q, %d bytes shifted: the end is lost", fill, shift)
			}
		}
	}
}
