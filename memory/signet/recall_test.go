package signet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

func day(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

const recordedHit = "# Current Date & Time\nSaturday, November 21, 2026 at 7:47 AM (UTC)\n\n[signet:recall | " +
	"query=\"deploy heron staging hello\" | results=1 | engine=hybrid]\n" +
	"- The heron staging deploy needs the VPN (Nov 21, 2026)\n<memory-feedback>\nRate injected memories using the " +
	"mcp__signet__memory_feedback tool. Pass session_key \"sess-1\" and a map.\nIDs: f0c3\n</memory-feedback>"

func TestParseRecall(t *testing.T) {
	head := "[signet:recall | query=\"q\" | results=9 | engine=hybrid]\n"
	for _, tc := range []struct {
		name  string
		text  string
		count int
		items []memory.Item
		notes string
	}{
		{"recorded hit", recordedHit, 1, []memory.Item{{ID: "f0c3", Text: "The heron staging deploy needs the VPN", Date: day(2026, 11, 21)}}, ""},
		{"two, without feedback", head + "- one (Nov 1, 2026)\n- two (Oct 31, 2026)", 2,
			[]memory.Item{{Text: "one", Date: day(2026, 11, 1)}, {Text: "two", Date: day(2026, 10, 31)}}, ""},
		{"no dates, as before 0.58", head + "- one\n- two", 2, []memory.Item{{Text: "one"}, {Text: "two"}}, ""},
		{"ISO date", head + "- one (2026-11-21T07:47:41.777Z)", 1,
			[]memory.Item{{Text: "one", Date: time.Date(2026, 11, 21, 7, 47, 41, 777e6, time.UTC)}}, ""},
		{"date with a label", head + "- one (Nov 1, 2026, session abcdef12)", 1, []memory.Item{{Text: "one", Date: day(2026, 11, 1)}}, ""},
		{"invalid date", head + "- one (Invalid Date)", 1, []memory.Item{{Text: "one"}}, ""},
		{"parentheses that are no date", head + "- one (and a half)", 1, []memory.Item{{Text: "one (and a half)"}}, ""},
		{"several lines with a list", head + "- steps:\n- pull\n- push (Nov 1, 2026)\n- two (Nov 2, 2026)", 2,
			[]memory.Item{{Text: "steps:\n- pull\n- push", Date: day(2026, 11, 1)},
				{Text: "two", Date: day(2026, 11, 2)}}, ""},
		{"omitted ones", head +
			"- one (Nov 1, 2026)\n(+3 more not shown — raise memory.guardrails.contextBudgetChars to include)", 1,
			[]memory.Item{{Text: "one", Date: day(2026, 11, 1)}}, ""},
		{"a prompt with line breaks in the header",
			"[signet:recall | query=\"do\n- this\n- that\" | results=1 | engine=hybrid]\n- one (Nov 1, 2026)", 1,
			[]memory.Item{{Text: "one", Date: day(2026, 11, 1)}}, ""},
		{"CRLF", strings.ReplaceAll(recordedHit, "\n", "\r\n"), 1, []memory.Item{{ID: "f0c3", Text: "The heron staging deploy needs the VPN", Date: day(2026, 11, 21)}}, ""},
		{"newer", "\n## Relevant Entity Context\n\n- Heron: staging needs the VPN\n- Robin: prefers tabs\n", 2,
			[]memory.Item{{Text: "Heron: staging needs the VPN"}, {Text: "Robin: prefers tabs"}}, ""},
		{"ids that do not count up", head + "- one (Nov 1, 2026)\n<memory-feedback>\nIDs: a, b\n</memory-feedback>", 1,
			[]memory.Item{{Text: "one", Date: day(2026, 11, 1)}}, ""},
		{"another shape", "Robin prefers tabs.\nHeron needs the VPN.", 2, nil, "Robin prefers tabs.\nHeron needs the VPN."},
		{"fewer than counted", head + "- one (Nov 1, 2026)", 2, nil, "- one (Nov 1, 2026)"},
		{"more than counted", head + "- one (Nov 1, 2026)\n- two (Nov 1, 2026)\n- three (Nov 1, 2026)", 2, nil,
			"- one (Nov 1, 2026)\n- two (Nov 1, 2026)\n- three (Nov 1, 2026)"},
		{"an empty item", head + "- (Nov 1, 2026)\n- two", 2, []memory.Item{{Text: "two"}}, ""},
		{"nothing", "", 1, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			items, notes := parseRecall(tc.text, tc.count)
			if diff := cmp.Diff(tc.items, items); diff != "" || notes != tc.notes {
				t.Errorf("notes %q, want %q\n%s", notes, tc.notes, diff)
			}
		})
	}
}

