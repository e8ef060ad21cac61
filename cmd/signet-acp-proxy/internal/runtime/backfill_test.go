package runtime

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// A transcriptWriter writes transcripts as Claude Code does: what was said, and ten times as much of what tools read
// and wrote.
type transcriptWriter struct {
	dir  string
	dice *rand.Rand
}

var vocabulary = strings.Fields(`the heron branch waits for review because staging was deployed without its
	migration we decided to keep Postgres and move the queue to the worker so that a retry never blocks the request
	path tests fail in billing store when the fixture of March is loaded twice rename it add an index on created at
	and drop the old table`)

func (s transcriptWriter) words(n int) string {
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

// conversation writes one of some turns, and returns its size.
func (s transcriptWriter) conversation(n, turns int) (int64, error) {
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
		text, _ := json.Marshal(map[string]any{"type": role, "sessionId": id, "cwd": "/home/robin/work",
			"timestamp": at,
			"message":   map[string]any{"role": role, "content": content}})
		w.Write(text)
		w.WriteByte('\n')
	}
	for turn := range turns {
		line("user", fmt.Sprintf("Question %d: %s", turn, s.words(30)))
		for range 3 {
			line("assistant",
				[]any{map[string]any{"type": "tool_use", "name": "Read", "input": map[string]any{"path": "x.go"}}})
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

// A claude is a home in which Claude Code has written, and what is taken in of it.
type claude struct {
	*testing.T
	home string
	*Data
}

func newClaude(t *testing.T) *claude {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	c, err := config.Load(config.Flags{Memory: "embedded", SignetPath: filepath.Join(home, ".agents")})
	if err != nil {
		t.Fatal(err)
	}
	d, err := OpenData(t.Context(), c, term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return &claude{t, home, d}
}

// said is a line of Claude's.
func said(id, role string, content any) string {
	text, _ := json.Marshal(map[string]any{"type": role, "sessionId": id, "cwd": "/w",
		"timestamp": "2026-01-02T03:04:05Z", "message": map[string]any{"content": content}})
	return string(text) + "\n"
}

func block(of, key string, content any) []any {
	return []any{map[string]any{"type": of, key: content}}
}

// write writes the file of a conversation.
func (c *claude) write(id string, lines ...string) {
	c.Helper()
	path := filepath.Join(c.home, ".claude", "projects", "-w", id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		c.Fatal(err)
	}
}

// takeIn takes in all that there is, and expects so many new turns.
func (c *claude) takeIn(want int) {
	c.Helper()
	got, err := Backfill{Data: c.Data}.Run(c.Context(), []string{"claude"})
	if err != nil || got[0].Turns != want || len(got[0].Skipped) != 0 {
		c.Errorf("%+v, %v; want %d turns", got, err, want)
	}
}

// What tools said, secrets and private passages are in none of our files, however often a transcript is taken in, and
// every turn once and in order.
func TestBackfillKeepsNoSecrets(t *testing.T) {
	c := newClaude(t)
	const id = "0b1c7a4e-9f22-4f2e-8f4e-4a2f5d1c9b10"
	const key = "sk-ant-api03-Zt4mXk29fQvRw81LsNpYb6HcGd07JuEoIaT5xK3rVqWnMlPz"
	long := strings.Repeat("All about herons. ", 50)
	const turns = 20
	var lines []string
	for i := range turns {
		lines = append(lines,
			said(id, "user", fmt.Sprintf("Question %d with %s and <private>CANARY-a</private>.", i, key)),
			said(id, "assistant", block("tool_use", "input", map[string]any{"text": "CANARY-b"})),
			said(id, "user", block("tool_result", "content", "CANARY-c "+key)),
			said(id, "user", block("tool_result", "content", block("text", "text", "CANARY-d"))),
			said(id, "assistant", block("text", "text", long+"CANARY-a and "+key)))
	}
	c.write(id, lines...)
	c.takeIn(turns)
	c.takeIn(0)
	const later = "0b1c7a4e-9f22-4f2e-8f4e-4a2f5d1c9b11"
	c.write(later, said(later, "user", "Which word was it?"), said(later, "assistant", "It was CANARY-a."))
	c.takeIn(1)
	all, err := c.Sessions.Book().Sessions(t.Context(), 0)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	stored, err := c.Sessions.Book().Turns(t.Context(), min(all[0].ID, all[1].ID))
	if err != nil || len(stored) != turns {
		t.Fatalf("%d turns, %v", len(stored), err)
	}
	for i, turn := range stored {
		if !strings.HasPrefix(turn.User, fmt.Sprintf("Question %d with", i)) {
			t.Errorf("turn %d is %.40s", i, turn.User)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(c.home, ".agents"), func(path string, entry fs.DirEntry, err error) error {
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

// What somebody had forgotten of a conversation comes back neither with its file nor with a copy of it.
func TestBackfillLeavesWhatWasForgotten(t *testing.T) {
	c := newClaude(t)
	const id, branch = "0b1c7a4e-9f22-4f2e-8f4e-000000000001", "0b1c7a4e-9f22-4f2e-8f4e-000000000002"
	conversation := func(id string) []string {
		return []string{
			said(id, "user", "Please note that the bittern never sails on Sundays."), said(id, "assistant", "Noted."),
			said(id, "user", "And the heron is moored in Falmouth."), said(id, "assistant", "I see."),
		}
	}
	c.write(id, conversation(id)...)
	c.takeIn(2)
	query := embedded.Query{Text: "When does the bittern sail?", AllProjects: true}
	found, err := c.Memories.Search(t.Context(), query)
	if err != nil || len(found) == 0 {
		t.Fatalf("found %v, %v", found, err)
	}
	if err := c.Memories.Forget(t.Context(), found[0].ID); err != nil {
		t.Fatal(err)
	}
	c.takeIn(0)
	c.write(branch, conversation(branch)...)
	c.takeIn(1)
	found, err = c.Memories.Search(t.Context(), query)
	for _, m := range found {
		if strings.Contains(m.Content, "Sundays") {
			t.Errorf("it is found again: %+v", m)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// What a subagent was told is kept with the session that has started it, and is nothing that the user has said: it is
// not found as that, it is no project's last session, and it is forgotten with the session.
func TestBackfillOfSubagents(t *testing.T) {
	c := newClaude(t)
	const id = "0b1c7a4e-9f22-4f2e-8f4e-000000000001"
	side := func(line string) string {
		return strings.Replace(line, `{"cwd"`, `{"isSidechain":true,"agentId":"a1","cwd"`, 1)
	}
	c.write(id, said(id, "user", "Where is the bittern moored?"), said(id, "assistant", "In Falmouth."))
	c.write(id+"/subagents/agent-a1", side(said(id, "user", "We always moor the bittern in Truro.")),
		side(said(id, "assistant", "The log says that the bittern lies in Falmouth.")))
	c.write("0b1c7a4e-9f22-4f2e-8f4e-000000000002/subagents/agent-a2",
		side(said("0b1c7a4e-9f22-4f2e-8f4e-000000000002", "user", "Whose am I?")))
	got, err := Backfill{Data: c.Data, DryRun: true}.Run(t.Context(), []string{"claude"})
	if err != nil || got[0].Turns != 1 || got[0].Subagents != 1 || got[0].LeftOut[withoutHome] != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	c.takeIn(1)
	c.takeIn(0)
	all, err := c.Sessions.Book().Sessions(t.Context(), 0)
	if err != nil || len(all) != 2 || all[0].ParentKey+all[1].ParentKey != all[0].Key && all[0].ParentKey != all[1].Key {
		t.Fatalf("%+v, %v", all, err)
	}
	found, err := c.Memories.Search(t.Context(), embedded.Query{Text: "Where is the bittern moored?", AllProjects: true})
	for _, m := range found {
		if strings.Contains(m.Content, "Truro") {
			t.Errorf("found %+v", m)
		}
	}
	if err != nil || !strings.Contains(fmt.Sprint(found), "The log says") {
		t.Errorf("found %+v, %v", found, err)
	}
	for _, one := range all {
		if one.ParentKey == "" {
			if gone, err := c.Sessions.Forget(t.Context(), one.ID, c.Memories.Unlearn); err != nil || gone.Turns != 2 {
				t.Errorf("forgotten: %+v, %v", gone, err)
			}
		}
	}
	got, err = Backfill{Data: c.Data}.Run(t.Context(), []string{"claude"})
	if err != nil || got[0].Turns+got[0].Subagents != 0 || got[0].LeftOut[wasGone] != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Whoever is interrupted has kept what was read until then, and memory knows it.
func TestBackfillInterrupted(t *testing.T) {
	c := newClaude(t)
	for i, moored := range []string{"Falmouth", "Truro"} {
		id := fmt.Sprintf("0b1c7a4e-9f22-4f2e-8f4e-00000000000%d", i)
		c.write(id, said(id, "user", "The bittern is moored in "+moored+"."), said(id, "assistant", "Noted."))
	}
	ctx, stop := context.WithCancel(t.Context())
	got, err := Backfill{Data: c.Data, Step: func(_ string, done, total int64) {
		if done > 0 && done < total {
			stop()
		}
	}}.Run(ctx, []string{"claude", "codex"})
	if !errors.Is(err, context.Canceled) || len(got) != 1 || got[0].Turns != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	found, err := c.Memories.Search(t.Context(), embedded.Query{Text: "Where is the bittern moored?", AllProjects: true})
	if err != nil || !strings.Contains(fmt.Sprint(found), "Falmouth") {
		t.Errorf("found %+v, %v", found, err)
	}
	c.takeIn(1)
}

// A sweep takes in what was written since the last one and is not being written just now, nothing of a session that a
// relay holds, and the rest of an answer that it has read too early.
func TestSweep(t *testing.T) {
	c := newClaude(t)
	const id, fresh, live = "0b1c7a4e-9f22-4f2e-8f4e-000000000001", "0b1c7a4e-9f22-4f2e-8f4e-000000000002",
		"0b1c7a4e-9f22-4f2e-8f4e-000000000003"
	age := func(id string, age time.Duration) {
		path := filepath.Join(c.home, ".claude", "projects", "-w", id+".jsonl")
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := c.Sessions.Register(t.Context(), correlation.ProcessInfo{Kind: correlation.Relay, Harness: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := correlationtest.Session(t.Context(), c.Sessions, correlation.OpenSession{Harness: "claude", ACPID: live,
		Process: p.ID()}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{id, fresh, live} {
		c.write(id, said(id, "user", "Who moors "+id+"?"), said(id, "assistant", "I look."))
	}
	age(id, time.Hour)
	age(live, time.Hour)
	answers := func(want map[string]string) {
		t.Helper()
		if err := c.AutoBackfill(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, err := c.Sessions.Book().Sessions(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, one := range all {
			turns, err := c.Sessions.Book().Turns(t.Context(), one.ID)
			if err != nil || len(turns) > 1 {
				t.Errorf("%+v, %v", turns, err)
			}
			for _, turn := range turns {
				got[one.ACPID] = turn.Assistant
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	answers(map[string]string{id: "I look."})
	c.write(id, said(id, "user", "Who moors "+id+"?"), said(id, "assistant", "I look."), said(id, "assistant", "Ann does."))
	age(fresh, 30*time.Second)
	answers(map[string]string{id: "I look."})
	age(id, 30*time.Second)
	lock := filepath.Join(c.Config.Dir(), "backfill.lock")
	if err := os.Chtimes(lock, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := p.End(t.Context(), "eof"); err != nil {
		t.Fatal(err)
	}
	answers(map[string]string{id: "I look.\n\nAnn does.", fresh: "I look."})
}

// Only what a person wants is taken in: since a time, of a project, and nothing in a folder that is excluded from memory.
func TestBackfillTakesWhatIsWanted(t *testing.T) {
	c := newClaude(t)
	folder := func(name string) string {
		dir := filepath.Join(c.home, name)
		if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	boats, birds, secret := folder("boats"), folder("birds"), folder("secret")
	if err := os.WriteFile(filepath.Join(secret, ".signet-ignore"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, f := range []struct{ cwd, day string }{{boats, "2026-01-02"}, {boats, "2026-02-02"}, {birds, "2026-02-02"},
		{secret, "2026-02-02"}} {
		id := fmt.Sprintf("0b1c7a4e-9f22-4f2e-8f4e-00000000000%d", i)
		place := strings.NewReplacer(`"/w"`, strconv.Quote(filepath.ToSlash(f.cwd)), "2026-01-02", f.day)
		c.write(id, place.Replace(said(id, "user", "CANARY of "+filepath.Base(f.cwd))+said(id, "assistant", "Noted.")))
	}
	for _, tt := range []struct {
		name string
		Backfill
		turns int
	}{
		{"of a project since a day", Backfill{Since: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Project: boats}, 1},
		{"since a day", Backfill{Since: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}, 2},
		{"of a project", Backfill{Project: boats}, 2},
		{"all", Backfill{}, 3},
	} {
		tt.Backfill.Data, tt.DryRun = c.Data, true
		got, err := tt.Run(t.Context(), []string{"claude"})
		if err != nil || got[0].Turns != tt.turns || got[0].Files != 4 {
			t.Errorf("%s: %+v, %v; want %d turns", tt.name, got, err, tt.turns)
		}
	}
	got, err := Backfill{Data: c.Data}.Run(t.Context(), []string{"claude"})
	if err != nil || got[0].Turns != 3 || len(got[0].Skipped) != 1 ||
		!strings.Contains(got[0].Skipped[0].Why, "excluded") {
		t.Errorf("%+v, %v", got, err)
	}
	all, err := c.Sessions.Book().Sessions(t.Context(), 0)
	if err != nil || len(all) != 3 {
		t.Errorf("%d sessions, %v", len(all), err)
	}
	for _, one := range all {
		turns, err := c.Sessions.Book().Turns(t.Context(), one.ID)
		if err != nil || len(turns) != 1 || turns[0].User != "CANARY of "+filepath.Base(one.Project) ||
			one.Project == secret {
			t.Errorf("%+v, %v is of %s", turns, err, one.Project)
		}
	}
}
