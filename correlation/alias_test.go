package correlation_test

import (
	"errors"
	"testing"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Whether an id under which a harness lists a session is another name of one that is known.
func TestIsAlias(t *testing.T) {
	for _, tt := range []struct {
		name   string
		id     string
		listed []string
		with   func(b *bench, of Session)
		want   bool
	}{
		{"one for one", "x", []string{"x"}, nil, true},
		{"more than there are sessions", "x", []string{"x", "y"}, nil, false},
		{"more, and it ends in the session's own", "agent:main:own", []string{"agent:main:own", "y"}, nil, true},
		{"not listed", "x", []string{"y"}, nil, false},
		{"the session is listed itself", "x", []string{"x", "own"}, nil, false},
		{"another is listed by its own", "x", []string{"x", "other"}, func(b *bench, _ Session) {
			b.turn(b.open(OpenSession{ACPID: "other", Cwd: "/w", New: true}).ID, "", "hello", "")
		}, false},
		{"it has another name", "x", []string{"x"}, func(b *bench, of Session) {
			b.open(OpenSession{ACPID: "z", AliasOf: of.ID})
		}, false},
		{"another has its name", "x", []string{"x", "y"}, func(b *bench, of Session) {
			other := b.open(OpenSession{ACPID: "other", Cwd: "/w", New: true})
			b.turn(other.ID, "", "hello", "")
			b.open(OpenSession{ACPID: "y", AliasOf: other.ID})
		}, true},
		{"another in which nothing was said", "x", []string{"x", "y"}, func(b *bench, _ Session) {
			b.open(OpenSession{ACPID: "other", Cwd: "/w", New: true})
		}, false},
		{"another in another folder", "x", []string{"x", "y"}, func(b *bench, _ Session) {
			b.turn(b.open(OpenSession{ACPID: "other", Cwd: "/v", New: true}).ID, "", "hello", "")
		}, false},
		{"one that was loaded by the other name before", "x", []string{"x", "y"}, func(b *bench, _ Session) {
			b.open(OpenSession{ACPID: "y", Cwd: "/w"})
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			of := b.open(OpenSession{ACPID: "own", Cwd: "/w", New: true})
			b.turn(of.ID, "", "hello", "")
			if tt.with != nil {
				tt.with(b, of)
			}
			if got, err := b.IsAlias(t.Context(), tt.id, of, tt.listed); err != nil || got != tt.want {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// A session is found by its other name, until the harness gives that to a new one.
func TestAlias(t *testing.T) {
	b := newBench(t)
	of := b.open(OpenSession{ACPID: "the session's own id", Cwd: "/w", New: true})
	if got := b.open(OpenSession{ACPID: "listed", AliasOf: of.ID}); got.ID != of.ID || got.ACPID != of.ACPID {
		t.Errorf("opened by its other name it is %+v", got)
	}
	if got := b.open(OpenSession{ACPID: "listed"}); got.ID != of.ID {
		t.Errorf("opened again it is %+v", got)
	}
	for _, name := range []string{"listed", "list"} {
		if got, err := b.Book().Resolve(t.Context(), name); err != nil || got.ID != of.ID {
			t.Errorf("by %q a person finds %+v, %v", name, got, err)
		}
	}
	made := b.open(OpenSession{ACPID: "listed", Cwd: "/w", New: true})
	if got, err := b.Find(t.Context(), "claude", "listed"); err != nil || got.ID != made.ID || made.ID == of.ID {
		t.Errorf("a new one with that id is %d, %+v, %v", made.ID, got, err)
	}
	if gone := b.open(OpenSession{ACPID: "of one that was forgotten", AliasOf: 99}); gone.ID == of.ID {
		t.Errorf("%+v", gone)
	}
}

// The owner of a block is the session that was given it first, with the same harness.
func TestBlockOwner(t *testing.T) {
	b := newBench(t)
	of := b.open(OpenSession{ACPID: "own", New: true})
	for i, s := range []Session{b.open(OpenSession{Harness: "codex", ACPID: "other", New: true}), of,
		b.open(OpenSession{ACPID: "copy"})} {
		if _, err := b.Claim(t.Context(), s.ID, []State{Armed}, "p", Injection{Key: s.Key, BlockID: "b1", Text: "t"}); err != nil {
			t.Fatal(i, err)
		}
	}
	if got, err := b.BlockOwner(t.Context(), "claude", "b1"); err != nil || got.ID != of.ID {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := b.BlockOwner(t.Context(), "claude", "b2"); !errors.Is(err, ErrNotFound) {
		t.Errorf("nobody's: %v", err)
	}
}