func FuzzParseRecall(f *testing.F) {
	f.Add(recordedHit, 1)
	f.Add("- a\n- b (Nov 1, 2026)\n<memory-feedback>", 2)
	f.Add("[signet:recall | query=\"\" | results=1 | engine=x]\n- \n-  \n", 2)
	f.Fuzz(func(t *testing.T, s string, count int) {
		items, notes := parseRecall(s, count)
		if len(items) > max(count, 0) {
			t.Fatalf("%d items of %d", len(items), count)
		}
		if len(items) > 0 && notes != "" {
			t.Fatal("both items and notes")
		}
		whole := newlines(s)
		for _, it := range items {
			if strings.TrimSpace(it.Text) == "" {
				t.Fatal("blank item")
			}
			for line := range strings.Lines(it.Text) {
				if !strings.Contains(whole, strings.TrimSpace(line)) {
					t.Fatalf("line %q was never said", line)
				}
			}
		}
	})
}

// What was put together as the daemon does comes apart again.
func FuzzParseRecallRoundTrip(f *testing.F) {
	f.Add("one", "two: (a) [b]", int64(0))
	f.Add("- one", "2026", int64(1e9))
	f.Fuzz(func(t *testing.T, a, b string, at int64) {
		date := time.Unix(at%(1<<34), 0).UTC()
		if date.Year() < 1000 || date.Year() > 9999 {
			t.Skip()
		}
		var want []memory.Item
		var lines []string
		for _, s := range []string{a, b} {
			s = strings.TrimSpace(strings.Join(strings.Fields(s), " "))
			line := "- " + s + date.Format(" (Jan 2, 2006)")
			if s == "" || itemDate().MatchString(s) || clean(line) != line {
				t.Skip()
			}
			want = append(want, memory.Item{Text: s, Date: date.Truncate(24 * time.Hour)})
			lines = append(lines, line)
		}
		got, notes := parseRecall("[signet:recall | query=\"x\" | results=2 | engine=hybrid]\n"+
			strings.Join(lines, "\n"), 2)
		if diff := cmp.Diff(want, got); diff != "" || notes != "" {
			t.Fatalf("notes %q\n%s", notes, diff)
		}
	})
}

