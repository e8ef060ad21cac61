package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// worked writes a session of one turn, in which tools were called, and has it learned.
func (w *world) worked(cwd, name, user string, tools ...correlation.ToolCall) {
	w.t.Helper()
	session, err := correlationtest.Session(w.t.Context(), w.journal, correlation.OpenSession{Harness: "echo",
		ACPID: name, Cwd: cwd, Project: memory.Project(cwd)})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := correlationtest.Save(w.t.Context(), w.journal, []correlation.Turn{{Session: session.ID, User: user,
		Assistant: "Done.", Tools: tools, Started: w.now, Ended: w.now, Stop: "end_turn"}}); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Learn(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// repository makes a git repository with files.
func repository(t *testing.T, files ...string) string {
	t.Helper()
	top := memory.Top(t.TempDir())
	if top == "" {
		top, _ = filepath.EvalSymlinks(t.TempDir())
	}
	for _, file := range append(files, ".git/HEAD") {
		path := filepath.Join(top, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func toolCall(kind string, paths ...string) correlation.ToolCall {
	return correlation.ToolCall{ID: kind + strings.Join(paths, ""), Kind: kind, Status: "completed", Locations: paths}
}

// What is kept of the files that a turn's tools were called with.
func TestFilesOf(t *testing.T) {
	top := repository(t, "a.go", "sub/b.go", "secret/c.go", "secret/.signet-ignore")
	var many []string
	for i := range 2 * maxFiles {
		many = append(many, filepath.Join(top, "x", strings.Repeat("y", i+1)))
	}
	for name, tt := range map[string]struct {
		tools []correlation.ToolCall
		want  string
	}{
		"edited and read": {[]correlation.ToolCall{toolCall("edit", top+"/a.go"), toolCall("read", top+"/sub/b.go")}, "a.go=2 sub/b.go=1"},
		"moved":           {[]correlation.ToolCall{toolCall("move", top+"/a.go"), toolCall("delete", top+"/d.go")}, "a.go=2 d.go=2"},
		"the most is kept": {[]correlation.ToolCall{toolCall("read", top+"/a.go"), toolCall("edit", top+"/a.go"),
			toolCall("search", top+"/a.go")}, "a.go=2"},
		"relative":   {[]correlation.ToolCall{toolCall("read", "b.go", "../a.go")}, "sub/b.go=1 a.go=1"},
		"outside":    {[]correlation.ToolCall{toolCall("read", "/etc/hosts", top+"/.git/HEAD", top)}, ""},
		"opted out":  {[]correlation.ToolCall{toolCall("read", top+"/secret/c.go")}, ""},
		"it failed":  {[]correlation.ToolCall{{Kind: "edit", Status: "failed", Locations: []string{top + "/a.go"}}}, ""},
		"by command": {[]correlation.ToolCall{{Kind: "execute", Title: "sed -n 1,9p ../a.go gone.go 'b.go'|cat"}}, "../a.go"},
		"a key":      {[]correlation.ToolCall{toolCall("read", top+"/sk-ant-api03-Zt4mXk29fQvRw81LsNpYb6HcGd07JuEoIaT5xK3rVqWnMlPz")}, ""},
		"many":       {[]correlation.ToolCall{toolCall("read", many...)}, "64"},
	} {
		project, files := newWorld(t).filesOf(correlation.Said{Cwd: top + "/sub", Project: top, Tools: tt.tools})
		got := ""
		for _, f := range files {
			got += fmt.Sprintf(" %s=%d", f.Path, int(f.Kind))
		}
		switch tt.want {
		case "64":
			if len(files) != maxFiles {
				t.Errorf("%s: %d files", name, len(files))
			}
			continue
		case "../a.go":
			tt.want = "a.go=0 sub/b.go=0"
		}
		if strings.TrimSpace(got) != tt.want || project != top {
			t.Errorf("%s: %s in %s, want %s", name, got, project, tt.want)
		}
	}
}

// A prompt is told the files of earlier work on such things: those that are there, in this worktree, and that it does
// not name.
func TestWhere(t *testing.T) {
	top := repository(t, "proxy/held.go", "proxy/claim.go", "docs/guide.md", "hidden/x.go", "hidden/.signet-ignore")
	tree := repository(t, "proxy/held.go")
	if err := os.RemoveAll(tree + "/.git"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tree+"/.git", []byte("gitdir: "+top+"/.git/worktrees/w\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.worked(top, "one", "The deadline of a held prompt runs from its frame.", toolCall("edit", top+"/proxy/held.go"),
		toolCall("read", top+"/proxy/claim.go", top+"/gone.go"))
	w.worked(top, "two", "Paint the glaze of the pottery page.", toolCall("edit", top+"/docs/guide.md"))
	for _, tt := range []struct{ cwd, prompt, want string }{
		{top, "why does the deadline of a held prompt pass so soon?", "proxy/held.go proxy/claim.go docs/guide.md"},
		{top, "held.go: why does the deadline of a held prompt pass?", "proxy/claim.go docs/guide.md"},
		{tree, "why does the deadline of a held prompt pass so soon?", "proxy/held.go"},
		{top, "bake a rhubarb cake", ""},
		{top, "yes, go on", ""},
	} {
		got, err := w.Recall(t.Context(), memory.Session{Key: "new", Cwd: tt.cwd, Project: memory.Project(tt.cwd)}, tt.prompt, nil)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, p := range got.Where {
			paths = append(paths, p.Paths...)
		}
		if strings.Join(paths, " ") != tt.want {
			t.Errorf("%s in %s: %v", tt.prompt, tt.cwd, paths)
		}
		if tt.want != "" && !slices.ContainsFunc(got.Where, func(p memory.Place) bool {
			return strings.HasPrefix(p.Words, "The deadline of a held prompt") && p.Date.Equal(w.now)
		}) {
			t.Errorf("%s: %+v", tt.prompt, got.Where)
		}
	}
}

// A file that was renamed is told by its new path, also after a second time; of one that is gone nothing is.
func TestRenamed(t *testing.T) {
	top := repository(t, "proxy/kept.go", "proxy/other.go")
	w := newWorld(t)
	asked := 0
	w.opts.Renames = func(_ context.Context, of string) (map[string]string, error) {
		if asked++; of != top {
			t.Errorf("renames of %s", of)
		}
		return map[string]string{"held.go": "proxy/held.go", "proxy/held.go": "proxy/kept.go", "proxy/other.go": "x"}, nil
	}
	w.worked(top, "one", "The deadline of a held prompt.", toolCall("edit", top+"/held.go", top+"/gone.go", top+"/proxy/other.go"))
	if err := w.Learn(t.Context()); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	found, err := w.Files(t.Context(), "kept.go", top, 10)
	if err != nil || len(found) != 1 || found[0].Path != "proxy/kept.go" || len(found[0].Sessions) != 1 ||
		found[0].Sessions[0].Did != "edited" || found[0].Sessions[0].Words != "The deadline of a held prompt." {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err = w.Files(t.Context(), "the deadline of a held prompt", top, 10); err != nil || len(found) != 3 {
		t.Errorf("%+v, %v", found, err)
	}
}

// Of a file it is known which sessions touched it, with what the user wanted when it was edited last: of "go on" what was
// said before.
func TestVisits(t *testing.T) {
	top := repository(t)
	w := newWorld(t)
	edit := []correlation.ToolCall{toolCall("edit", top+"/a.go")}
	for n, turns := range [][]corpusTurn{
		{{user: "Look at the page of the kiln."}, {user: "Paint the door of the shed green, please."},
			{user: "yes, go on", tools: edit}, {user: "Now tell me what the time is in Lisbon.",
				tools: []correlation.ToolCall{toolCall("read", top+"/a.go")}}},
		{{user: "Oil it", tools: edit}, {user: "What is the price of the oil of the shed?"}},
	} {
		for i := range turns {
			turns[i].at = w.now.Add(time.Duration(i) * time.Minute)
		}
		w.held(top, string(rune('a'+n)), turns)
	}
	if err := w.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"a.go": "Oil it; Paint the door of the shed green, please.",
		"kiln boat mast lamp window roof harbour anchor oil rope": "Oil it; Paint the door of the shed green, please.",
		"the price of the oil": "What is the price of the oil of the shed?; Paint the door of the shed green, please."} {
		found, err := w.Files(t.Context(), text, top, 10)
		if err != nil || len(found) != 1 || len(found[0].Sessions) != 2 ||
			found[0].Sessions[0].Words+"; "+found[0].Sessions[1].Words != want {
			t.Errorf("%s: %+v, %v", text, found, err)
		}
	}
}
