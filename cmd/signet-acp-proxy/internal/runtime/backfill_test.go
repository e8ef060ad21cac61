package runtime

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// A scribe writes transcripts as Claude Code does: what was said, and ten times as much of what tools read and wrote.
type scribe struct {
	dir  string
	dice *rand.Rand
}

var vocabulary = strings.Fields(`the heron branch waits for review because staging was deployed without its migration we
	decided to keep Postgres and move the queue to the worker so that a retry never blocks the request path tests fail in
	billing store when the fixture of March is loaded twice rename it add an index on created at and drop the old table`)

func (s scribe) words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(vocabulary[s.dice.IntN(len(vocabulary))])
		switch s.dice.IntN(12) {
		case 0:
			fmt.Fprintf(&b, "%d", s.dice.IntN(10000))
		case 1:
			b.WriteString(".\n")
		}
	}
	return b.String()
}

// conversation writes one of some turns, and gives its size.
func (s scribe) conversation(n, turns int) (int64, error) {
	id := fmt.Sprintf("6f0139dd-d549-4c2a-9efc-%012d", n)
	path := filepath.Join(s.dir, "-home-robin-work", id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
	line := func(role string, content any) {
		at = at.Add(time.Second)
		text, _ := json.Marshal(map[string]any{"type": role, "sessionId": id, "cwd": "/home/robin/work", "timestamp": at,
			"message": map[string]any{"role": role, "content": content}})
		w.Write(text)
		w.WriteByte('\n')
	}
	for turn := range turns {
		line("user", fmt.Sprintf("Question %d: %s", turn, s.words(30)))
		for range 3 {
			line("assistant", []any{map[string]any{"type": "tool_use", "name": "Read", "input": map[string]any{"path": "x.go"}}})
			line("user", []any{map[string]any{"type": "tool_result", "content": s.words(700)}})
		}
		line("assistant", []any{map[string]any{"type": "text", "text": s.words(120)}})
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// What tools said, secrets and private passages are in none of our files, however often a transcript is taken in, and
// every turn once and in order.
func TestBackfillKeepsNoSecrets(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	path := filepath.Join(home, ".claude", "projects", "-w", "s-1.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	line := func(role string, content any) {
		text, _ := json.Marshal(map[string]any{"type": role, "sessionId": "0b1c7a4e-9f22-4f2e-8f4e-4a2f5d1c9b10", "cwd": "/w",
			"timestamp": "2026-01-02T03:04:05Z", "message": map[string]any{"content": content}})
		file.Write(append(text, '\n'))
	}
	const key = "sk-ant-api03-Zt4mXk29fQvRw81LsNpYb6HcGd07JuEoIaT5xK3rVqWnMlPz"
	long := strings.Repeat("All about herons. ", 50)
	const turns = 20
	for i := range turns {
		line("user", fmt.Sprintf("Question %d with %s and <private>CANARY-a</private>.", i, key))
		line("assistant", []any{map[string]any{"type": "tool_use", "name": "Read", "input": map[string]any{"text": "CANARY-b"}}})
		line("user", []any{map[string]any{"type": "tool_result", "content": "CANARY-c " + key}})
		line("user", []any{map[string]any{"type": "tool_result", "content": []any{map[string]any{"type": "text", "text": "CANARY-d"}}}})
		line("assistant", []any{map[string]any{"type": "text", "text": long + "CANARY-a and " + key}})
	}
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	signet := filepath.Join(home, ".agents")
	c, err := config.Load(config.Flags{Memory: "embedded", SignetPath: signet})
	if err != nil {
		t.Fatal(err)
	}
	d, err := OpenData(t.Context(), c, term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{turns, 0} {
		got, err := Backfill{Data: d}.Run(t.Context(), []string{"claude"})
		if err != nil || got[0].Turns != want || len(got[0].Skipped) != 0 {
			t.Errorf("%+v, %v; want %d turns", got, err, want)
		}
	}
	all, err := d.Sessions.Sessions(t.Context(), 0)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	stored, err := d.Sessions.Turns(t.Context(), all[0].ID)
	if err != nil || len(stored) != turns {
		t.Fatalf("%d turns, %v", len(stored), err)
	}
	for i, turn := range stored {
		if !strings.HasPrefix(turn.User, fmt.Sprintf("Question %d with", i)) {
			t.Errorf("turn %d is %.40s", i, turn.User)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(signet, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, canary := range []string{"CANARY", "Zt4mXk29"} {
			if strings.Contains(string(text), canary) {
				t.Errorf("%s holds %s", path, canary)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
