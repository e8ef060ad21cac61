package delegation

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// end ends a delegation, with its tree kept.
func (l *Ledger) end(t *testing.T, id, tree string) {
	t.Helper()
	_, lock := l.begin(t, id)
	defer lock.Release()
	if err := l.saveProgress(t.Context(), Delegation{ID: id, Runner: lock.ID()}, Run{ACPID: "child-1"}); err != nil {
		t.Fatal(err)
	}
	if err := l.End(t.Context(), Delegation{ID: id, Runner: lock.ID(), State: Done, Run: Run{Tree: tree}}); err != nil {
		t.Fatal(err)
	}
}

// A follow-up takes the session and the tree over, once; what cannot be gone on with is refused with a word.
func TestFollowUp(t *testing.T) {
	tools, l := newTools(t)
	ask := func(arguments map[string]any) (r Row, err error) {
		text, _ := json.Marshal(arguments)
		got, err := tools.on(call.delegate)(t.Context(), memory.Session{}, text)
		if err == nil {
			text, _ = json.Marshal(got)
			err = json.Unmarshal(text, &r)
		}
		return r, err
	}
	first, err := ask(map[string]any{"task": "Look.", "delegated_scope": "its tests", "kept_work": "the release"})
	if err != nil {
		t.Fatal(err)
	}
	refused := func(name, word string, more map[string]any) {
		t.Helper()
		arguments := map[string]any{"task": "Look again."}
		for key, value := range more {
			arguments[key] = value
		}
		if _, err := ask(arguments); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q", name, err, word)
		}
	}
	further := map[string]any{"continues": first.ID}
	refused("while it runs", "still running", further)
	l.end(t, first.ID, "/tree")
	refused("another agent", "unknown agent", map[string]any{"agent": "heron"})
	refused("another agent", "omit agent", map[string]any{"continues": first.ID, "agent": "heron"})
	refused("another mode", "omit mode", map[string]any{"continues": first.ID, "mode": "edit"})
	tools.caller = func(memory.Session) Caller { return Caller{Key: "acp-wren"} }
	refused("of another caller", ErrNotFound.Error(), further)
	tools.caller = func(memory.Session) Caller { return robin }

	again := map[string]any{"continues": first.ID, "task": "Look again."}
	then, err := ask(again)
	if err != nil || then.Continues != first.ID || then.Session != "child-1" || then.Tree != "/tree" ||
		strings.Join(then.Scope, "")+strings.Join(then.Kept, "") != "its teststhe release" {
		t.Fatalf("%+v, %v", then, err)
	}
	if same, err := ask(again); err != nil || same.ID != then.ID {
		t.Errorf("asked again: %+v, %v", same, err)
	}
	refused("one that went on", "continued in "+then.ID, map[string]any{"continues": first.ID, "task": "More."})
	if d, err := l.Get(t.Context(), first.ID); err != nil || d.Tree != "" || d.ContinuedBy != then.ID {
		t.Errorf("the first: %+v, %v", d, err)
	}
	l.end(t, then.ID, "")
	gone := map[string]any{"continues": then.ID}
	refused("its folder is gone", "its folder is gone", gone)
	if err := l.noteAgent(t.Context(), "codex", acpclient.Agent{}, nil); err != nil {
		t.Fatal(err)
	}
	refused("one that loads none", "cannot load a session", gone)
}

// Trees are kept of the newest delegations, for a while; what has a follow-up, or runs, is left alone.
func TestShedTrees(t *testing.T) {
	l := newLedger(t)
	caller := t.TempDir()
	add := func(n int) Delegation {
		t.Helper()
		d := l.must(t, Caller{}, want(n))
		root := filepath.Join(l.folders, d.ID)
		f, err := worktree.Make(t.Context(), caller, root, worktree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f.Keep = true
		if _, err := f.Finish(context.Background(), "m"); err != nil {
			t.Fatal(err)
		}
		l.end(t, d.ID, root)
		return d
	}
	there := func(d Delegation) bool {
		t.Helper()
		now, err := l.Get(t.Context(), d.ID)
		_, missing := os.Stat(filepath.Join(l.folders, d.ID))
		if err != nil || (now.Tree == "") != (missing != nil) || now.Folder != "" {
			t.Errorf("%+v, %v, %v", now, err, missing)
		}
		return missing == nil
	}
	forgotten := add(0)
	if _, err := l.db.ExecContext(t.Context(), `UPDATE delegations SET request = json_set(request, '$.task', '')`); err != nil {
		t.Fatal(err)
	}
	if err := l.RemoveTrees(t.Context(), 1); err != nil || there(forgotten) {
		t.Errorf("what was forgotten: %v", err)
	}
	old, fresh := add(1), add(2)
	if err := l.RemoveTrees(t.Context(), 1); err != nil || there(old) || !there(fresh) {
		t.Errorf("the newest alone: %v", err)
	}
	l.now = func() time.Time { return time.Now().Add(treeTime + time.Minute) }
	if err := l.RemoveTrees(t.Context(), 1); err != nil || there(fresh) {
		t.Errorf("after %v: %v", treeTime, err)
	}
}

// What its relay ended by itself, or because it was told to, holds no copy of a login.
func TestEndedWell(t *testing.T) {
	for exit, want := range map[upstream.Exit]bool{{}: true, {Code: 143}: true, {Code: 1}: false,
		{Signal: syscall.SIGTERM}: false, {Signal: syscall.SIGKILL}: false, {Code: 137}: false} {
		if got := endedWell(exit); got != want {
			t.Errorf("%v: %t", exit, got)
		}
	}
}
