package backfill

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A file of 256 MB that is one line but for its ends, and one that is all words: what stands in them is taken, in parts
// and in order, and memory does not grow with them.
func TestLargeFiles(t *testing.T) {
	home := t.TempDir()
	f := claudeFile(t, home, "a.jsonl")
	for _, text := range []string{claudeLine("s-1", "user", "before"), claudeLine("s-1", "assistant", "1")} {
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Seek(256<<20, 0); err != nil { // a hole takes no room on the disk
		t.Fatal(err)
	}
	if _, err := f.WriteString("\n" + claudeLine("s-1", "user", "after")); err != nil {
		t.Fatal(err)
	}
	f = claudeFile(t, home, "b.jsonl")
	long, turns := strings.Repeat("All about herons. ", 2000), 800
	for i := range turns {
		if _, err := f.WriteString(claudeLine("s-2", "user", fmt.Sprintf("%d", i)) + claudeLine("s-2", "assistant",
			long)); err != nil {
			t.Fatal(err)
		}
	}
	var most uint64
	parts := map[string]int{}
	users := map[string][]string{}
	err := Walk(t.Context(), Place{Home: home}, "claude", Visitor{
		Conversation: func(c Conversation) error {
			if c.Part != parts[c.ID] {
				t.Errorf("part %d of %s comes behind %d others", c.Part, c.ID, parts[c.ID])
			}
			parts[c.ID]++
			for _, turn := range c.Turns {
				users[c.ID] = append(users[c.ID], turn.User)
			}
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			return nil
		},
		Skip: func(s Skip) {
			if filepath.Base(s.File) != "a.jsonl" || !strings.Contains(s.Why, "one of its lines") {
				t.Errorf("skipped: %v", s)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(users["s-1"], []string{"before", "after"}) {
		t.Errorf("of the first: %q", users["s-1"])
	}
	for i, user := range users["s-2"] {
		if user != fmt.Sprint(i) {
			t.Fatalf("turn %d is %s", i, user)
		}
	}
	if len(users["s-2"]) != turns || parts["s-2"] < 5 || most > 64<<20 {
		t.Errorf("%d turns in %d parts; %d MB of heap", len(users["s-2"]), parts["s-2"], most>>20)
	}
}

// Where a folder of transcripts is a link it is read all the same; Gemini's and OpenCode's long conversations do not
// fill the memory.
func TestLongElsewhere(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	put(t, elsewhere, map[string]string{"-w/a.jsonl": claudeLine("s-1", "user", "kept elsewhere")})
	put(t, home, map[string]string{".claude/projects": "-> " + elsewhere})
	if all, skipped := walk(t, home, "claude"); len(all) != 1 || len(skipped) != 0 {
		t.Errorf("%d conversations, skipped %v", len(all), skipped)
	}

	f, err := os.Create(filepath.Join(t.TempDir(), "session-1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	long := strings.Repeat("All about herons. ", 50_000)
	fmt.Fprintln(f, `{"sessionId":"s-1"}`)
	for range maxThread/len(long) + 1 {
		fmt.Fprintf(f, `{"type":"user","content":%q}`+"\n", long)
	}
	if err := gemini.read(t.Context(), Place{}, f.Name(), nil); !errors.Is(err, errTooLarge) {
		t.Errorf("gemini: %v", err)
	}

	insert := []string{`INSERT INTO session VALUES ('ses_1', NULL, '/w', 'x', 1)`}
	say := func(n int, role, text string) {
		insert = append(insert,
			fmt.Sprintf(`INSERT INTO message VALUES ('m%03d', 'ses_1', %d, '{"role":%q}')`, n, n, role),
			fmt.Sprintf(`INSERT INTO part VALUES ('p%03d', 'm%03d', 'ses_1', 1, '{"type":"text","text":%q}')`,
				n, n, text))
	}
	for i := range 12 {
		say(2*i, "user", fmt.Sprint("prompt ", i))
		say(2*i+1, "assistant", long)
	}
	makeOpencode(t, home, insert...)
	all, skipped := walk(t, home, "opencode")
	var users []string
	for i, c := range all {
		if c.ID != "ses_1" || c.Part != i {
			t.Errorf("part %d of %s is the %dth", c.Part, c.ID, i)
		}
		for _, turn := range c.Turns {
			users = append(users, turn.User)
		}
	}
	if len(all) < 2 || len(skipped) != 0 || len(users) != 12 || users[11] != "prompt 11" {
		t.Errorf("%d parts, skipped %v, users %q", len(all), skipped, users)
	}
}
