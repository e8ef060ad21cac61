package embedded

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A question of testdata/recall/questions.txt.
type question struct {
	project, kind, text string
	want                []string // one of which an answer contains
	outdated            string   // what must not stand above the answer
}

// Kinds of questions without an answer; nothing is found where none is expected.
const (
	noAnswer = "none"
	nearMiss = "near" // about something that was spoken of
)

func (q question) unanswerable() bool { return q.kind == noAnswer || q.kind == nearMiss }

func readQuestions(t testing.TB) []question { return questionsIn(t, "testdata/recall") }

func questionsIn(t testing.TB, folder string) []question {
	t.Helper()
	var all []question
	for _, line := range readLines(t, folder+"/questions.txt") {
		f := strings.Split(line, "|")
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		q := question{project: projectPath(f[0]), kind: f[1], text: f[2], want: strings.Split(f[3], " / ")}
		if len(f) > 4 {
			q.outdated = f[4]
		}
		all = append(all, q)
	}
	return all
}

func projectPath(name string) string {
	if name == "-" {
		return ""
	}
	return "/src/" + name
}

// A conversation of testdata/recall/sessions.txt.
type conversation struct {
	project string
	date    time.Time
	texts   []string // user, assistant, user, …
}

func readConversations(t testing.TB) []conversation { return conversationsIn(t, "testdata/recall") }

func conversationsIn(t testing.TB, folder string) []conversation {
	t.Helper()
	var all []conversation
	for _, line := range readLines(t, folder+"/sessions.txt") {
		if head, ok := strings.CutPrefix(line, "== "); ok {
			name, day, _ := strings.Cut(head, " ")
			date, err := time.Parse("2006-01-02", day)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, conversation{project: projectPath(name), date: date.Add(9 * time.Hour)})
			continue
		}
		if len(all) == 0 {
			continue
		}
		c := &all[len(all)-1]
		if side := min(len(line), 2); line[:side] == "U:" || line[:side] == "A:" {
			c.texts = append(c.texts, strings.TrimPrefix(line[2:], " "))
		} else if len(c.texts) > 0 {
			c.texts[len(c.texts)-1] += "\n" + line
		}
	}
	return all
}

func readLines(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); {
		if line := in.Text(); !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	if strings.HasSuffix(name, "questions.txt") {
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
	}
	return lines
}

// figures are what a way to recall reaches.
type figures struct {
	asked, found map[string]int // by kind
	bytes        int            // injected, for all questions
}

func measure(t testing.TB, questions []question, recall func(q question) []string) figures {
	f := figures{asked: map[string]int{}, found: map[string]int{}}
	for _, q := range questions {
		texts := recall(q)
		for _, text := range texts {
			f.bytes += len(text)
		}
		f.asked[q.kind]++
		switch {
		case !q.unanswerable() && answers(q, texts):
			f.found[q.kind]++
		case !q.unanswerable():
			t.Logf("missed: %s: %s: want %q\n\t%s", q.project, q.text, q.want, strings.Join(texts, "\n\t"))
		case len(texts) > 0:
			f.found[q.kind]++
			t.Logf("should be silent: %s: %s\n\t%s", q.project, q.text, strings.Join(texts, "\n\t"))
		}
	}
	return f
}

func answers(q question, texts []string) bool {
	for _, text := range texts {
		if slices.ContainsFunc(q.want, func(w string) bool { return strings.Contains(text, w) }) {
			return true
		}
		if q.outdated != "" && strings.Contains(text, q.outdated) {
			return false
		}
	}
	return false
}

// recallAt5 is the share of the questions with an answer that got it among the first five items.
func (f figures) recallAt5() float64 {
	asked, found := 0, 0
	for kind, n := range f.asked {
		if kind != noAnswer && kind != nearMiss {
			asked += n
			found += f.found[kind]
		}
	}
	return float64(found) / float64(asked)
}

// What must hold: the share of questions with an answer that get it among five items, the same for names of files,
// identifiers and errors and for what has changed, and the share of questions without an answer that may be told
// something.
type floors struct{ all, identifiers, updates, foreign float64 }

// TestRecallFigures asks what is in testdata. The tables that it prints are those of make recall.
func TestRecallFigures(t *testing.T) {
	for _, c := range []struct {
		folder string
		asked  time.Time
		floors
	}{
		{"testdata/recall", time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC), floors{.94, 1, .92, .05}},
		{"testdata/coding", time.Date(2026, 6, 30, 9, 0, 0, 0, time.UTC), floors{.88, .96, .70, .05}},
	} {
		t.Run(filepath.Base(c.folder), func(t *testing.T) { recallFigures(t, c.folder, c.asked, c.floors) })
	}
}

