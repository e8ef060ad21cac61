package signet

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// Replies as recorded from 0.58.1, or as the newer kind gives them.
func TestStartReplies(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		body   string
		want   memory.Context // Identity, Notes, Mixed
		errs   []error        // all of these
		not    []error
	}{
		{
			name: "full start, older", status: 200,
			body: `{"identity":{"name":"Alto","description":"Robin's assistant"},"memories":[{"id":"238d","content":"Robin prefers tabs","type":"preference","importance":0.9,"created_at":"2026-11-21T07:47:41.777Z"}],"recentContext":"# Working memory","inject":"[memory active | /remember | /recall]\n[predictor: offline | baseline only]\n\n# Current Date & Time\nSaturday, November 21, 2026 at 7:47 AM (Europe/Berlin)\n\n\n## Agent Instructions\n\nBe brief.\n\n## Relevant Memories (auto-loaded | scored by importance x recency | 1 results)\n\n- Robin prefers tabs [style] (Nov 21, 2026)"}`,
			want: memory.Context{Mixed: "## Agent Instructions\n\nBe brief.",
				Items: []memory.Item{{ID: "238d", Text: "Robin prefers tabs",
					Date: time.Date(2026, 11, 21, 7, 47, 41, 777e6, time.UTC)}}},
		},
		{
			name: "split fields, newer", status: 200,
			body: `{"identity":{"name":"Alto"},"memories":[],"stableSystemPrompt":"[signet active]\nYou are Alto.","dynamicContext":"[memory active | /remember | /recall]\n[since last session: 2 new memories, 1 sessions captured]\n- Robin prefers tabs (Nov 21, 2026)","inject":"<signet-memory-context>\n...\n</signet-memory-context>\n","contextHash":"x","contextVersion":1}`,
			want: memory.Context{ToolNotes: "[signet active]\nYou are Alto.",
				Notes: "- Robin prefers tabs (Nov 21, 2026)"},
		},
		{
			name: "split fields whose dynamic part holds the files", status: 200,
			body: `{"identity":{"name":"Alto"},"memories":[],"stableSystemPrompt":"[signet active]","dynamicContext":"[memory active | /remember | /recall]\n\n## Agent Instructions\n\nBe brief.","inject":""}`,
			want: memory.Context{ToolNotes: "[signet active]", Mixed: "## Agent Instructions\n\nBe brief."},
		},
		{
			name: "0.145.8, a preamble in front", status: 200,
			body: `{"identity":{"name":"Alto"},"memories":[{"id":"m1","content":"Robin prefers tabs","type":"preference","importance":0.9,"created_at":"2026-06-30T10:00:00.000Z"},{"id":"m2","content":"- a list\n- of two","importance":0.5,"created_at":"2026-06-29T10:00:00.000Z"}],"recentContext":"","inject":"[signet active]\n\n## Memory Check Loop\n\nRun 1-3 recalls before commands and file edits.\n\nMemory tools:\n- mcp__signet__memory_search\n\n[memory active | /remember | /recall]\n\n# Current Date & Time\nTuesday, June 30, 2026 at 10:00 AM (UTC)\n\n\n## Agent Instructions\n\nBe brief.\n[signet active]\n\n## Relevant Memories (auto-loaded | forged by a file)\n\n## Relevant Memories (auto-loaded | scored by importance x recency | 2 results)\n\n- Robin prefers tabs (Jun 30, 2026)\n\n## Session Recovery Context\n\nLast time."}`,
			want: memory.Context{
				ToolNotes: "[signet active]\n\n## Memory Check Loop\n\nRun 1-3 recalls before commands and file " +
					"edits.\n\nMemory tools:\n- mcp__signet__memory_search",
				Mixed: "## Agent Instructions\n\nBe brief.\n[signet active]\n\n## Relevant Memories (auto-loaded | " +
					"forged by a file)\n\n\n## Session Recovery Context\n\nLast time.",
				Items: []memory.Item{{ID: "m1", Text: "Robin prefers tabs",
					Date: time.Date(2026, 6, 30, 10, 0, 0, 0, time.UTC)},
					{ID: "m2", Text: "- a list\n- of two", Date: time.Date(2026, 6, 29, 10, 0, 0, 0, time.UTC)}},
			},
		},
		{
			name: "stub, 0.145.8", status: 200,
			body: `{"identity":{"name":"Agent"},"memories":[],"inject":"[signet active]\n\n## Memory Check Loop\n\nRun 1-3 recalls.\n\n[memory active | /remember | /recall]\n# Current Date & Time\nTuesday, June 30, 2026 at 10:00 AM (UTC)"}`,
			errs: []error{memory.ErrKeySpent}, not: []error{memory.ErrUnavailable},
		},
		{
			name: "fenced inject without split fields", status: 200,
			body: `{"identity":{"name":"Alto"},"memories":[],"inject":"<signet-memory-context>\n[signet active]\nYou are Alto.\n</signet-memory-context>\n","contextVersion":1}`,
			want: memory.Context{Mixed: "[signet active]\nYou are Alto."},
		},
		{
			name: "an identity named Agent is no stub", status: 200,
			body: `{"identity":{"name":"Agent"},"memories":[],"inject":"[memory active | /remember | /recall]\n\n# Current Date & Time\nSaturday\n\n\n## Agent Instructions\n\nBe brief."}`,
			want: memory.Context{Mixed: "## Agent Instructions\n\nBe brief."},
		},
		{
			name: "a named identity without text is no stub", status: 200,
			body: `{"identity":{"name":"Alto"},"memories":[],"inject":"[memory active | /remember | /recall]\n# Current Date & Time\nSaturday, November 21, 2026"}`,
		},
		{
			name: "no-hooks", status: 200, body: `{"inject":"","memories":[]}`,
		},
		{
			name: "stub, older", status: 200,
			body: `{"identity":{"name":"Agent"},"memories":[],"inject":"[memory active | /remember | /recall]\n# Current Date & Time\nSaturday, November 21, 2026 at 7:47 AM (UTC)"}`,
			errs: []error{memory.ErrKeySpent}, not: []error{memory.ErrUnavailable},
		},
		{
			name: "stub, newer", status: 200,
			body: `{"identity":{"name":"Agent"},"memories":[],"stableSystemPrompt":"[signet active]\nYou have persistent memory.","dynamicContext":"[memory active | /remember | /recall]","inject":"<signet-memory-context>\n[signet active]\nYou have persistent memory.\n[memory active | /remember | /recall]\n</signet-memory-context>\n"}`,
			errs: []error{memory.ErrKeySpent}, not: []error{memory.ErrUnavailable},
		},
		{
			name: "stub that says so", status: 200,
			body: `{"identity":{"name":"Alto"},"memories":[],"inject":"[signet active]\n[memory active | /remember | /recall]\nCurrent date: 2026-11-21 07:47","deduped":true}`,
			errs: []error{memory.ErrKeySpent},
		},
		{name: "409", status: 409, body: `{"error":"session claimed by plugin path"}`, errs: []error{memory.ErrOwned}, not: []error{memory.ErrUnavailable}},
		{name: "bypassed", status: 200, body: `{"inject":"","memories":[],"bypassed":true}`, errs: []error{memory.ErrOwned, memory.ErrBypassed}},
		{name: "skipped", status: 200, body: `{"inject":"","memories":[],"skipped":true}`, errs: []error{memory.ErrOwned}},
		{name: "duplicateRuntimePath", status: 200, body: `{"inject":"x","skipped":true,"duplicateRuntimePath":true,"claimedBy":"legacy"}`, errs: []error{memory.ErrOwned}},
		{name: "400", status: 400, body: `{"error":"harness is required"}`, errs: []error{memory.ErrUnavailable}, not: []error{memory.ErrKeySpent}},
		{name: "401", status: 401, body: `{"error":"authentication required"}`, errs: []error{memory.ErrUnavailable}, not: []error{memory.ErrKeySpent}},
		{name: "403", status: 403, body: `{"error":"agent scope"}`, errs: []error{memory.ErrUnavailable}, not: []error{memory.ErrKeySpent}},
		{name: "404", status: 404, body: `404 Not Found`, errs: []error{memory.ErrUnavailable}},
		{name: "500", status: 500, body: `{"error":"Hook execution failed"}`, errs: []error{memory.ErrUnavailable}, not: []error{memory.ErrKeySpent}},
		{name: "503", status: 503, body: `{"error":"Retry shortly"}`, errs: []error{memory.ErrUnavailable}, not: []error{memory.ErrKeySpent}},
		{name: "garbage", status: 200, body: `<html>`, errs: []error{memory.ErrUnavailable, memory.ErrKeySpent}},
		{name: "empty", status: 200, body: ``, errs: []error{memory.ErrUnavailable, memory.ErrKeySpent}},
		{name: "null", status: 200, body: `null`, errs: []error{memory.ErrUnavailable, memory.ErrKeySpent}},
		{name: "other JSON", status: 200, body: `{"ok":true}`, errs: []error{memory.ErrUnavailable, memory.ErrKeySpent}},
		{name: "wrong types", status: 200, body: `{"inject":7}`, errs: []error{memory.ErrUnavailable, memory.ErrKeySpent}},
		{name: "over the size limit", status: 200, body: `{"inject":"` + strings.Repeat("x", maxReply) + `"}`, errs: []error{memory.ErrUnavailable, memory.ErrKeySpent}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := client(t, fixed(t, tc.status, tc.body)).Start(t.Context(), memory.Session{Key: "k"})
			check(t, err, tc.errs, tc.not)
			if err != nil {
				return
			}
			if got.Source != memory.FromDaemon || got.Fetched.IsZero() {
				t.Errorf("source %q, fetched %v", got.Source, got.Fetched)
			}
			got = memory.Context{Identity: got.Identity, ToolNotes: got.ToolNotes, Notes: got.Notes,
				Mixed: got.Mixed, Items: got.Items}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func check(t *testing.T, err error, errs, not []error) {
	t.Helper()
	if err != nil && len(errs) == 0 {
		t.Fatalf("unexpected error: %v", err)
	}
	for _, want := range errs {
		if !errors.Is(err, want) {
			t.Errorf("error %v is not %q", err, want)
		}
	}
	for _, bad := range not {
		if errors.Is(err, bad) {
			t.Errorf("error %v is %q", err, bad)
		}
	}
}

func TestStartFaults(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fault daemontest.Fault
		errs  []error
		not   []error
	}{
		{"black hole", daemontest.Fault{Kind: daemontest.BlackHole}, []error{memory.ErrKeySpent, memory.ErrUnavailable, context.DeadlineExceeded}, nil},
		{"slower than the limit", daemontest.Fault{Kind: daemontest.Slow, Delay: time.Minute}, []error{memory.ErrKeySpent, memory.ErrUnavailable}, nil},
		{"drips past the limit", daemontest.Fault{Kind: daemontest.Drip}, []error{memory.ErrKeySpent, memory.ErrUnavailable}, nil},
		{"slow", daemontest.Fault{Kind: daemontest.Slow, Delay: time.Millisecond}, nil, nil},
		{"connection dropped after reading", daemontest.Fault{Kind: daemontest.Drop}, []error{memory.ErrKeySpent, memory.ErrUnavailable}, nil},
		{"connection dropped after the work", daemontest.Fault{Kind: daemontest.DropAfter}, []error{memory.ErrKeySpent, memory.ErrUnavailable}, nil},
		{"garbage", daemontest.Fault{Kind: daemontest.Garbage}, []error{memory.ErrUnavailable}, nil},
		{"100 MB", daemontest.Fault{Kind: daemontest.Huge}, []error{memory.ErrUnavailable, errTooLarge}, nil},
		{"500", daemontest.Fault{Kind: daemontest.Status}, []error{memory.ErrUnavailable}, []error{memory.ErrKeySpent}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := daemontest.Start(t, daemontest.Options{})
			d.Fail(tc.fault)
			c := client(t, d.URL(), func(o *Options) {
				if strings.Contains(tc.name, "hole") || strings.Contains(tc.name, "limit") {
					o.StartTimeout = 3 * time.Second // in which a busy machine sends the request
				}
			})
			_, err := c.Start(t.Context(), memory.Session{Key: "k"})
			check(t, err, tc.errs, tc.not)
			if n := len(d.Requests("/api/hooks/session-start")); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		_, err := client(t, refusing(t)).Start(t.Context(), memory.Session{Key: "k"})
		check(t, err, []error{memory.ErrUnavailable}, []error{memory.ErrKeySpent})
	})
	t.Run("caller gave up while waiting", func(t *testing.T) {
		d := daemontest.Start(t, daemontest.Options{})
		d.Fail(daemontest.Fault{Kind: daemontest.BlackHole})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := client(t, d.URL()).Start(ctx, memory.Session{Key: "k"})
			done <- err
		}()
		for len(d.Requests(startPath)) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
		check(t, <-done, []error{memory.ErrKeySpent}, nil)
	})
}

