package stated

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// What people say to agents: what lasts is kept, for the person or the project, and what is meant for a turn is not.
func TestStatements(t *testing.T) {
	file, err := os.Open("testdata/statements.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	counts := map[string]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		want, text, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			continue
		}
		counts[want]++
		got := "none"
		for _, s := range In(text) {
			if s.Personal {
				got = "person"
			} else if s.Kind != Decision {
				got = "project"
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if counts["person"]+counts["project"] < 60 || counts["none"] < 60 {
		t.Errorf("too few sentences: %v", counts)
	}
}
