package frame

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// heard are the texts that a Listener is told.
type heard [][]byte

func (h *heard) Begin()           { *h = append(*h, nil) }
func (h *heard) Write(raw []byte) { (*h)[len(*h)-1] = append((*h)[len(*h)-1], raw...) }

// textsOf reads a frame in pieces of a size.
func textsOf(line []byte, size int) (texts []string, off bool) {
	var into heard
	e := Texts{Into: &into}
	for piece := range slices.Chunk(line, size) {
		e.Write(piece)
	}
	off = e.End()
	for _, raw := range into {
		var d Decoder
		var text []byte
		for piece := range slices.Chunk(raw, size) {
			text = append(text, d.Append(nil, piece)...)
		}
		texts = append(texts, string(append(text, d.End()...)))
	}
	return texts, off
}

func promptOf(blocks string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[` + blocks +
		"]}}\n")
}

func TestTexts(t *testing.T) {
	long := strings.Repeat("many words: and a colon ", 1000)
	for name, test := range map[string]struct {
		blocks string
		want   []string
		off    bool
	}{
		"one": {`{"type":"text","text":"Hello"}`, []string{"Hello"}, false},
		"text first": {`{"text":"Hello","type":"text"},{"text":"world","type":"text"}`, []string{"Hello", "world"},
			false},
		"spaces":         {"{ \"type\" : \"text\" ,\n\t\"text\" : \"Hello\" }", []string{"Hello"}, false},
		"colon in front": {`{"type":"text","text":": Hello"}`, []string{": Hello"}, false},
		"only a colon":   {`{"type":"text","text":":"},{"type":"text","text":" : "}`, []string{":", " : "}, false},
		"looks like keys": {`{"type":"text","text":"\"text\": \"no\", \\\"type\":\"x\":"}`,
			[]string{`"text": "no", \"type":"x":`}, false},
		"ends in slashes": {`{"type":"text","text":"a\\"},{"type":"text","text":"\\\\:"}`, []string{`a\`, `\\:`}, false},
		"behind an image": {`{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"What is it?"}`,
			[]string{"What is it?"}, false},
		"resource": {`{"type":"resource","resource":{"uri":"file:///a","text":"no"}},{"type":"text","text":"yes"},` +
			`{"resource":{"text":"no"},"type":"resource"},{"type":"text","text":"yes, too"}`,
			[]string{"yes", "yes, too"}, false},
		"a text in a resource": {`{"type":"resource","resource":{"type":"text","text":"no"}},{"type":"text","text":"yes"}`,
			[]string{"yes"}, false},
		"link": {`{"type":"resource_link","uri":"text:","name":"text"},{"type":"text","text":"yes"}`,
			[]string{"yes"}, false},
		"no text": {`{"type":"text","text":12},{"type":"video","text":"no"}`, nil, false},
		"annotations": {`{"type":"text","annotations":{"audience":["user"]},"text":"Hello","_meta":{"a":"b"}}`,
			[]string{"Hello"}, false},
		"off":     {`{"type":"text","text":"Hello","_meta":{"signet.ai":{"inject" : false}}}`, []string{"Hello"}, true},
		"on":      {`{"type":"text","text":"Hello \"signet.ai\":{\"inject\":false}","_meta":{"signet.ai":{"inject":true}}}`, []string{`Hello "signet.ai":{"inject":false}`}, false},
		"long":    {`{"type":"text","text":"` + long + `"},{"type":"text","text":"Why?"}`, []string{long, "Why?"}, false},
		"escapes": {`{"type":"text","text":"\u00e9\ud83d\ude00\n"}`, []string{"é😀\n"}, false},
		"empty":   {``, nil, false},
		"far from its colon": {`{"type"` + strings.Repeat(" ", 58) + `:"text","text":"Hello"}`,
			[]string{"Hello"}, false},
	} {
		line := promptOf(test.blocks)
		for size := range min(len(line), 300) {
			if got, off := textsOf(line, size+1); !slices.Equal(got, test.want) || off != test.off {
				t.Fatalf("%s, in pieces of %d: got %q, %v", name, size+1, got, off)
			}
		}
	}
}

// Texts of valid prompts are found as a whole parse finds them, in whatever pieces they come.
func TestGeneratedTexts(t *testing.T) { rapid.Check(t, generatedTexts) }
func FuzzGeneratedTexts(f *testing.F) { f.Fuzz(rapid.MakeFuzz(generatedTexts)) }

func generatedTexts(t *rapid.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		quoted, _ := json.Marshal(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			":", `"`, `\`, `"text":`, `"type":"text"`, " ", "\n", "word", "é", "😀", "{", "}", ",", `":`, `"resource":{`,
			strings.Repeat("long ", 50),
		}), 0, 12).Draw(t, "pieces"), ""))
		return string(quoted)
	})
	space := rapid.SampledFrom([]string{"", "", " ", "\n\t "})
	var want []string
	block := func(int) string {
		colon, comma := space.Draw(t, "space")+":"+space.Draw(t, "space"), space.Draw(t, "space")+","+
			space.Draw(t, "space")
		said := text.Draw(t, "text")
		members := []string{`"type"` + colon + `"text"`, `"text"` + colon + said}
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return fmt.Sprintf(`{"type":"image","data":%s,"mimeType":"image/png"}`, text.Draw(t, "data"))
		case 1:
			return fmt.Sprintf(`{"type":"resource","resource":{"uri":%s,"mimeType":%s,"text":%s}}`, said,
				text.Draw(t, "mime"), text.Draw(t, "body"))
		case 2:
			members = []string{members[1], members[0]}
		case 3:
			members = append(members, `"annotations":{"audience":["assistant"]}`)
		}
		var decoded string
		if err := json.Unmarshal([]byte(said), &decoded); err != nil {
			t.Fatal(err)
		}
		want = append(want, decoded)
		return "{" + strings.Join(members, comma) + "}"
	}
	var blocks []string
	for i := range rapid.IntRange(0, 5).Draw(t, "blocks") {
		blocks = append(blocks, block(i))
	}
	line := promptOf(strings.Join(blocks, space.Draw(t, "space")+","))
	if !json.Valid(line) {
		t.Fatalf("drew %s", line)
	}
	got, off := textsOf(line, rapid.IntRange(1, 80).Draw(t, "size"))
	if !slices.Equal(got, want) || off {
		t.Fatalf("%s: got %q, want %q", line, got, want)
	}
}

func BenchmarkTexts(b *testing.B) {
	line := promptOf(`{"type":"text","text":"` + strings.Repeat(`<b>é & \"x\"</b>\n `, 1<<20/19) + `"}`)
	image := promptOf(`{"type":"image","data":"` + strings.Repeat("QUJD", 1<<18) +
		`"},{"type":"text","text":"What is it?"}`)
	code := promptOf(`{"type":"text","text":"` + strings.Repeat(`	if x := f(y); \"a\": 1, b: 2 {\n`, 1<<20/32) +
		`"}`)
	for name, line := range map[string][]byte{"text": line, "image": image, "code": code} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				e := Texts{Into: &heard{}}
				for piece := range slices.Chunk(line, 256<<10) {
					e.Write(piece)
				}
				e.End()
			}
		})
		b.Run(name+"/Thinner", func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				t := &Thinner{Limit: 64 << 10}
				for piece := range slices.Chunk(line, 256<<10) {
					t.Write(piece)
				}
			}
		})
	}
}
