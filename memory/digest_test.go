package memory

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDigest(t *testing.T) {
	rounds := []Round{
		{User: "Move billing\nto Postgres.", Result: "Begun."},
		{User: "a", Decided: []string{"one", "two", "one"}, Agreed: []string{"two", "four"}, Changed: []string{"a.go", "b.go"}},
		{User: "b", Decided: []string{"three"}, Changed: []string{"a.go"}, Result: "All tests pass.", Open: "document it"},
		{User: "thanks"},
	}
	want := Digest{Asked: "Move billing to Postgres.", Decided: []string{"one", "two", "three"}, Agreed: []string{"four"},
		Changed: []string{"a.go", "b.go"}, Result: "All tests pass.", Open: "document it"}
	d := DigestOf(rounds)
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	const text = "began with: Move billing to Postgres. / decided: two / decided: three / " +
		"last result: All tests pass. / open: document it / files: a.go, b.go"
	if got := d.Text(); got != text {
		t.Errorf("%q", got)
	}
	if got := DigestOf(nil).Text(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	long := strings.Repeat("word ", 400)
	d = Digest{Asked: long, Decided: []string{long, long, long, long}, Changed: []string{long, long}, Result: long, Open: long}
	if n := len(d.Text()); n > 4*digestBudget {
		t.Errorf("%d bytes", n)
	}
	if n := len(d.Short()); n > 4*shortBudget {
		t.Errorf("a short one has %d bytes", n)
	}
}
