package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A folder that is opened again is as it was left, and hands back what differs from what was handed on at first.
func TestReopen(t *testing.T) {
	dir := repo(t)
	f := make1(t, filepath.Join(dir, "sub"), Options{Edit: true})
	folders := filepath.Dir(f.root)
	write(t, f.Cwd, map[string]string{"heron.txt": "black\n", "b.txt": "b\n", "x.log": "ignored"})
	f.Keep = true
	if w, err := f.Finish(t.Context(), "one"); err != nil || len(w.Paths) != 2 {
		t.Fatalf("%v, %v", w, err)
	}
	again, err := Reopen(t.Context(), folders, f.root)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{f.Cwd, f.Reads()}, []any{again.Cwd, again.Reads()}); diff != "" {
		t.Errorf("opened again (-first +then):\n%s", diff)
	}
	if got := read(again.Cwd, "heron.txt") + read(again.Cwd, "x.log"); got != "black\nignored" {
		t.Errorf("it sees %q", got)
	}
	if err := os.Remove(filepath.Join(again.Cwd, "b.txt")); err != nil {
		t.Fatal(err)
	}
	write(t, again.Cwd, map[string]string{"c.txt": "c\n"})
	again.Keep = true
	w, err := again.Finish(t.Context(), "two")
	if diff := cmp.Diff([]string{"sub/c.txt", "sub/heron.txt"}, w.Paths); diff != "" || err != nil {
		t.Errorf("handed back: %v\n%s", err, diff)
	}
	if left, err := RemoveTree(t.Context(), folders, f.root); err != nil || !left {
		t.Errorf("shed: %v, %v", left, err)
	}
	if _, err := os.Stat(f.Tree()); !os.IsNotExist(err) {
		t.Errorf("its files are there: %v", err)
	}
	if _, err := Reopen(t.Context(), folders, f.root); err == nil {
		t.Error("opened without its files")
	}
	r, err := Open(t.Context(), folders, f.root)
	if err != nil {
		t.Fatal(err)
	}
	var patch strings.Builder
	if err := r.Diff(t.Context(), &patch); err != nil || !strings.Contains(patch.String(), "-white\n+black\n") {
		t.Errorf("%v\n%s", err, &patch)
	}
	if _, _, err := r.Apply(t.Context(), ApplyOptions{Steering: true}); err != nil || read(dir, "sub/heron.txt") != "black\n" || read(dir, "sub/c.txt") != "c\n" {
		t.Errorf("applied: %v", err)
	}
}

// Where nothing was handed back nothing is left of it.
func TestShed(t *testing.T) {
	for _, edit := range []bool{false, true} {
		dir := repo(t)
		before := state(t, dir)
		f := make1(t, dir, Options{Edit: edit})
		f.Keep = true
		if _, err := f.Finish(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		folders := filepath.Dir(f.root)
		if _, err := Open(t.Context(), folders, f.root); !errors.Is(err, ErrNothing) {
			t.Errorf("edit %v: a result: %v", edit, err)
		}
		if left, err := RemoveTree(t.Context(), folders, f.root); err != nil || left {
			t.Errorf("edit %v: left %v, %v", edit, left, err)
		}
		if _, err := os.Stat(f.root); !os.IsNotExist(err) || state(t, dir) != before {
			t.Errorf("edit %v: something is left: %v", edit, err)
		}
	}
}

// A check sees the files as they are handed back, and what it changes is put back: at the end, and later.
func TestCheck(t *testing.T) {
	dir := repo(t)
	f := make1(t, dir, Options{Edit: true})
	folders := filepath.Dir(f.root)
	write(t, f.Cwd, map[string]string{"sub/heron.txt": "black\n", "new/b.txt": "b\n", "x.log": "ignored"})
	f.Keep = true
	spoil := func(own string) {
		if got := read(own, "sub/heron.txt") + read(own, "new/b.txt"); got != "black\nb\n" {
			t.Errorf("it sees %q", got)
		}
		must(t, os.RemoveAll(filepath.Join(own, "new")))
		link(t, own, dir, "new")
		write(t, own, map[string]string{"sub/heron.txt": "spoilt\n", "coverage/out.txt": "more", "x.log": "kept"})
	}
	checked := false
	f.Check = func() { spoil(f.Cwd); checked = true }
	w, err := f.Finish(t.Context(), "one")
	if diff := cmp.Diff([]string{"new/b.txt", "sub/heron.txt"}, w.Paths); diff != "" || err != nil || !checked {
		t.Fatalf("handed back: %v, checked %t\n%s", err, checked, diff)
	}
	for range 2 {
		again, err := OpenTree(t.Context(), folders, f.root)
		must(t, err)
		spoil(again.Cwd)
		must(t, again.Restore(t.Context()))
		if got := read(again.Cwd, "coverage/out.txt") + read(again.Cwd, "x.log"); got != "kept" {
			t.Errorf("it is left %q", got)
		}
		must(t, again.Close())
	}
	if got := read(dir, "b.txt") + read(dir, "sub/heron.txt"); strings.Contains(got, "b\n") || strings.Contains(got, "spoilt") {
		t.Errorf("the caller has %q", got)
	}
}

// Files and folders are applied by name; the result counts as applied once all of it is there.
func TestApplyOnly(t *testing.T) {
	dir := repo(t)
	f := make1(t, dir, Options{Edit: true})
	write(t, f.Cwd, map[string]string{"a/1.txt": "1", "a/2.txt": "2", "ab.txt": "3", "AGENTS.md": "x"})
	_, err := f.Finish(t.Context(), "m")
	must(t, err)
	r, err := Open(t.Context(), filepath.Dir(f.root), f.root)
	must(t, err)
	for _, tt := range []struct {
		only  []string
		wrote string // or the error
		held  int
	}{
		{[]string{"b"}, "it changed nothing at b, but: AGENTS.md, a/1.txt, a/2.txt, ab.txt", 0},
		{[]string{"ab.txt", "./a/2.txt"}, "a/2.txt ab.txt", 0}, {[]string{"a/"}, "a/1.txt", 0},
		{[]string{"AGENTS.md"}, "", 1}, {[]string{"."}, "", 1},
	} {
		wrote, held, err := r.Apply(t.Context(), ApplyOptions{Only: tt.only})
		got := strings.Join(wrote, " ")
		if err != nil {
			got = err.Error()
		}
		if got != tt.wrote || len(held) != tt.held || r.Applied(t.Context()) {
			t.Errorf("%q: %q, held %v", tt.only, got, held)
		}
	}
	if _, _, err := r.Apply(t.Context(), ApplyOptions{Only: []string{"."}, Steering: true}); err != nil || !r.Applied(t.Context()) {
		t.Errorf("all of it: %v", err)
	}
}
