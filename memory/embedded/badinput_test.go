package embedded

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// What people and programs may throw at it: an answer comes in time, or none, and never an error. In time is measured
// in the processor's, beside what it takes to look at 1 MB, so that a busy machine does not count.
func TestBadInput(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "a", "The lighthouse keeper paints the railing every April, with red lead.", "Noted, every April.")
	session := memory.Session{Key: "k", Project: "/p"}
	floor := processorTime(t)
	for range 10 {
		strings.Fields(strings.ToLower(strings.Repeat("some words of a paste that says nothing ", 25_000)))
	}
	floor = max(processorTime(t)-floor, 50*time.Millisecond) / 10
	for name, prompt := range map[string]string{
		"1 MB": strings.Repeat("some words of a paste that says nothing ", 25_000) +
			"Who paints the railing of the lighthouse?",
		"one word":         "lighthouse",
		"stop words":       "the of and to in is it",
		"punctuation":      "?!… —  ;;; ()",
		"nothing":          "",
		"FTS5":             `" OR content:* NEAR(a b, 2) ^x AND NOT {content} : (y) --`,
		"NUL":              "light\x00house",
		"no UTF-8":         "light\xff\xfehouse",
		"a million a":      strings.Repeat("a", 1_000_000),
		"a million digits": strings.Repeat("7", 1_000_000),
		"brackets":         strings.Repeat("([{", 10_000),
		"newlines":         strings.Repeat("\n", 100_000),
	} {
		begun := processorTime(t)
		if _, err := w.Recall(t.Context(), session, prompt, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := w.Search(t.Context(), Query{Text: prompt, AllProjects: true}); err != nil {
			t.Errorf("searching for %s: %v", name, err)
		}
		if took := processorTime(t) - begun; took > 100*floor {
			t.Errorf("%s took %v of the processor, looking at 1 MB %v", name, took, floor)
		}
	}
	if found := w.search(strings.Repeat("some words of a paste that says nothing ",
		25_000) + "Who paints the railing of the lighthouse?"); len(found) == 0 ||
		!strings.Contains(found[0].Content, "red lead") {
		t.Errorf("behind a paste of 1 MB: %+v", found)
	}
}

// A word is found in every script that people write.
func TestScripts(t *testing.T) {
	w := newWorld(t)
	for text, query := range map[string]string{
		"The cellar holds forty barrels of cider.":   "cellar barrels",
		"Der Keller fasst vierzig Fässer Apfelwein.": "Fass im Keller",
		"Погреб вмещает сорок бочек сидра.":          "бочка сидра",
		"Το κελάρι χωρά σαράντα βαρέλια μηλίτη.":     "κελάρι βαρέλια",
		"يتسع القبو لأربعين برميلا من العصير":        "القبو برميلا",
		"המרתף מכיל ארבעים חביות סיידר":              "המרתף חביות",
		"तहखाने में सेब के रस के चालीस पीपे हैं":     "तहखाने पीपे",
		"地下酒窖可以存放四十桶苹果酒":                             "酒窖存放",
		"地下の酒蔵にはりんご酒の樽が四十個ある":                        "酒蔵の樽",
		"지하 저장고에는 사과주 통이 마흔 개 있다":                    "저장고 사과주",
		"ห้องใต้ดินเก็บถังไซเดอร์ได้สี่สิบถัง":       "ห้องใต้ดิน ไซเดอร์",
		"მარანი იტევს ორმოც კასრ სიდრს":              "მარანი კასრ",
	} {
		m := w.add(Memory{Content: text})
		if found := w.search(query); len(found) == 0 || found[0].ID != m.ID {
			t.Errorf("%q does not find %q: %+v", query, text, found)
		}
	}
}

func TestEqualAndContradicting(t *testing.T) {
	w := newWorld(t)
	var lines strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&lines,
			`{"id":"same-%05d","content":"The ferry leaves pier nine at noon.","created":"2026-01-01T00:00:00Z",`+
				`"session":"s","position":%d}`+"\n", i, i)
	}
	if done, err := w.Import(t.Context(), strings.NewReader(lines.String()), trusted); err != nil || done.Added != 10_000 {
		t.Fatalf("%+v, %v", done, err)
	}
	c, err := w.Recall(t.Context(), memory.Session{Key: "k"}, "When does the ferry leave pier nine?", nil)
	if err != nil || len(c.Items) != 1 {
		t.Errorf("10,000 equal ones are told as %+v, %v", c.Items, err)
	}
	w.add(Memory{Content: "The ferry leaves pier nine at two from now on, not at noon."})
	w.now = w.now.Add(-100 * 365 * 24 * time.Hour) // a clock in the past
	for range 2 {
		if c, err = w.Recall(t.Context(), memory.Session{Key: "k"}, "When does the ferry leave pier nine?",
			nil); err != nil || len(c.Items) == 0 || !strings.Contains(c.Items[0].Text, "at two") {
			t.Errorf("of two that contradict each other the newer goes first: %+v, %v", c.Items, err)
		}
	}
}
