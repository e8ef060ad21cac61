package embedded

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/realtext"
	"github.com/Signet-AI/signet-acp-proxy/memory"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

func TestScope(t *testing.T) {
	w := newWorld(t)
	w.said("/p/one", "a", "Remember that the kettle is in the copper room. I prefer espresso over filter coffee.", "ok")
	w.said("", "b", "Remember that the bicycle lock code is on the blue card.", "ok")
	for _, c := range []struct {
		project, prompt, want string
	}{
		{"/p/one", "Where is the kettle?", "copper"},
		{"/p/two", "Do I prefer espresso or filter coffee?", "espresso"},
		{"", "Do I prefer espresso or filter coffee?", "espresso"},
		{"/p/two", "Where is the bicycle lock code?", "blue card"},
	} {
		if got := w.recall(memory.Session{Key: "k", Project: c.project}, c.prompt); !strings.Contains(got, c.want) ||
			c.project != "/p/one" && strings.Contains(got, "copper") {
			t.Errorf("in %q, %q: recalled %q, want %q", c.project, c.prompt, got, c.want)
		}
	}
	w.opts.NotPersonal = true
	for project, want := range map[string]string{"/p/one": "espresso", "/p/two": ""} {
		got := w.recall(memory.Session{Key: "k", Project: project}, "Do I prefer espresso or filter coffee?")
		if !strings.Contains(got, want) || want == "" && strings.Contains(got, "espresso") {
			t.Errorf("without what is personal, in %s: recalled %q, want %q", project, got, want)
		}
	}
	w.opts.OtherProjects = true
	if got := w.recall(memory.Session{Key: "k", Project: "/p/two"},
		"Where is the kettle?"); !strings.Contains(got, "copper") {
		t.Errorf("with other projects configured: %q", got)
	}
}

// Which memories a session of /p may ask for by their ids.
func TestSees(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		options Options
		memory  Memory
		want    bool
	}{
		{Options{}, Memory{Project: "/p"}, true},
		{Options{}, Memory{}, true},
		{Options{}, Memory{Project: "/q"}, false},
		{Options{}, Memory{Project: "/q", Personal: true}, true},
		{Options{NotPersonal: true}, Memory{Project: "/q", Personal: true}, false},
		{Options{OtherProjects: true}, Memory{Project: "/q"}, true},
	} {
		w.opts.OtherProjects, w.opts.NotPersonal = tt.options.OtherProjects, tt.options.NotPersonal
		if got := w.Sees("/p", tt.memory); got != tt.want {
			t.Errorf("%+v, %+v: %v", tt.options, tt.memory, got)
		}
	}
}

func TestSeenIsNotRecalledAgain(t *testing.T) {
	w := newWorld(t)
	m := w.add(Memory{Content: "The fire drill is on the second Thursday."})
	for _, seen := range [][]string{{m.ID}, {m.Content}} {
		c, err := w.Recall(t.Context(), memory.Session{}, "When is the fire drill?", seen)
		if err != nil || len(c.Items) != 0 {
			t.Errorf("seen %q: %+v, %v", seen, c.Items, err)
		}
	}
	w.said("/p", "a", "Never edit the vendor folder.", "Right.")
	rules, err := w.Profile(t.Context(), Filter{})
	if err != nil || len(rules) != 1 {
		t.Fatalf("%+v, %v", rules, err)
	}
	for _, seen := range []string{rules[0].ID, rules[0].Content} {
		c, err := w.Recall(t.Context(), memory.Session{Key: "new", Project: "/p"}, "update the vendor folder", []string{seen})
		if err != nil || len(c.Profile) != 0 {
			t.Errorf("the rule was seen as %q: %+v, %v", seen, c.Profile, err)
		}
	}
}

func TestForkIsNotToldItsParent(t *testing.T) {
	w := newWorld(t)
	parent := w.said("/p", "a", "Remember that the mascot is a pangolin.", "ok")
	if got := w.recall(memory.Session{Key: "child", ParentKey: parent, Project: "/p"},
		"What is the mascot?"); got != "" {
		t.Errorf("recalled %q", got)
	}
}

