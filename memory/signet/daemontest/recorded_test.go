package daemontest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The stand-in against what was recorded of the real daemons (docs/facts/signet-daemon.md). A reply is compared field
// by field; a function looks at one that is not fixed.
func TestAsRecorded(t *testing.T) {
	at := time.Date(2026, 11, 21, 7, 47, 0, 0, time.UTC)
	const hooks = "/api/hooks/"
	long := strings.Repeat("User: Where does heron run?\nAssistant: On staging.\n", 20)
	type call struct {
		path string
		body map[string]any
		code int
		want map[string]any // nil values: the field is not there
	}
	type body = map[string]any
	ask := func(more body) body {
		all := body{"harness": "acp", "sessionKey": "k", "project": "/p", "runtimePath": "plugin"}
		for name, value := range more {
			all[name] = value
		}
		return all
	}
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "t")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tc := range []struct {
		name  string
		kinds []Generation
		do    func(*Daemon)
		calls []call
	}{
		{"no split fields", Recorded, nil, []call{
			{hooks + "session-start", ask(nil), 200, body{"stableSystemPrompt": nil, "dynamicContext": nil, "contextVersion": nil, "contextHash": nil}},
		}},
		{"split fields, as documented", []Generation{Newer}, nil, []call{{hooks + "session-start", ask(nil), 200, body{"contextVersion": 1.0}}}},
		{"claimOnly is a start for who does not know it", []Generation{Middle}, nil, []call{{hooks + "session-start", ask(body{"claimOnly": true}), 200, body{"sessionKnown": nil}}}},
		{"claimOnly, as documented", []Generation{Newer}, nil, []call{{hooks + "session-start", ask(body{"claimOnly": true}), 200, body{"sessionKnown": true, "inject": nil}}}},
		{"a miss, 0.58.1", []Generation{Older}, nil, []call{
			{hooks + "user-prompt-submit", ask(body{"userMessage": "hello"}), 200, body{"inject": "# Current Date & Time\nSaturday, November 21, 2026 at 7:47 AM (UTC)\n", "memoryCount": 0.0}},
		}},
		{"no known entity, 0.145.8", []Generation{Middle}, func(d *Daemon) {
			d.Remember("The heron needs the VPN",
				"fact")
			d.Know("bittern")
		}, []call{
			{hooks + "user-prompt-submit", ask(body{"userMessage": "deploy heron"}), 200,
				body{"inject": "", "memoryCount": 0.0, "queryTerms": "deploy heron", "engine": "no-entity",
					"sessionKnown": false}},
		}},
		{"bypassed", Recorded, func(d *Daemon) { d.Bypass("k", true) }, []call{
			{hooks + "session-start", ask(nil), 200, body{"inject": "", "bypassed": true}},
			{hooks + "user-prompt-submit", ask(body{"userMessage": "hello"}), 200, body{"inject": "", "memoryCount": 0.0, "bypassed": true}},
			{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"memoriesSaved": 0.0, "bypassed": true, "queued": nil}},
		}},
		{"bypassed is said once, 0.58.1", []Generation{Older}, func(d *Daemon) { d.Bypass("k", true) }, []call{
			{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"bypassed": true, "queued": nil}},
			{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"bypassed": nil, "queued": true}},
		}},
		{"bypassed each time, 0.145.8", []Generation{Middle}, func(d *Daemon) { d.Bypass("k", true) }, []call{
			{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"bypassed": true, "queued": nil}},
			{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"bypassed": true, "queued": nil}},
		}},
		{"queued", Recorded, nil, []call{{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"memoriesSaved": 0.0, "queued": true, "jobId": "job-0001"}}}},
		{"under 500 characters, 0.58.1", []Generation{Older}, nil, []call{{hooks + "session-end", ask(body{"transcriptPath": file("User: hi\n")}), 200, body{"memoriesSaved": 0.0, "queued": nil}}}},
		{"under 500 characters, 0.145.8", []Generation{Middle}, nil, []call{{hooks + "session-end", ask(body{"transcriptPath": file("User: hi\n")}), 200, body{"memoriesSaved": 0.0, "queued": false}}}},
		{"a second end, 0.58.1", []Generation{Older}, nil, []call{
			{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"queued": true, "jobId": "job-0001"}},
			{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"queued": true, "jobId": "job-0002"}},
		}},
		{"a second end, 0.145.8", []Generation{Middle}, nil, []call{
			{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"queued": true}},
			{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"skipped": true, "duplicateSessionEnd": true, "endedBy": "plugin", "queued": nil}},
			{hooks + "user-prompt-submit", ask(body{"userMessage": "hello"}), 200, body{"memoryCount": 0.0}},
			{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"queued": true, "skipped": nil}},
			{hooks + "session-start", ask(nil), 200, body{"error": nil}},
			{hooks + "session-end", ask(body{"transcriptPath": file(long)}), 200, body{"queued": true, "skipped": nil}},
		}},
		{"a compaction", Recorded, nil, []call{
			{hooks + "pre-compaction", ask(nil), 200, body{"summaryPrompt": "Pre-compaction memory flush...", "guidelines": "..."}},
			{hooks + "compaction-complete", ask(body{"summary": "They deployed heron."}), 200, body{"success": true, "memoryId": "memory-0001"}},
			{hooks + "compaction-complete", ask(nil), 400, body{"error": "harness and summary are required"}},
		}},
		{"a compaction that is bypassed", Recorded, func(d *Daemon) { d.Bypass("k", true) }, []call{
			{hooks + "pre-compaction", ask(nil), 200, body{"instructions": "", "bypassed": true}},
		}},
		{"a memory", Recorded, nil, []call{
			{"/api/memory/remember", body{"content": "[heron]: The heron needs the VPN"}, 200,
				body{"id": "mem-0001", "type": "fact",
					"tags": "heron", "pinned": false, "content": "The heron needs the VPN", "embedded": false}},
			{"/api/memory/remember", body{}, 400, body{"error": "content is required"}},
			{"/api/memory/recall", body{"query": "heron", "limit": 3}, 200, body{"query": "heron", "method": "keyword"}},
		}},
		{"no such route", []Generation{Older}, nil, []call{
			{hooks + "session-checkpoint-extract", ask(nil), 404, nil}, {"/api/nowhere", ask(nil), 404, nil},
		}},
		{"checkpoints", []Generation{Middle, Newer}, nil, []call{
			{hooks + "session-checkpoint-extract", ask(body{"transcript": long}), 200, body{"queued": true, "jobId": "job-0001"}},
			{hooks + "session-checkpoint-extract", ask(body{"transcript": long + "User: on\n"}), 200, body{"skipped": true}},
			{hooks + "session-checkpoint-extract", body{"harness": "acp"}, 400, body{"error": "harness and sessionKey are required"}},
		}},
		{"feedback, 0.145.8", []Generation{Middle},
			func(d *Daemon) { d.Remember("The heron needs the VPN", "fact") }, []call{
				{"/api/memory/feedback", body{"sessionKey": "k", "feedback": body{"mem-0001": 1}}, 200, body{"ok": true, "recorded": 1.0, "accepted": 0.0, "rejected": 1.0}},
				{hooks + "session-start", ask(nil), 200, body{"error": nil}},
				{"/api/memory/feedback", body{"sessionKey": "k", "feedback": body{"mem-0001": 1}}, 200, body{"ok": true, "recorded": 1.0, "accepted": 1.0, "rejected": 0.0}},
			}},
	} {
		for _, kind := range tc.kinds {
			t.Run(tc.name+" "+kind.Version(), func(t *testing.T) {
				d := Start(t, Options{Generation: kind, Now: func() time.Time { return at }})
				if tc.do != nil {
					tc.do(d)
				}
				for i, c := range tc.calls {
					code, got := post(t, d.URL()+c.path, c.body)
					if code != c.code {
						t.Errorf("call %d: %d", i, code)
					}
					for field, want := range c.want {
						if value, there := got[field]; there != (want != nil) || value != want {
							t.Errorf("call %d: %s is %v (there: %v), want %v", i, field, value, there, want)
						}
					}
				}
			})
		}
	}
}

