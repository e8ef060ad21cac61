package embedded

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// What was said on purpose always arrives, whatever else was said and in whichever session.

// ordinary is what is said between: ordinary turns, with words that statements have too.
var ordinary = [][2]string{
	{"the parser drops the last line of a file, find out why", "The loop ends one line early. I fixed it and added a test."},
	{"run the tests again", "All 214 tests pass."},
	{"don't commit yet, let's discuss the names first", "Sure: I would call it reader."},
	{"I like the second one, use that", "Renamed."},
	{"src/read.ts:41:7 - error TS2345: never use the any type here", "The argument was unknown; I narrowed it."},
	{"what does this README say?\n\n# Otter\n\nAlways use npm. Never answer in German.", "It says to use npm."},
	{"the button should always be blue", "It is blue now."},
	{"why is the build slow on the release branch?", "The cache is empty there, because the lockfile differs."},
}

func TestSaidOnPurpose(t *testing.T) {
	w := newWorld(t)
	statements := []string{
		"Always answer in German.", "pnpm, never npm", "my name is Ilse Varga", "before you commit, run make lint",
		"Remember that the staging database is reset every night.", "I prefer short answers without an introduction.",
		"From now on write the test before the fix.", "Never push without asking me first.",
		"We use tabs, not spaces.", "Keep in mind that the bank's API is down on Sundays.",
	}
	for session := range 7 {
		var texts []string
		for i, s := range statements {
			if i%7 == session {
				texts = append(texts, ordinary[(i+3)%len(ordinary)][0], ordinary[(i+3)%len(ordinary)][1], s, "Noted.")
			}
		}
		for _, turn := range ordinary[session:] {
			texts = append(texts, turn[0], turn[1])
		}
		w.now = w.now.Add(time.Hour)
		w.said("/p", fmt.Sprint("session-", session), texts...)
	}
	fitting := []struct{ prompt, want string }{
		{"explain the reader to me", "German"}, {"summarise what you changed", "German"},
		{"what is a rope data structure?", "German"}, {"hi", "German"},
		{"add a date library", "pnpm"}, {"install the dependencies", "pnpm"}, {"upgrade vite", "pnpm"},
		{"who am I?", "Ilse"}, {"sign the release notes with my name", "Ilse"},
		{"commit this", "make lint"}, {"ok, commit it", "make lint"},
		{"why is the staging database empty this morning?", "reset every night"},
		{"seed the staging database", "reset every night"},
		{"how does the cache work?", "short answers"}, {"explain the build", "short answers"},
		{"fix the crash in the reader", "test before the fix"}, {"there is a bug in the loader", "test before the fix"},
		{"push the branch", "asking me first"}, {"format the reader", "tabs"}, {"is the bank's API down?", "Sundays"},
	}
	told := 0
	for _, f := range fitting {
		if got := w.recall(memory.Session{Key: "new", Project: "/p"}, f.prompt); strings.Contains(got, f.want) {
			told++
		} else {
			t.Logf("%q is not told of %q: %q", f.prompt, f.want, got)
		}
	}
	if told < 18 {
		t.Errorf("%d of %d fitting prompts are told what was said on purpose", told, len(fitting))
	}
	for _, s := range w.standing("/p") {
		if !slices.ContainsFunc(statements, func(want string) bool { return strings.HasSuffix(s, ": "+want) }) {
			t.Errorf("nobody stated %q", s)
		}
	}
	elsewhere := w.recall(memory.Session{Key: "new", Project: "/q"}, "commit this")
	for _, private := range []string{"make lint", "pnpm", "staging", "Sundays", "tabs"} {
		if strings.Contains(elsewhere, private) {
			t.Errorf("another project is told %q", elsewhere)
		}
	}
	for _, own := range []string{"German", "Ilse", "short answers"} {
		if !strings.Contains(elsewhere, own) {
			t.Errorf("another project is not told of %s: %q", own, elsewhere)
		}
	}
}

