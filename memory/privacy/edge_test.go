package privacy

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// Texts at the edges of the rules: one more or one less character, another sign or case, and something else is found. A
// line of edges.txt has what is done, the text and what becomes of it (=: nothing), with dots as in secrets.txt.
func TestEdges(t *testing.T) {
	do := map[string]func(string) string{"redact": Redact, "safe": Safe, "private": func(text string) string {
		kept, found := WithoutPrivate(text)
		return fmt.Sprintf("%s %q", kept, found)
	}}
	for _, line := range corpus(t, "edges.txt") {
		fields := strings.Split(strings.ReplaceAll(line, "·", ""), "\t")
		text, err := strconv.Unquote(fields[1])
		want := text
		if err == nil && fields[2] != "=" {
			want, err = strconv.Unquote(fields[2])
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := do[fields[0]](text); got != want {
			t.Errorf("%s %q gives %q, want %q", fields[0], text, got, want)
		}
	}
}
