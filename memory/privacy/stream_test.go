package privacy

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/realtext"
)

var placeholderForm = regexp.MustCompile(`\[redacted:[a-z0-9-]+\]|\[private\]`)

// asStrict reports whether got shows nothing that want does not show, in the same order; at says where it does not.
func asStrict(got, want string) (at string, ok bool) {
	for _, part := range placeholderForm.Split(got, -1) {
		part = strings.Trim(part, ", \n") // what stands between two secrets is none
		n := strings.Index(want, part)
		if n < 0 {
			return part, false
		}
		want = want[n+len(part):]
	}
	return "", true
}

func newStream(private ...string) *Stream {
	s := &Stream{}
	s.Conceal(private, nil)
	return s
}

// streamed returns what a stream makes of text that comes in pieces.
func streamed(text string, private []string, size func() int) string {
	s := newStream(private...)
	var out strings.Builder
	for text != "" {
		n := min(len(text), size())
		out.WriteString(s.Write(text[:n]))
		text = text[n:]
	}
	out.WriteString(s.End())
	return out.String()
}

// samples are texts with the secrets of the corpus and other things in them that must not be seen.
type samples struct {
	*rand.Rand
	entries  []string
	secrets  []string
	canaries int
}

func newSamples(t testing.TB, seed uint64) *samples {
	s := &samples{Rand: rand.New(rand.NewPCG(seed, 1))}
	for _, entry := range append(corpus(t, "secrets.txt"), corpus(t, "forms.txt")...) {
		entry = lineEnds(strings.ReplaceAll(entry, "·", ""))
		before, rest, _ := strings.Cut(entry, "«")
		secret, after, _ := strings.Cut(rest, "»")
		if !strings.Contains(Redact(before+secret+after), secret) {
			s.entries, s.secrets = append(s.entries, before+secret+after), append(s.secrets, secret)
		}
	}
	for _, entry := range corpus(t, "lookalikes.txt") {
		s.entries = append(s.entries, lineEnds(entry))
	}
	return s
}

func (s *samples) canary() string {
	s.canaries++
	return fmt.Sprintf("canary-%x-%d", s.Uint32(), s.canaries)
}

func (s *samples) key() string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b := make([]byte, 64)
	for i := range b {
		b[i] = letters[s.IntN(len(letters))]
	}
	return string(b)
}

func (s *samples) words(n int) string {
	return strings.Repeat("so it goes on, ", n)
}

// text returns a text, what must not be seen of it, and what its user marked private before.
func (s *samples) text() (text string, hidden, private []string) {
	var b strings.Builder
	for range 3 + s.IntN(12) {
		switch s.IntN(13) {
		case 0, 1, 2, 3, 4:
			n := s.IntN(len(s.entries))
			b.WriteString(s.entries[n])
			if n < len(s.secrets) {
				hidden = append(hidden, s.secrets[n])
			}
		case 5:
			b.WriteString(s.words(1 + s.IntN(60)))
		case 6:
			c := s.canary()
			hidden = append(hidden, c)
			b.WriteString([]string{"<private>", "< Private >", "&lt;private&gt;",
				"<private\nreason='mine'>"}[s.IntN(4)] + strings.Repeat(c+", ", s.IntN(30)) + "it is\n" + c +
				"</private> and " + c + " again")
		case 7:
			lines := []string{"-----BEGIN RSA PRIVATE KEY-----"}
			for range 1 + s.IntN([]int{4, 30, 400, 2000}[s.IntN(4)]) {
				key := s.key()
				lines, hidden = append(lines, key), append(hidden, key)
			}
			if s.IntN(3) > 0 {
				lines = append(lines, "-----END RSA PRIVATE KEY-----")
			}
			b.WriteString(strings.Join(lines, "\n"))
		case 8:
			c := s.canary()
			private, hidden = append(private, "my number: "+c), append(hidden, c)
			b.WriteString("You said that your number is " + strings.ToUpper(c[:3]) + c[3:] + ", " + c)
		case 9:
			b.WriteString(strings.Repeat("=", s.IntN(2000)))
		case 10:
			b.WriteString(`passphrase: "` + s.words(s.IntN(20)))
		case 11:
			b.WriteString("a < b && <p> &amp; <privat")
		case 12:
			b.WriteString("-----BEGIN CERTIFICATE----- is how it begins")
		}
		b.WriteString([]string{"\n", " ", "\n\n", ", "}[s.IntN(4)])
	}
	return b.String(), hidden, private
}