// A prompt that says little recalls nothing.
func TestSilence(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "a", "We run the tests with make test because CI does. Fix the error in parser.go.",
		"Fixed: the error in `parser.go` was a missing check, and the tests pass now.")
	for _, prompt := range []string{"", "ok", "thanks!", "go on", "yes please do that", "👍", "/help", "???",
		"what do you think?", "\x00\xff", "the of and"} {
		if got := w.recall(memory.Session{Key: "k", Project: "/p"}, prompt); got != "" {
			t.Errorf("%q recalled %q", prompt, got)
		}
	}
}

// No spaces set CJK words apart: a word is found although a character of it alone only asks.
func TestSearchCJK(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"用户表存在中国节点", "应用发布到华东", "데이터베이스는 마리아DB 입니다", "우리 스테이징 포트는 8080 입니다", "請求書は佐藤さんに送る"} {
		w.add(Memory{Content: text})
	}
	for query, want := range map[string]string{
		"用户": "用户表", "中国": "中国", "存在": "存在", "应用": "应用", "我们的应用在哪里": "应用", "데이터베이스": "데이터", "데이터베이스가 뭐야?": "데이터",
		"스테이징 포트가 뭐야?": "8080", "포트": "8080", "請求書": "佐藤", "佐藤": "佐藤", "我们用什么": "", "什么的": "", "우리가 무엇을": "",
	} {
		found := w.search(query)
		if want == "" && len(found) > 0 || want != "" && (len(found) == 0 ||
			!strings.Contains(found[0].Content, want)) {
			t.Errorf("%q found %+v, want %q", query, found, want)
		}
	}
}

// The database is held by somebody else: the prompt goes without, in time.
func TestRecallFailsOpen(t *testing.T) {
	w := newWorld(t)
	w.add(Memory{Content: "The fire drill is on the second Thursday."})
	tx, err := w.db.BeginTx(t.Context(), nil) // the one connection
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	c, err := w.Recall(ctx, memory.Session{}, "When is the fire drill?", nil)
	if err != nil || !c.Empty() || c.CutOff == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := w.Start(ctx, memory.Session{}); err != nil {
		t.Error(err)
	}
}

// What an older version left is indexed.
func TestIndexIsCaughtUp(t *testing.T) {
	w := newWorld(t)
	m := w.add(Memory{Content: "The fire drill is on the second Thursday."})
	if _, err := w.db.Exec(`DELETE FROM passages_fts; INSERT INTO passages_index VALUES ('passage', ?, 0)`, 1); err != nil {
		t.Fatal(err)
	}
	if err := w.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := w.search("fire drill"); len(found) != 1 || found[0].ID != m.ID {
		t.Errorf("%+v", found)
	}
}

func FuzzSearch(f *testing.F) {
	for _, q := range readQuestions(f)[:20] {
		f.Add(q.text)
	}
	for _, text := range []string{`" OR 1=1 --`, `NEAR(a b)`, `content:*`, `^a + b`, "🎉 emoji", "東京 と 大阪", "a\x00b",
		"\xff\xfe", "(((", `"unclosed`, "{x y}: z", "naïve café", "__init__", "A.B.C", "'’'"} {
		f.Add(text)
	}
	w := newWorld(f)
	w.now = time.Now()
	if err := sqlite.Write(context.Background(), w.db, "", func(*sql.Tx) error { return nil }); err != nil {
		f.Fatal(err)
	}
	for _, c := range readConversations(f)[:10] {
		w.said(c.project, c.date.String(), c.texts...)
	}
	for _, text := range realtext.Seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := w.Search(context.Background(), Query{Text: text, AllProjects: true}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		m, _, err := w.Add(context.Background(), Memory{Content: text})
		if err != nil {
			return
		}
		if err := w.Forget(context.Background(), m.ID); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// A commit is found by the beginning of its hash, and by nothing that only looks like one.
func TestShortHash(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "a", "Which commit broke the kiln?", "It was 7f3c91d0e2b84a5566cc19f0ab3344de55667788, the second of May.")
	for text, want := range map[string]bool{"7f3c91d0": true, "7f3c91d1": false, "f3c91d0e": false, "7f3c91": false} {
		found, err := w.Search(t.Context(), Query{Text: text, Project: "/p"})
		if err != nil || len(found) > 0 != want {
			t.Errorf("%s: %d found, %v", text, len(found), err)
		}
	}
}
