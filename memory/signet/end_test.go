package signet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

func transcript(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "transcript.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var longTalk = strings.Repeat("User: Where does heron run?\nAssistant: On staging, behind the VPN.\n", 20)

func TestEndReplies(t *testing.T) {
	with := End{Session: memory.Session{Key: "k"}, File: "/t.txt"}
	for _, tc := range []struct {
		name   string
		status int
		body   string
		req    End
		want   EndReply
		errs   []error
		not    []error
	}{
		{name: "queued", status: 200, body: `{"memoriesSaved":0,"queued":true,"jobId":"9a96"}`, req: with, want: EndReply{Queued: true, JobID: "9a96"}},
		{name: "queued, newer", status: 200, body: `{"memoriesSaved":0,"queued":true,"transcriptCaptureJobId":"c1"}`, req: with, want: EndReply{Queued: true, JobID: "c1", CaptureID: "c1"}},
		{name: "captured without saying queued", status: 200, body: `{"memoriesSaved":0,"transcriptCaptureJobId":"c1"}`, req: with, want: EndReply{Queued: true, JobID: "c1", CaptureID: "c1"}},
		{name: "dropped", status: 200, body: `{"memoriesSaved":0}`, req: with, want: EndReply{Dropped: true}},
		{name: "no transcript", status: 200, body: `{"memoriesSaved":0}`, req: End{Session: memory.Session{Key: "k"}}, want: EndReply{}},
		{name: "duplicateSessionEnd", status: 200,
			body: `{"memoriesSaved":0,"skipped":true,"duplicateSessionEnd":true,"endedBy":"plugin"}`, req: with,
			want: EndReply{Skipped: true, Duplicate: true, EndedBy: "plugin"}},
		{name: "duplicateRuntimePath", status: 200,
			body: `{"skipped":true,"duplicateRuntimePath":true,"claimedBy":"legacy"}`, req: with,
			want: EndReply{Skipped: true, ClaimedBy: "legacy"}},
		{name: "bypassed", status: 200, body: `{"memoriesSaved":0,"bypassed":true}`, req: with, want: EndReply{Bypassed: true}},
		{name: "too short, 0.145.8", status: 200, body: `{"memoriesSaved":0,"queued":false}`, req: with, want: EndReply{Dropped: true, Kept: true}},
		{name: "400", status: 400, body: `{"error":"capturedAt"}`, req: with, errs: []error{errRefused}, not: []error{ErrNoAnswer}},
		{name: "401", status: 401, body: `{"error":"authentication required"}`, req: with, errs: []error{errRefused}, not: []error{ErrNoAnswer}},
		{name: "409", status: 409, body: `{}`, req: with, errs: []error{errRefused, memory.ErrOwned}, not: []error{ErrNoAnswer}},
		{name: "500", status: 500, body: `{"error":"Hook execution failed"}`, req: with, errs: []error{errRefused}, not: []error{ErrNoAnswer}},
		{name: "502 of a gateway", status: 502, body: `bad gateway`, req: with, errs: []error{ErrNoAnswer}, not: []error{errRefused}},
		{name: "504 of a gateway", status: 504, body: ``, req: with, errs: []error{ErrNoAnswer}, not: []error{errRefused}},
		{name: "garbage", status: 200, body: `<html>`, req: with, errs: []error{ErrNoAnswer}, not: []error{errRefused}},
		{name: "other JSON", status: 200, body: `{"ok":true}`, req: with, errs: []error{ErrNoAnswer}, not: []error{errRefused}},
		{name: "null", status: 200, body: `null`, req: with, errs: []error{ErrNoAnswer}, not: []error{errRefused}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := client(t, fixed(t, tc.status, tc.body)).End(t.Context(), tc.req)
			check(t, err, tc.errs, tc.not)
			if got != tc.want {
				t.Errorf("got %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

// No answer is told from a refusal: the first may have been taken.
func TestEndFaults(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fault daemontest.FaultKind
		err   error
		not   error
	}{
		{"dropped after reading", daemontest.Drop, ErrNoAnswer, errRefused},
		{"dropped after the work", daemontest.DropAfter, ErrNoAnswer, errRefused},
		{"garbage", daemontest.Garbage, ErrNoAnswer, errRefused},
		{"100 MB", daemontest.Huge, ErrNoAnswer, errRefused},
		{"500", daemontest.Status, errRefused, ErrNoAnswer},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := daemontest.Start(t, daemontest.Options{})
			d.Fail(daemontest.Fault{Kind: tc.fault})
			_, err := client(t, d.URL()).End(t.Context(), End{Session: memory.Session{Key: "k"}, File: transcript(t, longTalk)})
			check(t, err, []error{tc.err}, []error{tc.not})
			if n := len(d.Requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		_, err := client(t, refusing(t)).End(t.Context(), End{Session: memory.Session{Key: "k"}})
		check(t, err, []error{errRefused}, []error{ErrNoAnswer})
	})
	t.Run("stopped and started", func(t *testing.T) {
		d := daemontest.Start(t, daemontest.Options{})
		c := client(t, d.URL())
		if _, err := c.Health(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.Stop()
		_, err := c.End(t.Context(), End{Session: memory.Session{Key: "k"}})
		check(t, err, []error{errRefused}, []error{ErrNoAnswer})
		if err := d.Resume(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.End(t.Context(), End{Session: memory.Session{Key: "k"}}); err != nil {
			t.Errorf("after it came back: %v", err)
		}
	})
}

func TestEndOfEachKind(t *testing.T) {
	for _, gen := range daemontest.All {
		t.Run(gen.Version(), func(t *testing.T) {
			d := daemontest.Start(t, daemontest.Options{Generation: gen})
			c := client(t, d.URL(), func(o *Options) { o.AgentID = "alto" })
			path := transcript(t, longTalk)
			got, err := c.End(t.Context(), End{Session: memory.Session{Key: "k", Cwd: "/p"}, Reason: "session_shutdown",
				File: path, Text: longTalk})
			if err != nil || !got.Queued || got.JobID == "" {
				t.Fatalf("got %+v, %v", got, err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			e := d.Ends("k")[0]
			if e.Harness != "acp" || e.Cwd != "/p" || e.Reason != "session_shutdown" || e.AgentID != "alto" ||
				e.Transcript != longTalk || e.Inline || e.JobID != got.JobID {
				t.Errorf("the daemon got %+v", e)
			}
			again, err := c.End(t.Context(), End{Session: memory.Session{Key: "k"}, File: path, Text: longTalk})
			want := EndReply{Dropped: true} // the file is gone, and it reads no other
			if gen != daemontest.Older {
				want = EndReply{Skipped: true, Duplicate: true, EndedBy: "plugin"}
			}
			if err != nil || again != want {
				t.Errorf("again: %+v, %v\nwant %+v", again, err, want)
			}
			short, err := c.End(t.Context(), End{Session: memory.Session{Key: "short"},
				File: transcript(t, "User: hi\nAssistant: hello\n")})
			if err != nil || short.Dropped == gen.Documented() || short.Kept != (gen == daemontest.Middle) {
				t.Errorf("under 500 characters: %+v, %v", short, err)
			}
			bare, err := c.End(t.Context(), End{Session: memory.Session{Key: "bare"}})
			if err != nil || bare != (EndReply{}) {
				t.Errorf("no transcript: %+v, %v", bare, err)
			}
		})
	}
}

// Reason clear is how a daemon is told to throw a session away.
func TestEndNeverClears(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	got, err := client(t, d.URL()).End(t.Context(),
		End{Session: memory.Session{Key: "k"}, Reason: "clear", File: transcript(t, longTalk)})
	if err != nil || !got.Queued {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestInlineIsCutAtALine(t *testing.T) {
	line := "User: " + strings.Repeat("ü", 500) + "\n"
	got := inline(strings.Repeat(line, maxInline/len(line)+2))
	if len(got) > maxInline || len(got) < maxInline-len(line) || !strings.HasSuffix(got, "ü\n") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-8:])
	}
	if inline("short") != "short" {
		t.Error("a short one was cut")
	}
}

func TestCompactionComplete(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	c := client(t, d.URL())
	id, err := c.CompactionComplete(t.Context(), memory.Session{Key: "k", Project: "/p"}, "They deployed heron.")
	if err != nil || id == "" {
		t.Fatalf("got %q, %v", id, err)
	}
	if got := d.Compactions(); len(got) != 1 ||
		got[0] != (daemontest.Compaction{Key: "k", Summary: "They deployed heron.", Project: "/p", MemoryID: id}) {
		t.Errorf("the daemon got %+v", got)
	}
	if _, err := c.CompactionComplete(t.Context(), memory.Session{Key: "k"}, ""); !errors.Is(err,
		errRefused) || !isStatus(err, 400) {
		t.Errorf("without a summary: %v", err)
	}
	for name, tc := range map[string]struct {
		body string
		err  error
	}{
		"bypassed": {`{"bypassed":true}`, memory.ErrOwned},
		"failed":   {`{"success":false}`, errRefused},
		"garbage":  {`[`, ErrNoAnswer},
	} {
		if _, err := client(t, fixed(t, 200, tc.body)).CompactionComplete(t.Context(),
			memory.Session{}, "s"); !errors.Is(err, tc.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// By the rules of 1.0 a key is started before it is ended, hooks stay with its agent and project, and no request has an
// Origin. What is refused all the same may be sent again.
func TestBound(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{Generation: daemontest.Bound})
	c := client(t, d.URL())
	who := memory.Session{Key: "k", AgentID: "alto", Cwd: "/p/x", Project: "/p"}
	r := End{Session: who, File: transcript(t, longTalk)}
	if got, err := c.End(t.Context(), r); err != nil || !got.Queued {
		t.Errorf("the end of a key that was not started: %+v, %v", got, err)
	}
	if err := c.Follow(t.Context(), Prompt{Session: who, Text: "on"}, true); err != nil {
		t.Error(err)
	}
	if _, err := c.CompactionComplete(t.Context(), who, "s"); err != nil {
		t.Error(err)
	}
	if err := c.Free(t.Context(), who); err != nil || len(d.Sessions()) > 0 {
		t.Errorf("%v are live (%v)", d.Sessions(), err)
	}
	who.Key = "other"
	if _, err := c.Start(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	r.Session.Key, r.Session.AgentID = "other", "basso"
	if _, err := c.End(t.Context(), r); err == nil || errors.Is(err, ErrNoAnswer) {
		t.Errorf("another agent's end: %v", err)
	}
	for _, asked := range d.Requests() {
		if asked.Header.Get("Origin") != "" {
			t.Errorf("%s has an Origin", asked.Path)
		}
	}
}