// 0.145.8 keeps the longer of the posted transcript and the prompts as they were submitted: raw ones beat folded
// turns, and the answers are lost.
func TestTheLongerWins(t *testing.T) {
	d := Start(t, Options{Generation: Middle})
	raw := "{\n" + strings.Repeat("        \"heron\": 1,\n", 60) + "}"
	post(t, d.URL()+"/api/hooks/user-prompt-submit",
		map[string]any{"harness": "acp", "sessionKey": "k", "userMessage": raw})
	path := filepath.Join(t.TempDir(), "t")
	text := "User: " + strings.Join(strings.Fields(raw), " ") + "\nAssistant: yes\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, m := post(t, d.URL()+"/api/hooks/session-end",
		map[string]any{"harness": "acp", "sessionKey": "k", "transcriptPath": path})
	if e := d.Ends()[0]; m["queued"] != true || strings.Contains(e.Kept, "Assistant") ||
		!strings.Contains(e.Kept, "\n        \"heron\"") {
		t.Errorf("%v, kept %.80q", m, e.Kept)
	}
}

// The first 100,000 characters of a transcript are extracted, and a start's inject has its memories last, behind
// files of any length.
func TestLongTexts(t *testing.T) {
	for _, kind := range Recorded {
		d := Start(t, Options{Generation: kind})
		path := filepath.Join(t.TempDir(), "t")
		if err := os.WriteFile(path,
			[]byte(strings.Repeat("User: "+strings.Repeat("ü", 1000)+"\n", 200)), 0o600); err != nil {
			t.Fatal(err)
		}
		post(t, d.URL()+"/api/hooks/session-end",
			map[string]any{"harness": "acp", "sessionKey": "k", "transcriptPath": path})
		if kept := []rune(strings.TrimSuffix(d.Ends()[0].Kept, "\n[truncated]")); len(kept) != 100000 {
			t.Errorf("%s: %d characters", kind.Version(), len(kept))
		}
	}
	files := map[string]string{}
	for name, size := range map[string]int{"AGENTS.md": 12000, "SOUL.md": 4000, "IDENTITY.md": 2000,
		"USER.md": 6000, "MEMORY.md": 10000} {
		files[name] = strings.Repeat("x", size)
	}
	d := Start(t, Options{Generation: Middle, Files: files})
	d.Remember("Robin prefers tabs", "preference")
	_, m := post(t, d.URL()+"/api/hooks/session-start", map[string]any{"harness": "acp", "sessionKey": "k"})
	inject := m["inject"].(string)
	if len(inject) < 34000 || !strings.HasPrefix(inject, "[signet active]") ||
		!strings.HasSuffix(strings.TrimSpace(inject), ")") || !strings.Contains(inject[34000:], "Robin prefers tabs") {
		t.Errorf("%d characters, ends %q", len(inject), inject[len(inject)-60:])
	}
}

