package report

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Each session stands once, below the one that it works for, whatever the database says of them.
func TestTree(t *testing.T) {
	for _, tt := range []struct{ given, want string }{
		{"", ""},
		{"c<b a b<a d", "a 0, b 1, c 2, d 0"},
		{"b<gone a", "b 0, a 0"},
		{"a<a b<a", "a 0, b 1"},
		{"a<b b<a c", "c 0, a 0, b 1"},
	} {
		var all []runtime.Listed
		for i, one := range strings.Fields(tt.given) {
			id, parent, _ := strings.Cut(one, "<")
			all = append(all, runtime.Listed{Session: correlation.Session{ID: int64(i + 1), ACPID: id}, Parent: parent})
		}
		var got []string
		for _, b := range tree(all) {
			got = append(got, fmt.Sprint(b.ACPID, " ", utf8.RuneCountInString(b.Title)/2))
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.given, got, tt.want)
		}
	}
}
