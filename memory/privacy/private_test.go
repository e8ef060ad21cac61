package privacy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/e2e/realtext"
)

func TestWithoutPrivate(t *testing.T) {
	for _, c := range []struct {
		name, in, kept string
		private        []string
	}{
		{"none", "a < b, <b>x</b>", "a < b, <b>x</b>", nil},
		{"one", "a <private> secret </private> b", "a  b", []string{"secret"}},
		{"two", "<private>x</private>y<private>z</private>", "y", []string{"x", "z"}},
		{"case and spacing", "a< PRIVATE >x< / Private >b", "ab", []string{"x"}},
		{"attributes", `a<private reason="mine">x</private>b`, "ab", []string{"x"}},
		{"entities", "a&lt;private&gt;x&lt;/private&gt;b", "ab", []string{"x"}},
		{"unclosed", "a <private>x\ny", "a ", []string{"x\ny"}},
		{"nested", "a<private>x<private>y</private>z</private>b", "ab", []string{"x<private>y</private>z"}},
		{"nested unclosed", "a<private>x<private>y</private>z", "a", []string{"x<private>y</private>z"}},
		{"stray end", "a</private>b", "a</private>b", nil},
		{"empty", "a<private></private>b", "ab", nil},
		{"unclosed in another form", "a&lt;PRIVATE&gt;x", "a", []string{"x"}},
		{"closed in another form", "a<private>x&lt;/Private >b", "ab", []string{"x"}},
		{"closed once too often", "a<private>x</private>y</private>b", "ay</private>b", []string{"x"}},
		{"opened twice", "a<private><private>x</private>b", "a", []string{"<private>x</private>b"}},
		{"with a line end", "a<private\n>x</\nprivate>b", "ab", []string{"x"}},
		{"invisible", "a<pri\u200bvate>x</pri\u00advate>b", "ab", []string{"x"}},
		{"full width", "a＜ｐｒｉｖａｔｅ＞x＜／ｐｒｉｖａｔｅ＞b", "ab", []string{"x"}},
		{"a long attribute", "a<private note=\"" + strings.Repeat("n", 900) + "\">x</private>b", "ab", []string{"x"}},
		{"behind half a letter", "a\xc3<private>x</private>\xe6\xb1<private>y</private>b", "a\xc3\xe6\xb1b",
			[]string{"x", "y"}},
		{"behind letters", "é<private>x</private>汉<private>y</private>b", "é汉b", []string{"x", "y"}},
		{"no tag", "if a <private b", "if a <private b", nil},
		{"others", "<privateKey>x</privateKey>", "<privateKey>x</privateKey>", nil},
	} {
		kept, private := WithoutPrivate(c.in)
		if kept != c.kept {
			t.Errorf("%s: kept %q, want %q", c.name, kept, c.kept)
		}
		if diff := cmp.Diff(c.private, private, cmp.Transformer("nil",
			func(s []string) string { return strings.Join(s, "\x00") })); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// concealed is text without what it repeats of passages, as it may be given while more of it comes.
func concealed(text string, private []string, growing bool) string {
	var c concealer
	c.learn(private)
	return c.add(text, !growing)
}

func TestConceal(t *testing.T) {
	private := []string{"my PIN is 4711-X", "CanaryBird", "line one of it\nline two of it"}
	for _, c := range []struct {
		in   string
		open bool
		want string
	}{
		{"Your PIN is 4711-X, CanaryBird.", false, "Your PIN is [private], [private]."},
		{"You said: my PIN is 4711-X!", false, "You said: [private]!"},
		{"then line two of it", false, "then [private]"},
		{"nothing of it", false, "nothing of it"},
		{"canarybird, CANARYBIRD", false, "[private], [private]"},
		{"MY pin  IS\n4711-x!", false, "[private]!"},
		{"Line Two of it", false, "[private]"},
		{"it is canaryB", true, "it is "},
		{"so, CanaryB", true, "so, "},
		{"so, CanaryB", false, "so, CanaryB"},
		{"it is my PIN", true, "it is "},
		{"", true, ""},
	} {
		if got := concealed(c.in, private, c.open); got != c.want {
			t.Errorf("Conceal(%q, %v) = %q, want %q", c.in, c.open, got, c.want)
		}
	}
	if got := concealed("text", nil, true); got != "text" {
		t.Error(got)
	}
}

// However a text that repeats a canary grows, no state of it that is written shows the canary or the better part of it.
func TestConcealWhileTextGrows(t *testing.T) {
	_, private := WithoutPrivate("hello <private>canary-7f3a91c2d4</private>")
	whole := "You told me canary-7f3a91c2d4, and I repeat: canary-7f3a91c2d4."
	for n := range len(whole) {
		if got := concealed(whole[:n], private, true); strings.Contains(got, "canary") {
			t.Errorf("%q shows in %q", private, got)
		}
	}
	if got, want := concealed(whole, private, false), "You told me [private], and I repeat: [private]."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzWithoutPrivate(f *testing.F) {
	for _, s := range []string{"<private>x</private>", "a&lt;private&gt;b", "<private><private></private>",
		"< / private >", "<private", "</private><private>", "</priv\rAte>0"} {
		f.Add(s)
	}
	for _, text := range realtext.Seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		kept, private := WithoutPrivate(text)
		if len(kept) > len(text) {
			t.Errorf("%q grew to %q", text, kept)
		}
		if kept != text && len(private) == 0 && strings.TrimSpace(kept) == strings.TrimSpace(text) {
			t.Errorf("%q changed to %q for nothing", text, kept)
		}
		oneLine := strings.NewReplacer("\r", "", "\n", "").Replace(text) // a line may end in a tag's name
		if again, _ := WithoutPrivate("<private>" + text); again != "" &&
			!strings.Contains(strings.ToLower(Neutralise(oneLine)), "private") {
			t.Errorf("an open tag before %q leaves %q", text, again)
		}
		concealed(text, private, true)
	})
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{"password=hunter22", "https://a:b@c", "-----BEGIN RSA PRIVATE KEY-----\nAAAA",
		"--token x", "token:", "<password>x</password>", "Bearer abc.def", "key = \"", "?sig=%", "${token}"} {
		f.Add(s)
	}
	for _, text := range realtext.Seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Redact(text)
		if got != text && !strings.Contains(got, "[redacted:") {
			t.Errorf("%q became %q", text, got)
		}
	})
}