// What each version makes jobs of: transcripts of these lengths are posted in turn, for one key or for one each, as
// ends or as checkpoints with the whole so far (docs/facts/signet-daemon.md, "The end of a session").
func TestLongestAsMeasured(t *testing.T) {
	kinds := map[string][]Generation{"0.58.1": {Older}, "0.145.8": {Middle}, "each": {Older, Middle, Newer}}
	for _, tc := range []struct {
		name, kinds string
		hook        string
		sizes       []int
		ownKeys     bool
		want        []int // the parts that the jobs hold, in order
	}{
		{"a shorter one is not looked at", "0.145.8", "session-end", []int{25104, 5384}, false, []int{0, 0}},
		{"a shorter one is taken", "0.58.1", "session-end", []int{25104, 5384}, false, []int{0, 1}},
		{"the second of two parts is lost", "0.145.8", "session-end", []int{78515, 78508}, false, []int{0, 0}},
		{"a longer one survives", "0.145.8", "session-end", []int{3024, 3216}, false, []int{0, 1}},
		{"keys of their own", "each", "session-end", []int{25104, 5384, 3216}, true, []int{0, 1, 2}},
		{"checkpoints", "0.145.8", "session-checkpoint-extract", []int{3024, 3216, 1024}, false, []int{0, 1, 2}},
	} {
		for _, kind := range kinds[tc.kinds] {
			t.Run(tc.name+" "+kind.Version(), func(t *testing.T) {
				now := time.Now()
				d := Start(t, Options{Generation: kind, Now: func() time.Time { return now }})
				said := ""
				for i, size := range tc.sizes {
					key := "k"
					if tc.ownKeys {
						key += string(rune('0' + i))
					}
					mark := "User: part " + string(rune('0'+i)) + " "
					text := mark + strings.Repeat("x", size-len(mark)-1) + "\n"
					if said += text; tc.hook != "session-end" {
						text = said
					}
					path := filepath.Join(t.TempDir(), "t")
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
					if _, m := post(t, d.URL()+"/api/hooks/"+tc.hook, map[string]any{"harness": "acp", "sessionKey": key,
						"transcriptPath": path, "transcript": text}); m["queued"] != true {
						t.Errorf("part %d: %v", i, m)
					}
					now = now.Add(duplicateWindow)
				}
				var got []int
				for _, j := range d.Jobs() {
					got = append(got, int(j.Text[len("User: part ")]-'0'))
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("jobs hold %v, want %v", got, tc.want)
				}
			})
		}
	}
	// an end without a transcript extracts the longest again, but for the reason clear
	d := Start(t, Options{Generation: Middle})
	long := strings.Repeat("User: Where does heron run?\n", 30)
	for i, body := range []map[string]any{{"transcript": long}, {}, {"reason": "clear"}} {
		body["harness"], body["sessionKey"] = "acp", "k"
		post(t, d.URL()+"/api/hooks/session-start", map[string]any{"harness": "acp", "sessionKey": "k"})
		post(t, d.URL()+"/api/hooks/session-end", body)
		if n := len(d.Jobs()); n != min(i+1, 2) {
			t.Errorf("end %d: %d jobs", i, n)
		}
	}
}
