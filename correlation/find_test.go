package correlation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestFind(t *testing.T) {
	b := newBench(t)
	const long = "0123456789abcdef" // 16
	one := b.open(OpenSession{Harness: "claude", ACPID: long})
	short := b.open(OpenSession{Harness: "claude", ACPID: long[:15]})
	double := b.open(OpenSession{Harness: "claude", ACPID: "double " + long})
	b.open(OpenSession{Harness: "codex", ACPID: "double " + long})
	wide := b.open(OpenSession{Harness: "claude", ACPID: strings.Repeat("é", 15)})
	for _, tt := range []struct {
		name, harness, id string
		want              int64
	}{
		{"by both", "claude", long, one.ID},
		{"by a long id alone", "other", long, one.ID},
		{"short", "claude", short.ACPID, short.ID},
		{"by a short id alone", "other", short.ACPID, 0},
		{"fifteen characters in thirty bytes", "other", wide.ACPID, 0},
		{"not unique, with its harness", "claude", double.ACPID, double.ID},
		{"not unique", "other", double.ACPID, 0},
		{"unknown", "claude", "nothing", 0},
		{"empty", "claude", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := b.Find(t.Context(), tt.harness, tt.id)
			if tt.want == 0 {
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if err != nil || got.ID != tt.want {
				t.Errorf("got %d, %v, want %d", got.ID, err, tt.want)
			}
		})
	}
}

func TestOddIDs(t *testing.T) {
	b := newBench(t)
	for _, id := range []string{
		strings.Repeat("x", 1<<20), strings.Repeat("x", 1<<20) +
			"y", "'; DROP TABLE sessions; --", "a\x00b", "a", "\x1b[31m\n", "\xff\xfe", "%_", "",
	} {
		v := b.open(OpenSession{ACPID: id, Record: id})
		if got, err := b.Find(t.Context(), "claude", id); err != nil || got.ID != v.ID {
			t.Errorf("%.20q: found %d, %v", id, got.ID, err)
		}
	}
	if n := b.count("SELECT count(*) FROM sessions"); n != 9 {
		t.Errorf("%d sessions, want 9", n)
	}
}

func TestFindByRecord(t *testing.T) {
	b := newBench(t)
	b.open(OpenSession{ACPID: "none"})
	b.open(OpenSession{ACPID: "A", Record: "rec"})
	v := b.open(OpenSession{ACPID: "B"})
	check(t, b.SetRecord(t.Context(), v.ID, "rec"))
	if got := must(b.FindByRecord(t.Context(), "rec"))(t); got.ID != v.ID {
		t.Errorf("found %q, want the newest", got.ACPID)
	}
	for _, record := range []string{"", "other"} {
		if _, err := b.FindByRecord(t.Context(), record); !errors.Is(err, ErrNotFound) {
			t.Errorf("record %q: %v", record, err)
		}
	}
	if err := b.SetRecord(t.Context(), 1<<40, "rec"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the record of no session: %v", err)
	}
}

func TestResolve(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	a := b.open(OpenSession{ACPID: "aaaa-1", Record: "aaaa-1", Key: "key-a"})
	b.turn(a.ID, p.ID(), "hello", "hi")
	b.step(a.ID, "", Step{Name: NothingToTell})
	next := b.open(OpenSession{ACPID: "bbbb-2", ContinueOf: a.ID, Key: "key-b", New: true, Process: p.ID()})
	check(t, b.rekey(next.ID, "second-key"))
	other := b.open(OpenSession{ACPID: "bbcc-3", Key: "key-c"})
	first := b.in(Done, "session-1", p.ID()) // of a harness that counts from 1 in each process
	second := b.open(OpenSession{ACPID: "session-1", New: true})
	for _, tt := range []struct {
		name string
		want int64 // 0: not found, -1: ambiguous
	}{
		{"bbbb-2", next.ID},
		{"aaaa-1", next.ID}, // it went on as bbbb-2
		{"key-a", next.ID},
		{"key-b", next.ID},
		{"second-key", next.ID},
		{"second", next.ID},
		{"aa", next.ID},
		{"bbb", next.ID},
		{"bbcc-3", other.ID},
		{"bbc", other.ID},
		{"key-c", other.ID},
		{"session-1", second.ID},
		{"session", second.ID},
		{first.Key, first.ID},
		{first.Key[:len(first.Key)-1], first.ID},
		{"bb", -1},
		{"key", -1},
		{"%", 0},
		{"_bbb", 0},
		{"", 0},
		{"AAAA-1", 0},
	} {
		got, err := b.Book().Resolve(t.Context(), tt.name)
		switch {
		case tt.want == 0 && !errors.Is(err, ErrNotFound), tt.want < 0 && !errors.Is(err, ErrAmbiguous), tt.want > 0 &&
			err != nil:
			t.Errorf("%q: %v", tt.name, err)
		case tt.want > 0 && got.ID != tt.want:
			t.Errorf("%q is session %d, want %d", tt.name, got.ID, tt.want)
		}
	}
	if got := must(b.Book().Resolve(t.Context(), "aaaa-1"))(t); got.Turns != 1 || !got.Live {
		t.Errorf("%d turns, live %t", got.Turns, got.Live)
	}
}

func TestSessions(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	for i := range 3 {
		b.clock.Advance(time.Second)
		b.open(OpenSession{ACPID: fmt.Sprint(i)})
	}
	b.clock.Advance(time.Second)
	v := b.open(OpenSession{ACPID: "0", Process: p.ID()})
	b.turn(v.ID, p.ID(), "hello", "hi")
	b.open(OpenSession{ACPID: "2", Process: b.died(ProcessInfo{})})
	type row struct {
		ACPID string
		Live  bool
		Turns int
	}
	rows := func(limit int) (all []row) {
		for _, v := range must(b.Book().Sessions(t.Context(), limit))(t) {
			all = append(all, row{v.ACPID, v.Live, v.Turns})
		}
		return all
	}
	want := []row{{"2", false, 0}, {"0", true, 1}, {"1", false, 0}}
	if diff := cmp.Diff(want, rows(0), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:2], rows(2)); diff != "" {
		t.Error(diff)
	}
	count := func() [2]int {
		all, live, err := b.Book().Count(t.Context())
		check(t, err)
		return [2]int{all, live}
	}
	if got := count(); got != [2]int{3, 1} {
		t.Errorf("%d sessions and how many are live, want 3 and 1", got)
	}
	check(t, p.End(t.Context(), "eof"))
	if got := rows(0); got[1].Live {
		t.Error("live after its process ended")
	}
	if got := count(); got != [2]int{3, 0} {
		t.Errorf("%d sessions and how many are live once its process has ended, want 3 and 0", got)
	}
}
