package language

import (
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/realtext"
)

func TestTerms(t *testing.T) {
	for text, want := range map[string]string{
		"The migrations of maxRetryCount":  "migrat max retri count maxretrycount",
		"retry_count is v1.2, isn't it?":   "retri count retrycount v1 2 v12",
		"PDFs and HTTPServer":              "pdf http server httpserver",
		"Die Zahlungen wurden abgelehnt":   "zahlung zahlungen abgelehnt",
		"用户表存在":                            "用户 户表 表存 存在",
		"naïve café":                       "naiv cafe",
		strings.Repeat("x", longestTerm+1): "",
		"the of and":                       "",
	} {
		if got := strings.Join(Terms(text), " "); got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

// What is asked is what is kept: some form of every term of a text is a term of the question that says the same.
func TestAskedAsKept(t *testing.T) {
	for _, text := range []string{"How do I replay the dead letter queue?",
		"Wie werden abgelehnte Zahlungen wiederholt?", "Où sont gardées les sauvegardes chiffrées ?",
		"¿Dónde guardamos las copias cifradas?",
		"用户表在哪个节点", "請求書は誰に送りますか", "데이터베이스는 어디에 있나요", "เราเก็บถังไซเดอร์ไว้ที่ไหน",
		"MaxConns in internal/db/pool.go v1.2"} {
		var asked []string
		for _, term := range Ask(text).Terms {
			asked = append(asked, term.Forms...)
		}
		for _, kept := range Terms(text) {
			if !slices.Contains(asked, kept) {
				t.Errorf("%q: %q is kept and not asked (%q)", text, kept, asked)
			}
		}
	}
}

func TestAsk(t *testing.T) {
	q := Ask("When did Anna move pool.go to the new server, and how many times?")
	for word, check := range map[string]func(Term) bool{
		"Anna":    func(a Term) bool { return a.Name && !a.Identifier },
		"pool.go": func(a Term) bool { return a.Identifier },
		"pool":    func(a Term) bool { return a.Part },
		"new":     func(a Term) bool { return a.Common },
	} {
		if at := slices.IndexFunc(q.Terms, func(a Term) bool { return a.Word == word }); at < 0 || !check(q.Terms[at]) {
			t.Errorf("%s in %+v", word, q.Terms)
		}
	}
}

// A word of signs alone asks for nothing.
func TestAskSigns(t *testing.T) {
	for text, want := range map[string]string{
		"for _, f := range files": "range files", "case _ =>": "case", "_": "", "__ ___ _-_ _'_": "",
	} {
		got := []string{}
		for _, term := range Ask(text).Terms {
			got = append(got, term.Word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q asks for %q, not %q", text, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("It's `maxRetryCount` v1.2 — 用户表 ก็")
	f.Add("\xff’' -.- __init__ PDFs")
	for _, text := range realtext.Seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range Terms(text) {
			if term == "" || len(term) > 2*longestTerm || strings.ContainsAny(term, "\" \n*") {
				t.Errorf("term %q", term)
			}
		}
		if q := Ask(text); len(q.Terms) > maxTerms {
			t.Errorf("%d terms", len(q.Terms))
		}
		for _, s := range Sentences(text) {
			if s.Text == "" {
				t.Error("an empty sentence")
			}
		}
	})
}