func TestRecallReplies(t *testing.T) {
	hit, err := json.Marshal(map[string]any{"inject": recordedHit, "memoryCount": 1,
		"queryTerms": "q", "engine": "hybrid"})
	if err != nil {
		t.Fatal(err)
	}
	heron := []memory.Item{{ID: "f0c3", Text: "The heron staging deploy needs the VPN", Date: day(2026, 11, 21)}}
	for _, tc := range []struct {
		name   string
		status int
		body   string
		seen   []string
		items  []memory.Item
		notes  string
		errs   []error
	}{
		{name: "hit", status: 200, body: string(hit), items: heron},
		{name: "hit seen before, by id", status: 200, body: string(hit), seen: []string{"f0c3"}},
		{name: "hit seen before, by text", status: 200, body: string(hit), seen: []string{"The heron staging deploy  needs the VPN"}},
		{name: "miss says the time", status: 200, body: `{"inject":"# Current Date & Time\nSaturday\n","memoryCount":0}`},
		{name: "a text without a count is a miss", status: 200, body: `{"inject":"- one"}`},
		{name: "newer hit", status: 200,
			body:  `{"inject":"<signet-memory-context>\nX\n</signet-memory-context>\n","dynamicContext":"## Relevant Entity Context\n\n- Heron needs the VPN\n","memoryCount":1,"sessionKnown":true}`,
			items: []memory.Item{{Text: "Heron needs the VPN"}}},
		{name: "newer hit in the inject only", status: 200,
			body:  `{"inject":"<signet-memory-context>\n- Heron needs the VPN\n</signet-memory-context>\n","memoryCount":1}`,
			items: []memory.Item{{Text: "Heron needs the VPN"}}},
		{name: "newer miss", status: 200, body: `{"inject":"","dynamicContext":"","memoryCount":0,"clockContext":"Current date/time: 2026-08-16T14:35:00-06:00"}`},
		{name: "prose", status: 200, body: `{"inject":"Heron needs the VPN.","memoryCount":1}`, notes: "Heron needs the VPN."},
		{name: "internal failure", status: 200, body: `{"inject":"","memoryCount":0}`},
		{name: "bypassed", status: 200, body: `{"inject":"","memoryCount":0,"bypassed":true}`, errs: []error{memory.ErrOwned}},
		{name: "409", status: 409, body: `{"error":"session claimed by plugin path"}`, errs: []error{memory.ErrOwned}},
		{name: "duplicateRuntimePath", status: 200, body: `{"inject":"","dynamicContext":"","memoryCount":0,"skipped":true,"duplicateRuntimePath":true}`, errs: []error{memory.ErrOwned}},
		{name: "400", status: 400, body: `{"error":"harness and userMessage or userPrompt are required"}`, errs: []error{memory.ErrUnavailable}},
		{name: "503 when eight are in flight", status: 503, body: `{"error":"Retry shortly"}`, errs: []error{memory.ErrUnavailable}},
		{name: "garbage", status: 200, body: `{"inject":`, errs: []error{memory.ErrUnavailable}},
		{name: "over the size limit", status: 200, body: strings.Repeat(" ", maxReply+1), errs: []error{memory.ErrUnavailable}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := client(t, fixed(t, tc.status, tc.body)).Recall(t.Context(), memory.Session{Key: "k"},
				"deploy heron", tc.seen)
			check(t, err, tc.errs, nil)
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.items, got.Items, cmp.Transformer("nil",
				func(x []memory.Item) string { return fmt.Sprint(len(x), x) })); diff != "" || got.Notes != tc.notes {
				t.Errorf("notes %q, want %q\n%s", got.Notes, tc.notes, diff)
			}
			if got.Source != memory.FromDaemon {
				t.Errorf("source %q", got.Source)
			}
		})
	}
}

