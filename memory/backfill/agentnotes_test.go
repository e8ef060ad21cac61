package backfill

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// put writes files below a folder, and links where the text begins with "-> ".
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		err := error(nil)
		if to, link := strings.CutPrefix(text, "-> "); link {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Codex's notes as it writes them, and as it did before: what they are from and found by is no note, and each is about
// the folder that its part names.
func TestCodexNotes(t *testing.T) {
	home := t.TempDir()
	put(t, home, map[string]string{".codex/memories/MEMORY.md": `# Task Group: Boats of the harbour
scope: moorings and keels
applies_to: cwd=/srv/boats; reuse_rule=safe for this checkout

## Task 1: Weigh the keel, success

### rollout_summary_files

- rollout_summaries/2026-03-01-keel.md (cwd=/srv/boats, updated_at=2026-03-01T10:00:00Z, thread_id=01a2)

### keywords

- keel, curlew, mooring, tide table

## User preferences

- when a boat is named, the user wants her year of building too [Task 1]

# Task Group: Habits
scope: workflow of every day
applies_to: cwd=unknown; reuse_rule=everywhere

## Reusable knowledge

The tide table is read from noon.
`, ".codex/memories/memory_summary.md": `---
rollout_summary_files:
  - keel.md (success, cwd=/srv/boats)
---

- The keel is made of lead.

---
description: what is in front of the second part
---

- The mast is made of spruce.
`})
	all, skipped := AgentNotes(Place{Home: home}, home)
	var got [][2]string
	for _, n := range all {
		got = append(got, [2]string{n.Text, n.Cwd})
	}
	want := [][2]string{
		{"scope: moorings and keels", "/srv/boats"},
		{"when a boat is named, the user wants her year of building too [Task 1]", "/srv/boats"},
		{"scope: workflow of every day", ""},
		{"The tide table is read from noon.", ""},
		{"The keel is made of lead.", ""},
		{"The mast is made of spruce.", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(skipped) != 0 {
		t.Errorf("skipped %v; (-want +got)\n%s", skipped, diff)
	}
}

// A line of the user's own that looks like what agents write in front is a note.
func TestRuleInNotes(t *testing.T) {
	home := t.TempDir()
	put(t, home, map[string]string{".claude/CLAUDE.md": "Use tabs, not spaces.\n\n---\nnote: the port is 7443\n"})
	if all, _ := AgentNotes(Place{Home: home}, home); len(all) != 2 || all[1].Text != "note: the port is 7443" {
		t.Errorf("%+v", all)
	}
}

// A file of notes may stand elsewhere; links that lead nowhere or round, folders and what is another user's are named.
func TestOddNotes(t *testing.T) {
	home := t.TempDir()
	put(t, home, map[string]string{
		"dotfiles/claude.md":                "The keel is made of lead.",
		".claude/CLAUDE.md":                 "-> ../dotfiles/claude.md",
		".claude/rules/a.md":                "-> b.md",
		".claude/rules/b.md":                "-> a.md",
		".claude/rules/gone.md":             "-> nowhere.md",
		".claude/rules/under/deep.md":       "The mast is made of spruce.",
		".claude/rules/folder.md/x":         "",
		".claude/projects/-w/memory/too.md": strings.Repeat("x", maxNoteFile+1),
		".codex/AGENTS.md":                  "The sails are made of cotton.",
	})
	want := map[string]string{"a.md": "cannot be read", "b.md": "cannot be read", "gone.md": "cannot be read",
		"folder.md": "no file", "too.md": "too long"}
	said := []string{"The keel is made of lead.", "The mast is made of spruce."}
	if os.Chown(filepath.Join(home, ".codex", "AGENTS.md"), 65534, 65534) == nil { // we may give files away
		want["AGENTS.md"] = "another user"
	} else {
		said = append(said, "The sails are made of cotton.")
	}
	all, skipped := AgentNotes(Place{Home: home}, home)
	var got []string
	for _, n := range all {
		got = append(got, n.Text)
	}
	if diff := cmp.Diff(said, got); diff != "" {
		t.Error(diff)
	}
	for _, s := range skipped {
		if why, ok := want[filepath.Base(s.File)]; !ok || !strings.Contains(s.Why, why) {
			t.Errorf("skipped %v", s)
		}
	}
	if len(skipped) != len(want) {
		t.Errorf("skipped %v, want %v", skipped, want)
	}
}

// A folder of Claude's is that of its conversations, else the one that is asked from, if its name is made of that.
func TestNotesFolders(t *testing.T) {
	home := t.TempDir()
	project := func(name string, conversations ...string) {
		write(t, filepath.Join(home, ".claude", "projects", name, "memory", "a.md"), "- three words here\n")
		for i, text := range conversations {
			write(t, filepath.Join(home, ".claude", "projects", name, fmt.Sprintf("%d.jsonl", i)), text)
		}
	}
	project("-said", "no JSON\n{\"cwd\":\"\"}\n{\"cwd\":\"/said\"}\n{\"cwd\":\"/later\"}\n")
	project("-second", "", `{"cwd":"/second"}`)
	project("-fourth", "", "", "", `{"cwd":"/fourth"}`)
	project("-late", strings.Repeat(" ", 64<<10)+`{"cwd":"/late"}`)
	project("-home-my-work")
	project("-other")
	if err := os.Mkdir(filepath.Join(home, ".claude", "projects", "-other", "x.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	all, skipped := AgentNotes(Place{Home: home}, "/home/my.work")
	got := map[string]string{}
	for _, n := range all {
		got[filepath.Base(filepath.Dir(filepath.Dir(n.File)))] = fmt.Sprint(n.Cwd, " ", n.CwdUnknown)
	}
	want := map[string]string{"-said": "/said false", "-second": "/second false", "-fourth": " true", "-late": " true",
		"-home-my-work": "/home/my.work false", "-other": " true"}
	if !maps.Equal(got, want) || len(skipped) != 0 {
		t.Errorf("%v, skipped %v", got, skipped)
	}
	if got := claudeFolder(filepath.Join(home, ".claude", "projects", "-other"), ""); got != "" {
		t.Errorf("from nowhere: %s", got)
	}
}

// A note stands where its first line does.
func TestNoteLines(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".claude", "CLAUDE.md"), "# Head\n\none two three\nfour\n- five six seven\n  eight\n\nnine ten eleven\n")
	all, _ := AgentNotes(Place{Home: home}, "")
	var got []string
	for _, n := range all {
		got = append(got, fmt.Sprint(n.Line, " ", n.Heading, " ", n.Text))
	}
	want := []string{"3 Head one two three four", "5 Head five six seven eight", "8 Head nine ten eleven"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
