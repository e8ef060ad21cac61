package daemontest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fresh makes no connection that outlives its request.
var fresh = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}

func post(t *testing.T, url string, body any) (int, map[string]any) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := body.(string); ok {
		b = []byte(s)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	res, err := fresh.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var m map[string]any
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	json.Unmarshal(raw, &m)
	return res.StatusCode, m
}

// The stand-in answers as the real daemon was recorded to.
func TestSessionStartAsRecorded(t *testing.T) {
	at := time.Date(2026, 11, 21, 7, 47, 0, 0, time.UTC)
	d := Start(t, Options{Now: func() time.Time { return at },
		Files: map[string]string{"AGENTS.md": "Be brief.", "IDENTITY.md": "name: Alto"}})
	d.Remember("Robin prefers tabs", "preference")
	url := d.URL() + "/api/hooks/session-start"
	start := func(key, path string) (int, map[string]any) {
		return post(t, url, map[string]any{"harness": "acp", "sessionKey": key, "project": "/p", "runtimePath": path})
	}

	_, full := start("sess-1", "plugin")
	want := "[memory active | /remember | /recall]\n[predictor: offline | baseline only]\n\n# Current Date & " +
		"Time\nSaturday, November 21, 2026 at 7:47 AM (UTC)\n\n\n" +
		"## Agent Instructions\n\nBe brief.\n\n## Identity\n\nname: Alto\n\n" +
		"## Relevant Memories (auto-loaded | scored by importance x recency | 1 results)\n\n- Robin prefers tabs " +
		"(Nov 21, 2026)"
	if full["inject"] != want {
		t.Errorf("full start:\n%q\nwant\n%q", full["inject"], want)
	}
	_, stub := start("sess-1", "plugin")
	if want := "[memory active | /remember | /recall]\n# Current Date & Time\nSaturday, November 21, 2026 at 7:47 AM " +
		"(UTC)"; stub["inject"] != want || len(stub["memories"].([]any)) != 0 {
		t.Errorf("stub: %q", stub["inject"])
	}
	if code, m := start("sess-1", "legacy"); code != 409 || m["error"] != "session claimed by plugin path" {
		t.Errorf("other path: %d %v", code, m)
	}
	if code, m := post(t, url, map[string]any{}); code != 400 || m["error"] != "harness is required" {
		t.Errorf("no harness: %d %v", code, m)
	}
	for _, bad := range []string{"{", "null"} {
		if code, m := post(t, url, bad); code != 500 || m["error"] != "Hook execution failed" {
			t.Errorf("%s: %d %v", bad, code, m)
		}
	}
	post(t, d.URL()+"/api/hooks/session-end", map[string]any{"harness": "acp", "sessionKey": "sess-1"})
	if _, m := start("sess-1", "legacy"); m["inject"] == stub["inject"] {
		t.Error("still a stub, or claimed, after session-end")
	}
	if code, m := post(t, d.URL()+"/api/sessions/sess-1/bypass",
		map[string]any{"enabled": true}); code != 200 || m["bypassed"] != true {
		t.Errorf("bypass: %d %v", code, m)
	}
	if _, m := start("sess-1", "legacy"); m["bypassed"] != true {
		t.Errorf("bypassed: %v", m)
	}
	if code, _ := post(t, d.URL()+"/api/sessions/nobody/bypass", map[string]any{"enabled": true}); code != 404 {
		t.Errorf("bypass of nobody: %d", code)
	}
}