func TestRecallOfEachKind(t *testing.T) {
	for _, gen := range daemontest.All {
		d := daemontest.Start(t, daemontest.Options{Generation: gen})
		id := d.RememberAt("The heron staging deploy needs the VPN", "fact", day(2026, 11, 21))
		c := client(t, d.URL())
		s := memory.Session{Key: "never-started", Project: "/p", Harness: "codex"}
		got, err := c.Recall(t.Context(), s, "How do I deploy heron?", nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []memory.Item{{ID: id, Text: "The heron staging deploy needs the VPN", Date: day(2026, 11, 21)}}
		if gen.Documented() {
			want[0].ID = "" // it names none
		}
		if diff := cmp.Diff(want, got.Items); diff != "" {
			t.Errorf("%s: %s", gen.Version(), diff)
		}
		r := d.Requests("/api/hooks/user-prompt-submit")[0].JSON()
		if r["harness"] != "acp" || r["sessionKey"] != "never-started" || r["project"] != "/p" ||
			r["userMessage"] != "How do I deploy heron?" {
			t.Errorf("request %v", r)
		}
		if got, err = c.Recall(t.Context(), s, "How do I deploy heron?", nil); err != nil || !got.Empty() {
			t.Errorf("%s: given again: %+v, %v", gen.Version(), got, err)
		}
	}
}

// Memories of other projects are left out of both hooks' items, where the daemon says which these are: not where it
// names no id.
func TestOtherProjectsAreLeftOut(t *testing.T) {
	for _, gen := range daemontest.All {
		for _, all := range []bool{false, true} {
			d := daemontest.Start(t, daemontest.Options{Generation: gen})
			d.RememberIn("/src/teal", "The heron of teal eats rye", "fact")
			d.RememberIn("/src/heron/nest", "The heron breeds in April", "fact")
			d.Remember("The heron wades at dawn", "fact")
			c, err := New(Options{URL: d.URL(), Configured: true, OtherProjects: all})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			s := memory.Session{Key: "k", Project: "/src/heron", Harness: "codex"}
			started, err := c.Start(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			recalled, err := c.Recall(t.Context(), s, "what about the heron?", nil)
			if err != nil {
				t.Fatal(err)
			}
			for hook, got := range map[string]memory.Context{"start": started, "prompt": recalled} {
				want := 2
				if all || hook == "prompt" && gen.Documented() {
					want = 3
				}
				if len(got.Items) != want || strings.Contains(got.Mixed+got.Notes, "rye") {
					t.Errorf("%s, %s, all %v: %+v", gen.Version(), hook, all, got)
				}
			}
		}
	}
}

// The daemon keeps what it is asked: in checkpoints, and the newer kind in its
// transcript.
func TestRecallSendsNoSecrets(t *testing.T) {
	sum := sha256.Sum256([]byte("canary"))
	secret := "ghp_" + hex.EncodeToString(sum[:18]) // made here, so that no scanner finds it in the source
	long := strings.Repeat("heron ", maxPrompt/6-4)
	for _, tc := range []struct{ name, prompt, sent string }{
		{"private part", "deploy heron <private>the code is 1234</private> now", "deploy heron"},
		{"nothing but a private part", "<private>the code is 1234</private>", ""},
		{"secret", "use " + secret + " for heron", "for heron"},
		{"secret across the limit", long + secret + " and more", "heron"},
		{"blank", " \n", ""},
		{"10 MB", strings.Repeat("heron ", 10<<20/6), "heron"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := daemontest.Start(t, daemontest.Options{})
			if _, err := client(t, d.URL()).Recall(t.Context(), memory.Session{Key: "k"}, tc.prompt, nil); err != nil {
				t.Fatal(err)
			}
			reqs := d.Requests()
			if tc.sent == "" {
				if len(reqs) != 0 {
					t.Errorf("%d requests for nothing", len(reqs))
				}
				return
			}
			body := string(reqs[0].Body)
			if !strings.Contains(body, tc.sent) || strings.Contains(body, "1234") ||
				strings.Contains(body, secret[:12]) || len(body) > maxPrompt+512 {
				t.Errorf("sent %d bytes, %.300s ... %s", len(body), body, body[max(0, len(body)-200):])
			}
		})
	}
}

func TestRecallEndsAtItsLimit(t *testing.T) {
	for _, limit := range []string{"caller's", "own"} {
		d := daemontest.Start(t, daemontest.Options{})
		d.Fail(daemontest.Fault{Kind: daemontest.BlackHole})
		ctx := t.Context()
		own := time.Duration(0)
		if limit == "own" {
			own = 20 * time.Millisecond
		} else {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
		}
		c := client(t, d.URL(), func(o *Options) { o.PromptTimeout = own })
		_, err := c.Recall(ctx, memory.Session{Key: "k"}, "heron", nil)
		check(t, err, []error{memory.ErrUnavailable, context.DeadlineExceeded}, nil)
	}
}
