package language

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// described is a question: its terms, each with what it is and its stems.
func described(q Question) string {
	var b strings.Builder
	mark := func(list ...any) {
		for i := 0; i < len(list); i += 2 {
			if list[i+1].(bool) {
				b.WriteString(list[i].(string) + " ")
			}
		}
	}
	mark("nouns", q.Nouns, "foreign", q.Foreign)
	for _, t := range q.Terms {
		b.WriteString("| " + t.Word + " ")
		mark("name", t.Name, "id", t.Identifier, "common", t.Common, "pair", t.Pair, "part", t.Part)
		b.WriteString(strings.Join(t.Forms, "/") + " ")
	}
	return strings.TrimSpace(b.String())
}

func TestQuestion(t *testing.T) {
	for text, want := range map[string]string{
		"Which port does F5 use, and 16 or #16?": "| port port | F5 name id f5 | 16 16",
		"Is #16 open?":                           "| 16 id 16 | open common open",
		"When is Anna's kiln full?":              "| Anna name anna | kiln kiln | full common full",
		"The garde-t-on follow-up of retry_count v1.2": "| garde common gard | follow common follow " +
			"| retry_count id retrycount | retry part retri | count part count | v1.2 id v12 | v1 part v1 | 2 part 2",
		"a single-board kiln": "| single-board part singleboard | single common part singl | board part board | kiln kiln",
		"is THE KILN A":       "| KILN name id kiln",
		"PDFs of maxRetryCount in the PORTs": "| PDFs pdf | maxRetryCount id maxretrycount | max common part max " +
			"| Retry part retri | Count part count | PORTs name port",
		"kilns":                             "| kilns kiln/kilns",
		"Utilisons-nous le four ?":          "foreign | Utilisons common utilison | four four",
		"Wann brennt Anna den Ofen?":        "nouns foreign | brennt brennt | Anna name anna | Ofen name ofen",
		"谁用猫 表":                             "foreign | 谁用 pair 谁用 | 用猫 pair 用猫 | 表 表",
		"12":                                "| 12 12",
		"the X-ray of a-b":                  "| X-ray id xray | ray part ray",
		strings.Repeat("x", 65):             "",
		"kiln " + strings.Repeat("x.y", 33): "| kiln kiln | yx part yx",
	} {
		if got := described(Ask(text)); got != want {
			t.Errorf("%.60q asks for\n\t%s, want\n\t%s", text, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"It's v1.2. l'index -x 'y a.b- 用户ab カタ 5": "It's=It+s v1.2=v1+2 l'index=l+index x=x y=y a.b=a+b 用户=用户 ab=ab " +
			"カタ=カタ 5=5",
		"naïve\x7f\u0080ok x’y a.用": "naïve=naïve ok=ok x’y=x+y a=a 用=用",
		"PDFs __a__b aB HTTPServer": "PDFs=PDFs __a__b=a+b aB=a+B HTTPServer=HTTP+Server",
		"PDFsx x1Y IDs, _":          "PDFsx=PD+Fsx x1Y=x1Y IDs=IDs _=",
	} {
		var got []string
		for _, w := range Words(text) {
			if text[w.At:w.At+len(w.Text)] != w.Text {
				t.Errorf("%q is not at %d", w.Text, w.At)
			}
			got = append(got, w.Text+"="+strings.Join(w.Parts(), "+"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	const text = "A title:\n\nOne line. Two e.g. lines, no. 5 is it! 1. Three; four is a much longer one than that was; " +
		"five.\n- an item\n- [x] another\nof it\n\n```\ngo test ./...\n```\n```\nx = 1\n```\n```\ngo test\n\ngo vet\n```\n" +
		"## Head #\ntext\n|a|b|\n|-|-|\n> quoted lines are **bold** and [linked](http://x) here\nat foo(bar)\n" +
		"end of p. and `a. b` code! 用户。表！x"
	want := []string{"A title:", "One line.", "Two e.g. lines, no. 5 is it!",
		"1. Three; four is a much longer one than that was;", "five.", "an item item", "another of it item",
		"`go test ./...`", "text under Head", "a: b item under Head", "quoted lines are bold and linked here under Head",
		"end of p. and `a. b` code! under Head", "用户。 under Head", "表！ under Head", "x under Head"}
	var got []string
	for _, s := range Sentences(text) {
		said := s.Text
		if s.Item {
			said += " item"
		}
		if s.Heading != "" {
			said += " under " + s.Heading
		}
		got = append(got, said)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for line, want := range map[string]bool{"func main() {": true, "12:30:01 up": true, "{[(\"a\":1)]}": false,
		"{[(\"a\": 1)]};;": true, "it is a line": false, strings.Repeat("a", 4001): true} {
		if IsDump(line) != want {
			t.Errorf("%.40q is a dump: %v", line, !want)
		}
	}
	for text, want := range map[string]bool{"is it?": true, "is it?*\n": true, "是吗？": true, "ですか。": true, "it is.": false} {
		if EndsInQuestion(text) != want {
			t.Errorf("%q asks: %v", text, !want)
		}
	}
}

func TestContent(t *testing.T) {
	for want, texts := range map[string][]string{
		"[[kiln max retri count 用户 户表 7] [kiln]]": {"The kilns of maxRetryCount and the 用户表 7", "Kiln get_it x"},
		"[[ofen brenn] [ofen]]":                   {"Die Öfen brennen nicht", "Ofen"},
	} {
		if got := fmt.Sprint(Content(texts...)); got != want {
			t.Errorf("%q: %s", texts, got)
		}
	}
}

func TestPhrases(t *testing.T) {
	p := NewPhrases("instead of|don't use|über", "不用")
	for text, want := range map[string]struct {
		in, begins bool
		after      string
	}{
		"Use kiln instead of boats, in the shed": {true, false, "boat"},
		"and please also dont use it":            {true, true, ""},
		"so and please also dont use it":         {true, false, ""},
		"boats instead of":                       {true, false, ""},
		"Instead of the boats":                   {true, true, "boat"},
		"instead":                                {false, false, ""},
		"uber uns":                               {true, true, ""},
		"不用船":                                    {true, true, "船"},
		"我们我们不用船只":                               {true, false, "船只"},
		"":                                       {false, false, ""},
	} {
		plain := PlainOf(text)
		if got := strings.Join(p.After(text, 3), " "); p.In(plain) != want.in || p.Begins(plain) != want.begins || got != want.after {
			t.Errorf("%q: %v, %v, %q", text, p.In(plain), p.Begins(plain), got)
		}
	}
}

func TestPlain(t *testing.T) {
	for _, text := range []string{"Then Anna met Bo, and Anna I", "Ours is older. We met in 1998.", "yesterday, on a Monday"} {
		p := PlainOf(text)
		if n := len(p.Words); p.Word(n) != "" || p.Word(0) != Fold(p.Words[0].Text) {
			t.Errorf("%q: its first word is %q, behind the last %q", text, p.Word(0), p.Word(n))
		}
	}
}