func TestTranscriptsAsRecorded(t *testing.T) {
	turns := func(line string) string { return strings.Repeat(line+"\n", 20) }
	plain := turns("User: Where does heron run?\nAssistant: On staging.")
	for _, tc := range []struct {
		name, harness, text, reason, outcome, kept string
	}{
		{"plain lines", "acp", plain, "", Queued, plain},
		{"role lines", "acp", turns(`{"role":"user","content":"Where does the heron run these days?"}`), "", Queued,
			strings.TrimSpace(turns("User: Where does the heron run these days?"))},
		{"block arrays", "acp", turns(`{"role":"user","content":[{"type":"text","text":"Where does heron run these days?"}]}`), "", Dropped, ""},
		{"message objects", "claude-code", turns(`{"message":{"role":"user","content":[{"type":"text","text":"Where does heron run?"}]}}`), "", Dropped, ""},
		{"plain lines from codex", "codex", plain, "", Dropped, ""},
		{"under 500 characters", "acp", "User: hi\nAssistant: hello\n", "", Dropped, ""},
		{"empty", "acp", "", "", Dropped, ""},
		{"over the cap", "acp", strings.Repeat(plain, 200), "", Queued, strings.Repeat(plain, 200)[:100000] + "\n[truncated]"},
		{"reason clear", "acp", plain, "clear", Discarded, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := Start(t, Options{})
			path := filepath.Join(t.TempDir(), "t")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, m := post(t, d.URL()+"/api/hooks/session-end", map[string]any{"harness": tc.harness, "sessionKey": "k",
				"reason": tc.reason, "transcriptPath": path})
			e := d.Ends("k")[0]
			if e.Outcome != tc.outcome || e.Kept != tc.kept || (m["queued"] == true) != (tc.outcome == Queued) {
				t.Errorf("%s (%s), %d characters kept, reply %v", e.Outcome, e.Why, len(e.Kept), m)
			}
		})
	}
	d := Start(t, Options{})
	for name, body := range map[string]map[string]any{
		"missing file": {"harness": "acp", "sessionKey": "k", "transcriptPath": "/nowhere/at/all"},
		"relative":     {"harness": "acp", "sessionKey": "k", "transcriptPath": "daemon_test.go"},
		"directory":    {"harness": "acp", "sessionKey": "k", "transcriptPath": t.TempDir()},
		"inline":       {"harness": "acp", "sessionKey": "k", "transcript": plain},
	} {
		if _, m := post(t, d.URL()+"/api/hooks/session-end", body); m["queued"] == true {
			t.Errorf("%s was queued", name)
		}
	}
}

func TestEndsOfTheNewerKind(t *testing.T) {
	now := time.Date(2026, 11, 21, 7, 47, 0, 0, time.UTC)
	d := Start(t, Options{Generation: Newer, Now: func() time.Time { return now }})
	end := func(text string) map[string]any {
		_, m := post(t, d.URL()+"/api/hooks/session-end", map[string]any{"harness": "acp", "sessionKey": "k",
			"transcript": text, "runtimePath": "plugin"})
		return m
	}
	if m := end("User: hi <signet-memory>x</signet-memory>there"); m["transcriptCaptureJobId"] == nil ||
		d.Ends()[0].Kept != "User: hi there" {
		t.Errorf("first: %v, %+v", m, d.Ends())
	}
	if m := end("User: hi there, once more"); m["duplicateSessionEnd"] != true || m["endedBy"] != "plugin" {
		t.Errorf("within 30 minutes: %v", m)
	}
	now = now.Add(duplicateWindow)
	if m := end("User: hi"); m["queued"] != true || d.Ends()[2].Kept != "User: hi there" {
		t.Errorf("the shorter one won: %v, %+v", m, d.Ends()[2])
	}
	d.Claim("k", "legacy")
	if m := end("User: hi"); m["duplicateRuntimePath"] != true || m["claimedBy"] != "legacy" {
		t.Errorf("claimed: %v", m)
	}
}

// What hangs lets go when the daemon stops, and it listens on the same address
// again.
func TestStopAndResume(t *testing.T) {
	d := Start(t, Options{})
	url := d.URL()
	d.Fail(Fault{Kind: BlackHole})
	done := make(chan error)
	go func() {
		res, err := fresh.Get(url + "/health")
		if err == nil {
			res.Body.Close()
		}
		done <- err
	}()
	for len(d.Requests("/health")) == 0 {
		time.Sleep(time.Millisecond)
	}
	d.Stop()
	if <-done == nil {
		t.Error("a black hole answered")
	}
	d.Heal()
	if err := d.Resume(); err != nil {
		t.Fatal(err)
	}
	res, err := fresh.Get(url + "/health")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
}