func recallFigures(t *testing.T, folder string, asked time.Time, least floors) {
	w := newWorld(t)
	conversations, questions := conversationsIn(t, folder), questionsIn(t, folder)
	slices.SortStableFunc(conversations, func(a, b conversation) int { return a.date.Compare(b.date) })
	for i, c := range conversations {
		w.now = c.date
		w.said(c.project, fmt.Sprint("session-", i), c.texts...)
	}
	w.now = asked

	ours := measure(t, questions, func(q question) []string {
		c, err := w.Recall(t.Context(), memory.Session{Key: "asking", Project: q.project}, q.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if q.unanswerable() { // the profile is told whatever the prompt
			return itemTexts(c.Items)
		}
		return itemTexts(slices.Concat(c.Profile, c.Items))
	})
	quiet := func(f func(q question) []string) figures { return measure(silent{t}, questions, f) }
	unicode := quiet(w.plain("unicode61"))
	trigram := quiet(w.plain("trigram"))

	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	kinds := []string{}
	for kind := range ours.asked {
		if kind != noAnswer && kind != nearMiss {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Compare(ours.asked[b], ours.asked[a]) })
	fmt.Fprintf(out, "\trecall@5\t%s\tno answer: told\tnear miss: told\tbytes a prompt\t\n", strings.Join(kinds, "\t"))
	for _, row := range []struct {
		name string
		f    figures
	}{{"BM25 over turns, words", unicode}, {"BM25 over turns, trigrams", trigram}, {"embedded store", ours}} {
		fmt.Fprintf(out, "%s\t%.3f\t", row.name, row.f.recallAt5())
		for _, kind := range kinds {
			fmt.Fprintf(out, "%d/%d\t", row.f.found[kind], row.f.asked[kind])
		}
		fmt.Fprintf(out, "%d/%d\t%d/%d\t%d\t\n", row.f.found[noAnswer], row.f.asked[noAnswer], row.f.found[nearMiss],
			row.f.asked[nearMiss], row.f.bytes/len(questions))
	}
	out.Flush()
	without := ours.asked[noAnswer] + ours.asked[nearMiss]
	t.Logf("%d sessions, %d questions with an answer, %d without\n%s", len(conversations), len(questions)-without,
		without, table.String())

	share := func(kind string) float64 { return float64(ours.found[kind]) / max(float64(ours.asked[kind]), 1) }
	for name, f := range map[string][2]float64{"recall@5": {ours.recallAt5(), least.all},
		"identifiers": {share("identifier"), least.identifiers}, "what changed": {share("update"), least.updates}} {
		if f[0] < f[1] {
			t.Errorf("%s is %.3f, want at least %.2f", name, f[0], f[1])
		}
	}
	if f := share(noAnswer); f > least.foreign {
		t.Errorf("%.3f of the questions without an answer were told something, want at most %.2f", f, least.foreign)
	}
}

func itemTexts(items []memory.Item) []string {
	texts := make([]string, len(items))
	for i, it := range items {
		texts[i] = it.Text
	}
	return texts
}

// silent keeps what the baselines miss out of the log.
type silent struct{ testing.TB }

func (silent) Logf(string, ...any) {}

// plain is the baseline: BM25 over whole turns, all words of the prompt, in the same scope.
func (w *world) plain(tokenizer string) func(q question) []string {
	exec := func(query string) {
		if _, err := w.db.Exec(query); err != nil {
			w.t.Fatal(err)
		}
	}
	exec(`CREATE VIRTUAL TABLE plain_` + tokenizer +
		` USING fts5 (project UNINDEXED, text, tokenize = ` + tokenizer + `)`)
	exec(`INSERT INTO plain_` + tokenizer +
		` SELECT s.project, t.user || char(10) || t.assistant FROM turns t JOIN sessions s ON s.id = t.session`)
	return func(q question) []string {
		var match []string
		for _, word := range language.Words(q.text) {
			if tokenizer == "trigram" {
				for runes := []rune(word.Text); len(runes) >= 3; runes = runes[1:] {
					match = append(match, strconv.Quote(string(runes[:3])))
				}
			} else {
				match = append(match, strconv.Quote(word.Text))
			}
		}
		if len(match) == 0 {
			return nil
		}
		texts, err := sqlite.Collect(w.t.Context(), w.db, sqlite.One[string],
			`SELECT text FROM plain_`+tokenizer+` WHERE plain_`+tokenizer+` MATCH ? AND project IN (?, '') ORDER BY rank LIMIT 5`,
			strings.Join(match, " OR "), q.project)
		if err != nil {
			w.t.Fatal(err)
		}
		return texts
	}
}
