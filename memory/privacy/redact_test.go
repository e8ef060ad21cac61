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
// files and people write, and more.txt both, also in pieces.
func TestRedactSecrets(t *testing.T) {
	missed, total := 0, 0
	entries := append(corpus(t, "secrets.txt"), corpus(t, "forms.txt")...)
	streams := len(entries) // TestStream has those before
	for i, entry := range append(entries, corpus(t, "more.txt")...) {
		entry = lineEnds(strings.ReplaceAll(entry, "·", ""))
		before, rest, ok := strings.Cut(entry, "«")
		secret, after, ok2 := strings.Cut(rest, "»")
		if !ok || !ok2 {
			t.Fatalf("no secret marked in %q", entry)
		}
		total++
		got := Redact(before + secret + after)
		if i >= streams {
			got += streamed(before+secret+after, nil, func() int { return 1 + i%12 })
		}
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
		{"https://robin:s3cr" + "/etX9@example.com/x", "https://robin:[redacted:password]@example.com/x"},
		{"http://robin:8080/x@example.com/", "http://robin:8080/x@example.com/"},
		{"sk_live" + "_Zx9k2Lm4Qp7RtYbNc4hJd8fG", "[redacted:stripe]"}, // the longest beginning says the kind
		{"hello world this is aGVsbG8gd29ybGQgdGhpcyBpcyD//v0g now", "hello world this is aGVsbG8gd29ybGQgdGhpcyBpcyD//v0g now"},
		{"jdbc:oracle:thin:scott/tig" + "er99X@db:1521", "jdbc:oracle:thin:scott/[redacted:password]@db:1521"},
		{"a\u200bb " + key + " c", "a\u200bb [redacted:github] c"},
		// where a value begins and ends
		{"get /x?token=Zx9k2Lm4" + "Qp7R&user=robin", "get /x?token=[redacted:secret]&user=robin"},
		{"get /x?a=1&token=Zx9k2Lm4" + "Qp7R&user=robin", "get /x?a=1&token=[redacted:secret]&user=robin"},
		{"token=Zx9k2Lm4" + "Qp7R,user=robin", "token=[redacted:secret],user=robin"},
		{"password=a1b2,c3d4", "password=[redacted:password]"},
		{"password=,a1b2=c3d4", "password=,a1b2=c3d4"},
		{"password=;a1b2c3d4", "password=;a1b2c3d4"},
		{`password=\na1b2c3d4`, `password=\na1b2c3d4`},
		{`run --password "a1b2` + `c3d4" now`, `run --password "[redacted:password]" now`},
		{"it asks for --password ", "it asks for --password "},
		{"<password>a1b2" + "c3d4</password>", "<password>[redacted:password]</password>"},
		{"db in eu\nvariable \"db_password\" {\n  default = \"a1b2" + "c3d4\"\n}",
			"db in eu\nvariable \"db_password\" {\n  default = \"[redacted:password]\"\n}"},
		// what a value must have
		{`password = "ab12` + `cd"`, `password = "[redacted:password]"`},
		{`password = "ab12c"`, `password = "ab12c"`},
		{`password = "correct horse ` + `battery"`, `password = "[redacted:password]"`},
		{`password = "correct horse"`, `password = "correct horse"`},
		{"DB_PASSWORD=moor" + "ings", "DB_PASSWORD=[redacted:password]"},
		{"DB_PASSWORD=mooring", "DB_PASSWORD=mooring"},
		{`api_key: "kite-` + `99x"`, `api_key: "[redacted:secret]"`},
		{`api_key: "kite-9x"`, `api_key: "kite-9x"`},
		{"token = access_token", "token = access_token"},
		// names in two words
		{`pass phrase = "correct ` + `horse"`, `pass phrase = "[redacted:password]"`},
		{`api key = "kite-` + `99x4"`, `api key = "[redacted:secret]"`},
		{`cache key = "kite-99x4"`, `cache key = "kite-99x4"`},
		{"nothing here", "nothing here"},
		{"", ""},
	} {
		if got := Redact(c.in); got != c.want {
			t.Errorf("Redact(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