// Notes that were stored on purpose are told beside a long history that has all their words.
func TestNotesBesideHistory(t *testing.T) {
	w := newWorld(t)
	for i, c := range conversationsIn(t, "testdata/recall") {
		w.now = c.date
		w.said("/p", fmt.Sprint("session-", i), c.texts...)
	}
	var commits strings.Builder
	for i := range 500 {
		fmt.Fprintf(&commits, `{"content":"fix the %s of the %s in the %s (#%d)","project":"/p"}`+"\n", []string{"test", "cache",
			"port", "log"}[i%4], []string{"server", "database", "deploy", "build"}[i/4%4], []string{"docs", "api"}[i%2], i)
	}
	if _, err := w.Import(t.Context(), strings.NewReader(commits.String()), ImportOptions{Project: "/p"}); err != nil {
		t.Fatal(err)
	}
	notes := []struct{ note, prompt string }{
		{"The deploy of the server needs the key from the otter vault.", "how do I deploy the server, which key does it need?"},
		{"Ask Maren before the database of invoices is migrated.", "migrate the database of invoices"},
		{"The flaky upload test is quarantined until the proxy is replaced.", "why is the upload test quarantined?"},
		{"Backups of the wiki are in the cold bucket called pelican.", "where are the wiki backups?"},
		{"The licence server runs on port 7443 of the old rack.", "on which port does the licence server run?"},
		{"Heron is our name for the billing rewrite.", "what do we mean by Heron"},
		{"The design tokens are exported from Figma on Mondays.", "when are the design tokens exported?"},
		{"Load tests run against the staging cluster in Oslo.", "where do the load tests run?"},
		{"The mobile build needs Xcode 15 and no later one.", "which Xcode does the mobile build need?"},
		{"Search results are capped at 40 for guests.", "how many search results do guests get?"},
	}
	for _, n := range notes {
		if _, _, err := w.Add(t.Context(), Memory{Content: n.note, Project: "/p", Source: "memory_store", Who: memory.Tool}); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range notes {
		c, err := w.Recall(t.Context(), memory.Session{Key: "new", Project: "/p"}, n.prompt, nil)
		if err != nil || !slices.ContainsFunc(c.Items, func(it memory.Item) bool { return it.Text == n.note }) {
			t.Errorf("%q is not told %q: %q, %v", n.prompt, n.note, itemTexts(c.Items), err)
		}
		imported := 0
		for _, it := range c.Items {
			if it.Who == memory.Imported {
				imported++
			}
		}
		if imported > toldNotes {
			t.Errorf("%q is told %d commit messages", n.prompt, imported)
		}
	}
	if got := w.recall(memory.Session{Key: "new", Project: "/p"}, "paint the boat house green"); strings.Contains(got, "fix the") {
		t.Errorf("nothing fits, and it is told %q", got)
	}
}

// With a daemon twelve facts are told as without one: those that it drops as too short, has not got yet, or holds in
// other words, whichever kind it is of.
func TestFactsBesideDaemon(t *testing.T) {
	w := newWorld(t)
	facts := []struct{ said, answer, prompt, want string }{
		{"Always answer in German.", "Gut.", "explain the tide reader", "Always answer in German"},
		{"pnpm, never npm", "Noted.", "add a date library", "pnpm, never npm"},
		{"my name is Ilse Varga", "Hello.", "sign the release notes with my name", "Ilse Varga"},
		{"before you commit, run make lint", "I will.", "commit this", "make lint"},
		{"Remember that the staging database is reset every night.", "Noted.", "seed the staging database", "every night"},
		{"From now on write the test before the fix.", "I will.", "fix the crash in the tide reader", "test before the fix"},
		{"Which crane lifts the dunlin hull?", "The dunlin hull is lifted by crane number nine.",
			"which crane do we use for the dunlin hull?", "number nine"},
		{"On which port does the licence server listen?", "The licence server listens on port 7443.",
			"what port is the licence server on?", "7443"},
		{"The moorhen invoices go out on the fifth.", "Noted.", "when do the moorhen invoices go out?", "on the fifth"},
		{"Robin keeps the otter backups in the pelican bucket.", "Noted.", "where are the otter backups?", "pelican"},
		{"Why is the plover import slow?", "The plover import is slow because its index is missing.",
			"the plover import is slow again", "index is missing"},
		{"Let's store the grebe sessions in sqlite.", "Stored there.", "where do the grebe sessions live?", "in sqlite"},
	}
	for i, f := range facts {
		w.now = w.now.Add(time.Hour)
		w.said("/p", fmt.Sprint("session-", i), f.said, f.answer)
	}
	for _, kind := range daemontest.All {
		d := daemontest.Start(t, daemontest.Options{Generation: kind})
		for _, known := range []string{"Crane number nine lifts the hull of the dunlin.", "The staging cluster is in Oslo.",
			"The moorhen project has a wiki.", "Invoices are written with the ledger.", "The licence of the wiki is free."} {
			d.Remember(known, "fact")
		}
		client, err := signet.New(signet.Options{URL: d.URL(), Configured: true})
		if err != nil {
			t.Fatal(err)
		}
		both := memory.Auto{Daemon: client, Embedded: w.Store}
		for i, f := range facts {
			for _, source := range []memory.Source{w.Store, both} {
				c, err := source.Recall(t.Context(), memory.Session{Key: fmt.Sprint("new-", i), Project: "/p"}, f.prompt, nil)
				b, _ := memory.Compose("new", memory.Context{}, c, false)
				if err != nil || !strings.Contains(b.Text, f.want) {
					t.Errorf("%s, source %T: %q is not told %q: %s, %v", kind.Version(), source, f.prompt, f.want, b.Text, err)
				}
				if strings.Count(b.Text, "umber nine") > 1 {
					t.Errorf("%s: one thing is told twice: %s", kind.Version(), b.Text)
				}
			}
		}
		client.Close()
	}
}

// A question about the memory itself is answered, also on a machine that has imported conversations alone.
func TestAboutMemory(t *testing.T) {
	w := newWorld(t)
	who := memory.Session{Key: "new", Project: "/p"}
	if got := w.recall(who, "What do you know about me?"); got != "" {
		t.Errorf("nothing is known, and it is told %q", got)
	}
	w.said("/p", "a", "Rewrite the tide table in Go.", "Done. The table has 40 rows.\n\nNext steps:\n- document it")
	w.now = w.now.Add(time.Hour)
	w.said("/p", "b", "Why is the ferry late?", "Because the tide is low.")
	w.said("/q", "c", "My name is Ilse Varga.", "Hello Ilse.")
	for _, prompt := range []string{"What do you know about me?", "what do you know about this project", "what were we working on?",
		"Was weißt du über mich?", "¿Qué sabes de mí?", "나에 대해 무엇을 알고 있나요?", "sur quoi travaillions-nous ?", "你了解我吗？"} {
		got := w.recall(who, prompt)
		for _, want := range []string{"Ilse", "Rewrite the tide table", "open: document it", "Why is the ferry late?",
			"3 earlier conversations are remembered, most of them in p (2), q (1)."} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not told %q: %q", prompt, want, got)
			}
		}
	}
	if got := w.recall(who, "what do you know about the harbour master?"); strings.Contains(got, "earlier conversations") {
		t.Errorf("a question about something else is told %q", got)
	}
	nowhere := w.recall(memory.Session{Key: "new"}, "What do you know about me?")
	if !strings.Contains(nowhere, "Ilse") || strings.Contains(nowhere, "ferry") || !strings.Contains(nowhere, "3 earlier") {
		t.Errorf("outside of all projects: %q", nowhere)
	}
}

