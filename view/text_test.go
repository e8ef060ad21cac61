package view

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// Figures in words, as the page has them.
func TestWords(t *testing.T) {
	t.Setenv("HOME", "/home/robin")
	number := func(n int64) *int64 { return &n }
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	for _, tt := range []struct{ got, want string }{
		{took(999 * time.Millisecond), "999 ms"}, {took(time.Second), "1.0 s"}, {took(59900 * time.Millisecond), "59.9 s"},
		{took(time.Minute), "1m"}, {took(90 * time.Second), "1m30s"}, {took(2 * time.Hour), "2h0m"},
		{brief(999), "999"}, {brief(1000), "1.0k"}, {brief(2730), "2.7k"}, {brief(100_000), "100k"}, {brief(999_999), "999k"},
		{brief(1_000_000), "1.0M"},
		{count(1, "turn", "turns"), "1 turn"}, {count(0, "turn", "turns"), "0 turns"}, {count(2, "turn", "turns"), "2 turns"},
		{tokens(nil, nil), ""}, {tokens(number(5), nil), "5 tokens in"}, {tokens(nil, number(6)), "6 tokens out"},
		{tokens(number(5), number(6)), "5 tokens in, 6 out"},
		{when(now, now.Add(-time.Hour)), "11:00"}, {when(now, now.AddDate(0, 0, -1)), "28 Feb"}, {when(now, now.AddDate(-1, 0, 0)), "Mar 2025"},
		{HowItEnded(true, "end_turn", 0, false), ""}, {HowItEnded(true, "max_tokens", 0, true), "max tokens; longer than what is kept"},
		{HowItEnded(true, "", -32603, false), "failed with error -32603"}, {HowItEnded(true, "", 0, false),
			"ended without an answer to the prompt"}, {HowItEnded(false, "", 7, false), "still answering"},
		{memory.HomeShort("/home/robin/src"), "~/src"}, {memory.HomeShort("/home/robin"), "~"},
		{memory.HomeShort("/home/robina"), "/home/robina"}, {memory.HomeShort("/x"), "/x"},
		{projectName(""), "no project"}, {projectName("/home/robin/x"), "~/x"}, {baseName("/a/b"), "b"}, {baseName(""), "–"},
		{harnessName("nobody-knows-it"), "nobody-knows-it"},
		{strings.Join(byCount(map[string]int{"b": 1, "a": 1, "c": 2}), " "), "c a b"},
		{costOfMemory(correlation.Cost{}), ""},
		{costOfMemory(correlation.Cost{Prompts: 2, Bytes: 4096, Median: 7, Most: 30}), "4.1 KB added to 2 prompts, about 1,024 tokens. Half of " +
			"these prompts waited 7 ms or less for it, the longest 30 ms."},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
	e := excerpt{Body: "0123456789"}
	if e.cut(3000, 4); e.Body != "0123" || e.More != telemetry.Bytes(2996) {
		t.Errorf("cut: %+v", e)
	}
	e = excerpt{Body: "0123"}
	if e.cut(4, 4); e.More != "" {
		t.Errorf("nothing is cut, but %s", e.More)
	}
}

// A chart has a bar for each day, whose parts stand on one another and fill its height on the day of the most.
func TestChart(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	days := []telemetry.Sum{{Key: "2026-10-01", InputTokens: n(60), OutputTokens: n(60)}, {Key: "2026-10-02"},
		{Key: "2026-10-03", InputTokens: n(30), OutputTokens: n(0)}, {Key: "2026-10-04", OutputTokens: n(1)}}
	of := func(s telemetry.Sum) []float64 { return []float64{float(s.InputTokens), float(s.OutputTokens)} }
	words := func(v float64) string { return fmt.Sprint(v) }
	c := newChart("Tokens", []string{"in", "out"}, days, of, words)
	want := []bar{
		{"2026-10-01", "2026-10-01: 60 in 60 out", 0, []part{{0, 60, 60}, {1, 0, 60}}},
		{"2026-10-02", "2026-10-02: 0 in 0 out", 12, nil},
		{"2026-10-03", "2026-10-03: 30 in 0 out", 24, []part{{0, 90, 30}}},
		{"2026-10-04", "2026-10-04: 0 in 1 out", 36, []part{{1, 119, 1}}},
	}
	if !reflect.DeepEqual(c.Bars, want) {
		t.Errorf("%+v\nwant\n%+v", c.Bars, want)
	}
	if c.Width != 48 || c.Most != "120" || c.From.Day() != 1 || c.To.Day() != 4 ||
		c.Summary != "Tokens on 4 days: 151 in all, at most 120 a day." {
		t.Errorf("%+v", c)
	}
	if c := newChart("Cost", nil, days[1:2], of, words); c.Bars != nil {
		t.Errorf("nothing has %+v", c.Bars)
	}
}

// The calendar has no gaps, and a month at least.
func TestCalendar(t *testing.T) {
	sums := func(keys ...string) (all []telemetry.Sum) {
		for _, key := range keys {
			all = append(all, telemetry.Sum{Key: key, Turns: 1})
		}
		return all
	}
	for _, tt := range []struct {
		sums        []telemetry.Sum
		days, turns int
		from        string
	}{
		{nil, 0, 0, ""},
		{sums("2026-07-31"), 30, 1, "2026-07-02"},
		{sums("2026-06-02", "2026-07-31"), 60, 2, "2026-06-02"},
		{sums("2026-06-21", "2026-07-31"), 42, 2, "2026-06-20"},
		{sums("2025-01-01", "2026-07-31"), 60, 1, "2026-06-02"},
	} {
		days, turns := calendar(tt.sums), 0
		for _, d := range days {
			turns += d.Turns
		}
		if len(days) != tt.days || turns != tt.turns || len(days) > 0 && days[0].Key != tt.from {
			t.Errorf("%v: %d days with %d turns: %+v", tt.sums, len(days), turns, days)
		}
	}
}

func TestQueryOf(t *testing.T) {
	v, err := url.ParseQuery("q=a+b&project=p&harness=h&agent=x&since=7d&after=12&kind=rule&who=you&page=3")
	if err != nil {
		t.Fatal(err)
	}
	if got := queryOf(v); got != (query{"a b", "p", "h", "x", "7d", 12, "rule", "you", 3}) {
		t.Errorf("%+v", got)
	}
}
