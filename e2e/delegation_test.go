package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDelegateReads(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": nil})
	r := b.try(ask("heron", "Review heron.txt.")...)
	if r.Code != 0 || !strings.Contains(r.Stdout, "> Review heron.txt.") ||
		!strings.Contains(r.Stdout, "> - the release") || !strings.Contains(r.Stdout, "I was given 2 block(s)") {
		t.Errorf("exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	b.orphans()
	all := b.delegations()
	if len(all) != 1 || all[0].State != "done" || all[0].Kind != "read" || all[0].Depth != 1 || all[0].Ended == nil {
		t.Fatalf("%+v", all)
	}
	work, err := filepath.EvalSymlinks(b.Work)
	must(b, err)
	if diff := cmp.Diff([][]string{{all[0].Session, work, "done"}},
		b.query(`SELECT acp_id, project, state FROM sessions`)); diff != "" {
		t.Errorf("the child's session (-want +got):\n%s", diff)
	}
	if got := b.query(`SELECT project, source FROM memories WHERE source = 'delegation'`); len(got) != 1 ||
		got[0][0] != work {
		t.Errorf("the caller remembers %q", got)
	}
	again := b.try(ask("heron", "Review heron.txt.")...)
	if again.Code != 0 || again.Stdout != r.Stdout || !strings.Contains(again.Stderr, "already delegated") {
		t.Errorf("again: exit %d\n%s%s", again.Code, again.Stdout, again.Stderr)
	}
	if n := len(b.requests("session/prompt")); n != 1 {
		t.Errorf("%d prompts", n)
	}
}

func TestDelegateEdits(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": {"ECHOAGENT_WRITE=heron.txt"}})
	// what it gets besides, and what is done before it begins, which is bounded too
	must(b, os.WriteFile(filepath.Join(b.Work, ".git", "info", "exclude"), []byte("*.log\n"), 0o600))
	must(b, os.WriteFile(filepath.Join(b.Work, "kept.log"), []byte("kept\n"), 0o600))
	b.set("SIGNET_ACP_DELEGATION_CHECK=head -1 heron.txt", "SIGNET_ACP_DELEGATION_COPY=*.log", "SIGNET_ACP_DELEGATION_SETUP=cp kept.log set.up && ! echo x >"+
		filepath.Join(b.Work, "escaped"))
	r := b.try(ask("heron", "--mode", "edit", "Make it white.")...)
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	d := b.delegations()[0]
	if d.Branch == "" || len(d.Paths) != 1 || !strings.Contains(r.Stderr, d.Branch) {
		t.Errorf("%+v\n%s", d, r.Stderr)
	}
	if got := b.run("git", "-C", filepath.Join(d.Folder, "git"), "show", d.Branch+":heron.txt"); !strings.Contains(got, "Make it white.") {
		t.Errorf("the branch has %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(b.Work, "heron.txt")); string(text) != "grey\n" {
		t.Errorf("the caller's file: %q, %v", text, err)
	}
	b.orphans()
	// a follow-up has the same session, tree and changes, and these are then its own
	first := d.ID[len(d.ID)-6:]
	if r := b.try(proxyBin, "delegate", "--continues", first, "Make it white. All."); r.Code != 0 ||
		!strings.Contains(r.Stdout, "> Make it white. All.") {
		t.Errorf("a follow-up: exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	b.orphans()
	before := d
	d = b.delegations()[0]
	if d.Continues != before.ID || d.Session != before.Session || d.Folder != before.Folder || d.Branch != before.Branch ||
		d.Tree != d.Folder || d.Usage.Turns != before.Usage.Turns {
		t.Errorf("a follow-up: %+v\nof %+v", d, before)
	}
	if got := b.requests("session/load"); len(got) != 1 {
		t.Errorf("loaded: %+v", got)
	}
	id := d.ID[len(d.ID)-6:]
	for _, tt := range []struct {
		command, want string
		code          int
	}{
		{"show " + first, "continued     " + d.ID, 0}, {"apply " + first, "it was continued in " + d.ID, 1},
		{"show " + id, "heron.txt | ", 0}, {"diff " + id, "-grey\n+", 0}, {"shw", `did you mean "show"?`, 1},
		{"show " + id[:5] + "!", "no delegation has this id, did you mean", 1}, {"log " + id, "Make it white.", 0},
		{"log --follow " + id, "Make it white.", 0}, {"wait " + id, "> Make it white.", 0},
		{"cancel " + id, "is done", 0}, {"verdict " + id + " -0.5 pale", "", 0}, {"verdict " + id + " -2", "from -1", 1},
		{"show --json " + id, `"verdict": -0.5`, 0}, {"show " + first, "check         head -1 heron.txt: exit 0 after", 0},
		{"check " + id + " -- ls set.up no-such-file", "the check failed: exit 2", 1},
		{"apply --checked " + id, "its check failed (ls set.up no-such-file: exit 2", 1},
		{"check " + id + " -- cp heron.txt " + filepath.Join(b.Work, "escaped"), "the check failed: exit 1", 1},
		{"check " + id + " -- grep white heron.txt", "Make it white.", 0}, {"show --json " + id, `"command": "grep white heron.txt"`, 0},
		{"apply " + id + " --only grebe.txt", "it changed nothing at grebe.txt, but: heron.txt", 1},
		{"apply --checked " + id + " --only heron.txt", "heron.txt\n", 0},
	} {
		r := b.try(append([]string{proxyBin, "delegations"}, strings.Fields(tt.command)...)...)
		if r.Code != tt.code || !strings.Contains(r.Stdout+r.Stderr, tt.want) {
			t.Errorf("%s: exit %d\n%s%s", tt.command, r.Code, r.Stdout, r.Stderr)
		}
	}
	if text, err := os.ReadFile(filepath.Join(b.Work, "heron.txt")); !strings.Contains(string(text), "Make it white.") {
		t.Errorf("applied: %q, %v", text, err)
	}
	for _, kept := range []string{"own", "work"} {
		if _, err := os.Stat(filepath.Join(d.Folder, kept)); !os.IsNotExist(err) {
			t.Errorf("after apply %s is kept: %v", kept, err)
		}
	}
	must(b, os.WriteFile(filepath.Join(b.Work, "heron.txt"), []byte("black\n"), 0o600))
	r = b.try(proxyBin, "delegations", "apply", id)
	if text, err := os.ReadFile(filepath.Join(b.Work, "heron.txt")); r.Code != 1 || string(text) != "black\n" || err != nil ||
		!strings.Contains(r.Stderr, "CONFLICT (content)") {
		t.Errorf("a conflict: exit %d, %s; %q, %v", r.Code, r.Stderr, text, err)
	}
	b.run(proxyBin, "delegations", "discard", id)
	if r := b.try(proxyBin, "delegations", "diff", id); r.Code != 1 || !strings.Contains(r.Stderr, "no changes") {
		t.Errorf("after discard: exit %d, %s", r.Code, r.Stderr)
	}
}