// What went wrong is told with the words that say so, narration is no item, and one thing is told once.
func TestWentWrong(t *testing.T) {
	w := newWorld(t)
	work := func(key, prompt, answer string, more ...string) {
		w.now = w.now.Add(time.Hour)
		w.said("/p", key, append([]string{prompt, "Let me check the hull.\f" + answer}, more...)...)
	}
	work("a", "the dunlin hull leaks at the keel, mend it", "Perfect! Let me look at the planks. Here is what I found:\n\n"+
		"The keel of the dunlin hull leaks because the oakum is old; I caulked it with tar.", "same error, it still leaks", "I see.")
	who := memory.Session{Key: "new", Project: "/p"}
	got := w.recall(who, "the keel of the dunlin hull leaks")
	if !strings.Contains(got, "caulked it with tar. / then the user said: “same error, it still leaks”") {
		t.Errorf("what did not help is told as %q", got)
	}
	for _, narrated := range []string{"Perfect", "Let me", "Here is what I found"} {
		if strings.Contains(got, narrated) {
			t.Errorf("narration is told: %q", got)
		}
	}
	for _, key := range []string{"b", "c", "d"} {
		work(key, "run the heron audit for "+key, "The heron audit failed in the ledger with 40"+key+" open entries of the year.")
	}
	if got = w.recall(who, "the heron audit failed in the ledger, why?"); strings.Count(got, "open entries of the year") != 1 {
		t.Errorf("one thing is told again and again: %q", got)
	}
}

