package proxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// What is kept of a prompt is the same in whatever way it comes: held for its context, whole, in pieces.
func TestOneLength(t *testing.T) {
	private := func(n int) string { return "<private>" + strings.Repeat("CANARY ", n/7) + "</private>" }
	fill := func(n int) string { return strings.Repeat("a \"word\" of é\n", n/16) }
	for _, size := range []int{1 << 10, 20 << 10, 40 << 10, 60 << 10, 80 << 10, 160 << 10, 1 << 20} {
		for _, tt := range []struct{ name, prompt string }{
			{"one text", textBlock(fill(size) + "QUESTION")},
			{"three texts", textBlock(fill(size/3)) + "," + textBlock(fill(size/3)) + "," + textBlock("QUESTION")},
			{"private passages", textBlock(fill(size/4) + private(size/4) + fill(size/4) + private(size/4) + "QUESTION")},
		} {
			t.Run(fmt.Sprint(size>>10, " KB, ", tt.name), func(t *testing.T) {
				w := newWorld(t)
				c := w.start(newSource(), echo())
				c.open()
				c.call(1, "session/new", cwd)
				c.call(2, "session/prompt", `{"sessionId":"s1","prompt":[`+tt.prompt+`]}`)
				c.call(3, "session/prompt", `{"sessionId":"s1","prompt":[`+tt.prompt+`]}`)
				line := fmt.Sprintf(`{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s1",`+
					`"prompt":[%s]}}`,
					tt.prompt)
				for piece := range slices.Chunk([]byte(line+"\n"), max(100, len(line)/7)) {
					if _, err := c.in.Write(piece); err != nil { // the pipe gives what it is given
						t.Fatal(err)
					}
				}
				c.until(`"id":4,`)
				c.close()
				turns, err := w.store.Turns(t.Context(), w.session("echo", "s1").ID)
				if err != nil || len(turns) != 3 {
					t.Fatalf("%d turns (%v)", len(turns), err)
				}
				first := turns[0].User
				if !strings.HasPrefix(first, "a \"word\"") || !strings.HasSuffix(first, "QUESTION") ||
					strings.Contains(first, "CANARY") || len(first) > 2*maxPrompt {
					t.Errorf("%d bytes are stored: %.30q…%q", len(first), first, first[max(0, len(first)-30):])
				}
				for _, turn := range turns[1:] {
					if turn.User != first || turn.Truncated != turns[0].Truncated {
						t.Errorf("held, %d bytes are stored, else %d", len(first), len(turn.User))
					}
				}
			})
		}
	}
}

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
	whole, private := privacy.WithoutPrivate(strings.Join(texts, "\n"))
	for _, size := range []int{len(line), rapid.IntRange(1, 5000).Draw(t, "size")} {
		w := newCollector(new(buffers))
		read := frame.Texts{Into: w}
		for piece := range slices.Chunk(line, size) {
			read.Write(piece)
		}
		read.End()
		w.End()
		got, found := w.Words()
		if w.Omitted() == 0 && got != whole || !slices.Equal(found, private) {
			t.Fatalf("in pieces of %d: %d bytes of %d, %d private passages of %d", size, len(got), len(whole),
				len(found), len(private))
		}
		if !utf8.ValidString(got) || w.Omitted() > 0 && len(whole) <= maxPrompt {
			t.Fatalf("in pieces of %d: %d bytes were left out of %d", size, w.Omitted(), len(whole))
		}
		if head, _, cut := strings.Cut(got, frame.Seam); cut && !strings.HasPrefix(whole, head) {
			t.Fatalf("in pieces of %d the beginning is another", size)
		}
	}
}

// Where a long text is cut into blocks no escape, no tag and no end is lost, though it has no spaces.
func TestWordsOfBlocks(t *testing.T) {
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

func BenchmarkCollector(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20} {
		for name, text := range map[string]string{"code": "if x := f(y); a < 1 {\n", "chinese": "汉字是很多的，",
			"tags": "<p>b</p> "} {
			line := []byte(`{"params":{"prompt":[` + textBlock(strings.Repeat(text, size/len(text))) + `]}}`)
			b.Run(fmt.Sprint(size>>10, " KB/", name), func(b *testing.B) {
				b.SetBytes(int64(len(line)))
				for b.Loop() {
					collect(line)
				}
			})
		}
	}
}
