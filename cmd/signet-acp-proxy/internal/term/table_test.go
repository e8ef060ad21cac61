package term

import (
	"bytes"
	"strings"
	"testing"
)

func TestTableFits(t *testing.T) {
	table := &Table{Columns: []Column{{Title: "ID"}, {Title: "WHAT", Least: 8}, {Title: "WHERE", Least: 6, Spare: 1},
		{Title: "WHEN", Spare: 2}}}
	table.Add("0123456789", "a long story about heron\n\x1b[31mred", "/home/robin/work/heron", "2026-10-03 12:00")
	table.Add("1", "日本語の話", "~", "2026-10-04 12:00")
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "ID          WHAT                              WHERE                   WHEN\n0123456789  a long story about heron [31mred  /home/robin/work/heron  2026-10-03 12:00\n1           日本語の話                        ~                       2026-10-04 12:00\n"},
		{60, "ID          WHAT           WHERE          WHEN\n0123456789  a long story…  /home/robin…   2026-10-03 12:00\n1           日本語の話     ~              2026-10-04 12:00\n"},
		{30, "ID          WHAT\n0123456789  a long story abou…\n1           日本語の話\n"},
	} {
		var out bytes.Buffer
		if err := table.Print(Screen{W: &out, Width: c.width}); err != nil {
			t.Fatal(err)
		}
		if c.width > 0 {
			for line := range strings.Lines(out.String()) {
				if n := Width(strings.TrimSuffix(line, "\n")); n > c.width {
					t.Errorf("width %d: a line of %d: %q", c.width, n, line)
				}
			}
		}
		if c.width != 60 && out.String() != c.want {
			t.Errorf("width %d:\n%s\nwant:\n%s", c.width, out.String(), c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	if got := Wrap("one two three four five six", 30, 8); got != "one two three four\n        five six" {
		t.Errorf("%q", got)
	}
	if got := Wrap("one two", 0, 8); got != "one two" {
		t.Errorf("%q", got)
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{"1 delivery": Count(1, "delivery"), "2 deliveries": Count(2, "delivery"),
		"0 turns": Count(0, "turn")} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
