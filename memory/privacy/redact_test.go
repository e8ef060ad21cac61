package privacy

import (
	"os"
	"strings"
	"testing"
)

// corpus reads a file of entries, one a line; ⏎ stands for a line end.
func corpus(t testing.TB, name string) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(string(raw), "⏎", "\x00")), "\n")
}

func lineEnds(s string) string { return strings.ReplaceAll(s, "\x00", "\n") }

// The secret of each entry stands in «», with dots in between that keep scanners of repositories calm. All were made up
// for this test: secrets.txt are keys of providers and what is assigned to names, forms.txt what commands, headers,
// files and people write.
func TestRedactSecrets(t *testing.T) {
	missed, total := 0, 0
	for _, entry := range append(corpus(t, "secrets.txt"), corpus(t, "forms.txt")...) {
		entry = lineEnds(strings.ReplaceAll(entry, "·", ""))
		before, rest, ok := strings.Cut(entry, "«")
		secret, after, ok2 := strings.Cut(rest, "»")
		if !ok || !ok2 {
			t.Fatalf("no secret marked in %q", entry)
		}
		total++
		got := Redact(before + secret + after)
		half := len(secret) / 2
		if strings.Contains(got, secret) || len(secret) >= 16 &&
			(strings.Contains(got, secret[half:]) || strings.Contains(got, secret[:half])) {
			missed++
			t.Logf("missed: %q gives %q", entry, got)
		}
		if again := Redact(got); again != got {
			t.Errorf("not stable: %q becomes %q", got, again)
		}
	}
	t.Logf("%d of %d secrets found", total-missed, total)
	if missed > 0 {
		t.Errorf("%d of %d missed", missed, total)
	}
}

func TestRedactLookalikes(t *testing.T) {
	for _, entry := range corpus(t, "lookalikes.txt") {
		entry = lineEnds(entry)
		if got := Redact(entry); got != entry {
			t.Errorf("%q became %q", entry, got)
		}
	}
}

func TestRedactNamesKindAndKeepsTheRest(t *testing.T) {
	key := "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	for _, c := range []struct{ in, want string }{
		{"push with " + key + ", then delete it", "push with [redacted:github], then delete it"},
		{"https://robin:s3" + "cretX9@example.com/x?y=1", "https://robin:[redacted:password]@example.com/x?y=1"},
		{`{"password": "hun` + `ter22", "user": "robin"}`, `{"password": "[redacted:password]", "user": "robin"}`},
		{"nothing here", "nothing here"},
		{"", ""},
	} {
		if got := Redact(c.in); got != c.want {
			t.Errorf("Redact(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