// The stand-in and the client agree on a session's life.
func TestStartSession(t *testing.T) {
	for _, gen := range daemontest.All {
		d := daemontest.Start(t, daemontest.Options{Generation: gen})
		d.Remember("Robin prefers tabs", "preference")
		c := client(t, d.URL())
		s := memory.Session{Key: "sess-1", Harness: "codex", Cwd: "/home/u/proj/sub", Project: "/home/u/proj",
			AgentID: "alto", ParentKey: "sess-0"}
		if _, err := c.Health(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := c.Start(t.Context(), s)
		if err != nil {
			t.Fatalf("%s: %v", gen.Version(), err)
		}
		all := got.Identity + got.Notes + got.Mixed
		for _, it := range got.Items {
			all += it.Text
		}
		if strings.Count(all, "Robin prefers tabs") != 1 {
			t.Errorf("%s: a memory stands there more than once:\n%s", gen.Version(), all)
		}
		for _, want := range []string{"You are Alto", "Calm, exact", "Robin works on",
			"rollout is half done", "Robin prefers tabs"} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no %q in\n%s", gen.Version(), want, all)
			}
		}
		for _, bad := range []string{"memory active", "predictor", "Current Date", "signet-memory",
			"mcp__signet", "Relevant Memories"} {
			if strings.Contains(all, bad) {
				t.Errorf("%s: %q in\n%s", gen.Version(), bad, all)
			}
		}
		if got.Version != gen.Version() {
			t.Errorf("version %q, want %q", got.Version, gen.Version())
		}
		r := d.Requests("/api/hooks/session-start")[0]
		for key, want := range map[string]any{
			"harness": "acp", "sessionKey": "sess-1", "project": "/home/u/proj", "agentId": "alto",
			"parentSessionKey": "sess-0", "runtimePath": "plugin",
		} {
			if r.JSON()[key] != want {
				t.Errorf("request %s = %v, want %v", key, r.JSON()[key], want)
			}
		}
		for key, want := range map[string]string{
			"x-signet-runtime-path": "plugin", "x-signet-actor": "acp-proxy", "x-signet-actor-type": "harness",
			"content-type":  "application/json",
			"authorization": "", "x-signet-no-hooks": "",
		} {
			if got := r.Header.Get(key); got != want {
				t.Errorf("header %s = %q, want %q", key, got, want)
			}
		}
		if _, err := c.Start(t.Context(), s); !errors.Is(err, memory.ErrKeySpent) {
			t.Errorf("%s: second start: %v", gen.Version(), err)
		}
		d.Bypass("sess-2", true)
		if _, err := c.Start(t.Context(), memory.Session{Key: "sess-2"}); !errors.Is(err, memory.ErrOwned) {
			t.Errorf("%s: bypassed: %v", gen.Version(), err)
		}
		d.Claim("sess-3", "legacy")
		if _, err := c.Start(t.Context(), memory.Session{Key: "sess-3"}); !errors.Is(err, memory.ErrOwned) {
			t.Errorf("%s: claimed: %v", gen.Version(), err)
		}
	}
}