// Whatever the text and wherever it is cut, what a stream gives is what the whole text would give, or less.
func TestStream(t *testing.T) {
	equal, all := 0, 0
	for seed := range uint64(120) {
		s := newSamples(t, seed)
		text, hidden, private := s.text()
		want := Clean(text, private)
		most := []int{3, 40, 700, 1 << 20}[s.IntN(4)]
		if len(text) > 20<<10 { // it takes long in tiny pieces
			most = max(most, 300)
		}
		got := streamed(text, private, func() int { return 1 + s.IntN(most) })
		if at, ok := asStrict(got, want); !ok {
			n := 0
			for n < min(len(got), len(want)) && got[n] == want[n] {
				n++
			}
			t.Fatalf("seed %d: shows %.200q, which the whole text does not; they differ from\n%.300q\n%.300q", seed, at,
				got[max(0, n-100):], want[max(0, n-100):])
		}
		for _, h := range hidden {
			if strings.Contains(got, h) {
				t.Fatalf("seed %d: %q shows", seed, h)
			}
		}
		if all++; got == want {
			equal++
		}
	}
	t.Logf("%d of %d the same as the whole text's", equal, all)
	if 10*equal < 8*all {
		t.Errorf("only %d of %d are the same as the whole text's", equal, all)
	}
}

// What is given goes to disk before the rest has come: nothing of it may be the beginning of what is hidden later.
func TestStreamHoldsBack(t *testing.T) {
	key := "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	long := strings.Repeat("ward ", 100)
	for _, c := range []struct{ name, text, ready, end string }{
		{"whole lines", "one\ntwo\nthr", "one\ntwo\n", "thr"},
		{"a long line", long, strings.Repeat("ward ", 48), strings.Repeat("ward ", 52)},
		{"half a key", "one\nkey " + key[:20], "one\n", "key " + key[:20]},
		{"a key", "one\nkey " + key + "\n", "one\nkey [redacted:github]\n", ""},
		{"private", "one\n<private>two\nthree\n", "one\n", ""},
		{"private, closed", "one\n<private>two\nthree\n</private>four\n", "one\nfour\n", ""},
		{"half a tag", "one\ntwo <priv\n", "one\ntwo <priv\n", ""},
		{"the beginning of a tag", "one\ntwo <priv", "one\n", "two <priv"},
		{"a block", "one\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n", "one\n", "[redacted:private-key]"},
		{"a block, closed", "a\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\nb\n", "a\n[redacted:private-key]\nb\n", ""},
		{"a quote", "one\npassphrase: \"correct horse\n", "one\n", "passphrase: \"[redacted:password]"},
		{"a quote, closed", "one\npassphrase: \"correct horse\nbattery\" two\n", "one\npassphrase: \"[redacted:password]\" two\n", ""},
		{"an element", "one\n<password>hunter22\n", "one\n", "<password>hunter22\n"},
		{"an element, closed", "one\n<password>hunter22\n</password>\n", "one\n<password>[redacted:password]\n</password>\n", ""},
		{"what the user marked", "one\nthe number is 4711-\n", "one\n", "the number is [private]-\n"},
		{"what is cut off here", "password:\n", "password:\n", ""},
	} {
		s := newStream("4711-\nX99")
		if got := s.Write(c.text); got != c.ready {
			t.Errorf("%s: ready %q, want %q", c.name, got, c.ready)
		}
		if got := s.Write(""); got != "" {
			t.Errorf("%s: then %q", c.name, got)
		}
		if got := s.End(); got != c.end {
			t.Errorf("%s: at the end %q, want %q", c.name, got, c.end)
		}
	}
}