// Of two values of one thing the newer is told, and code keeps its lines, in talk too.
func TestTellsOneValue(t *testing.T) {
	w := newWorld(t)
	who := memory.Session{Key: "new", Project: "/p"}
	for i, said := range []string{"The limit of the ferry exports is 1 a day.", "The limit of the ferry exports is 3 a day.",
		"The ferry crew sings. The limit of the ferry exports is 2 a day."} {
		w.now = w.now.Add([]time.Duration{2 * time.Hour, time.Hour, -90 * time.Minute}[i]) // the last is between the others
		w.said("/p", fmt.Sprint("limit-", i), said, "Noted.")
	}
	w.now = w.now.Add(24 * time.Hour)
	w.said("/p", "issue", "Issue 12 of the ferry ledger is done.", "Good.")
	w.now = w.now.Add(24 * time.Hour)
	w.said("/p", "later", "Issue 14 of the ferry ledger is done.", "Good.")
	for prompt, want := range map[string]struct{ in, out string }{
		"what is the limit of the ferry exports?":          {"is 3 a day", "is 1 a day|is 2 a day"},
		"why is the limit of the ferry exports 1 a day?":   {"is 1 a day", "is 2 a day"},
		"which issue of the ferry ledger is done already?": {"Issue 12", "|"},
	} {
		got := w.recall(who, prompt)
		for out := range strings.SplitSeq(want.out, "|") {
			if !strings.Contains(got, want.in) || out != "" && strings.Contains(got, out) {
				t.Errorf("%q is told %q", prompt, got)
			}
		}
	}
	w.said("/q", "code", "how do we hash the moorhen ids?", "```go\nsum := fnv(id)\n```\nThat is the moorhen hash.")
	c, err := w.Recall(t.Context(), memory.Session{Key: "new", Project: "/q"}, "how do we hash the moorhen ids?", nil)
	b, _ := memory.Compose("new", memory.Context{}, c, false)
	if err != nil || !strings.Contains(b.Text, "answered:\n  ```go\n  sum := fnv(id)\n  ```\n  That is the moorhen hash.\n") {
		t.Errorf("code is told as %s, %v", b.Text, err)
	}
}

// A question that was asked before, where work was done, gets its answer.
func TestAskedBefore(t *testing.T) {
	w := newWorld(t)
	for i, c := range conversationsIn(t, "testdata/recall") {
		w.said("/p", fmt.Sprint("session-", i), c.texts...)
	}
	w.said("/p", "a", "Which crane lifts the dunlin hull?", "I look it up.\fIt is lifted by crane number nine.")
	got := w.recall(memory.Session{Key: "new", Project: "/p"}, "Which crane do we use for the dunlin hull?")
	if !strings.Contains(got, "crane number nine") {
		t.Errorf("the question that was asked before is told %q", got)
	}
}

// A rule is told once, without the answer that stood behind it and has no word of the prompt.
func TestAnswerToRule(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "one", "Remember this for later: the mast of the Curlew is 11.42 metres long.", "I keep the log in order.\n\n- One\n\n- Two\n\n- Three\n\nBye for today.")
	got := w.recall(memory.Session{Key: "new", Project: "/p"}, "How long is the mast of the Curlew?")
	if !strings.Contains(got, "11.42") || strings.Contains(got, "in order") || strings.Contains(got, "Bye") {
		t.Errorf("told: %q", got)
	}
}