func TestStreamConcealsFromThenOn(t *testing.T) {
	s := newStream()
	got := s.Write("It is canary-77.\n")
	s.Conceal([]string{"canary-77"}, nil)
	got += s.Write("It is canary-77.\nIt is Can") + s.Write("ary-77") + s.End()
	if want := "It is canary-77.\nIt is [private].\nIt is [private]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestStreamSkips(t *testing.T) {
	key := "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	for _, c := range []struct{ name, before, after, want string }{
		{"words", "one two", "four five", "one | five"},
		{"a key", "one\nkey " + key[:30], key[35:] + " two", "one\nkey | two"},
		{"a block", "one\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "def\n-----END PRIVATE KEY-----\ntwo", "one\n|\n-----END PRIVATE KEY-----\ntwo"},
		{"private before", "one <private>two", "four</private> five", "one | five"},
		{"private in it", "one two", "four</private> five six", "one | five six"},
		{"half a tag", "one <pri", "two</private> three four", "one | three four"},
		{"private in what nobody knows", "one\n", "two</private> three four", "one\n| three four"},
		{"nothing private in it", "one\n", "two <private>three</private> four", "one\n|  four"},
		{"a long text behind it", "one\n", "two " + strings.Repeat("so it goes ", 400) + "</private>", "one\n| " + strings.Repeat("so it goes ", 400) + "</private>"},
	} {
		s := newStream()
		if got := s.Write(c.before) + s.Skip() + "|" + s.Write(c.after) + s.End(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A span that stays open costs a placeholder, and neither memory nor time without end.
func TestStreamOpenForEver(t *testing.T) {
	for _, c := range []struct{ name, begin, more, end, want string }{
		{"a block", "-----BEGIN PRIVATE KEY-----\n", strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n", 100), "-----END PRIVATE KEY-----\nafter\n", "[redacted:private-key]\nafter\n"},
		{"one word", "x", strings.Repeat("0123456789", 700), " after\n", "[redacted:unbroken] after\n"},
		{"private", "<private>", strings.Repeat("so it goes on\n", 500), "</private>after\n", "after\n"},
		{"what was marked", "the ", strings.Repeat("4711-", 1000), "4711-X99\n", ""},
	} {
		s := newStream("4711-X99")
		var got strings.Builder
		got.WriteString(s.Write(c.begin))
		for range 100 {
			for rest := c.more; rest != ""; rest = rest[min(len(rest), 100):] {
				got.WriteString(s.Write(rest[:min(len(rest), 100)]))
			}
			if n := len(s.redactor.held) + len(s.conceal.held) + len(s.passages.part) + len(s.passages.passage); n > 2*maxOpen+100 {
				t.Fatalf("%s: holds %d bytes", c.name, n)
			}
		}
		got.WriteString(s.Write(c.end) + s.End())
		if c.want != "" && got.String() != c.want {
			t.Errorf("%s: %.200q, want %q", c.name, got.String(), c.want)
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, text := range []string{"password: \"a b", "-----BEGIN X-----\n", "<private", "&lt;priv",
		"https://a:b@", "one\n\n\ntwo"} {
		f.Add(text, text, byte(3))
	}
	key := "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	for _, text := range realtext.Seeds(f) {
		f.Add(text, "", byte(20))
	}
	f.Fuzz(func(t *testing.T, before, after string, size byte) {
		text := before + " \n" + key + "\n<private>canary-77-x</private>\nCANARY-77-X marked-88-y " + after
		got := streamed(text, []string{"it is marked-88-y"}, func() int { return 1 + int(size) })
		for _, h := range []string{key, "canary-77-x", "CANARY-77-X", "marked-88-y"} {
			if strings.Contains(got, h) && !strings.Contains(before+after, h) {
				t.Errorf("%q shows in %q", h, got)
			}
		}
	})
}

func BenchmarkStream(b *testing.B) {
	text := strings.Repeat("We moved the API from Postgres 15 to 16; commit 9c8e7d6f5a4b has it, see "+
		"https://example.com/wiki/x?y=1.\nThe token budget is: 6000.\n", 96)
	for _, chunk := range []int{20, 400, 4096} {
		b.Run(fmt.Sprintf("chunk=%d", chunk), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s := newStream("my PIN is 4711-X")
				for i := 0; i < len(text); i += chunk {
					s.Write(text[i:min(len(text), i+chunk)])
				}
				s.End()
			}
		})
	}
}

// Words between two gaps are not lost, though a private passage might have ended in them.
func TestStreamSkipsTwice(t *testing.T) {
	s := newStream()
	got := s.Write("one\n") + s.Skip() + s.Write("two three\n") + s.Skip() + s.Write(" four") + s.End()
	if want := "one\n three\n four"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
