package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// words are enough of them for an older daemon to make a job of: 500 characters.
var words = "The mast of the Curlew is 11.42 metres long. " +
	strings.Repeat("She lies in the old harbour, and nobody has sailed her since the autumn. ", 8)

// withDaemon starts a stand-in daemon for everything that is started in the box from now on.
func (b *box) withDaemon(g daemontest.Generation) *daemontest.Daemon {
	b.t.Helper()
	d := daemontest.Start(b.t, daemontest.Options{Generation: g, AgentsDir: b.Signet})
	b.set("SIGNET_DAEMON_URL=" + d.URL())
	return d
}

// queued waits until the daemon has made n jobs, and returns the session-ends that brought a transcript.
func (b *box) queued(d *daemontest.Daemon, n int) []daemontest.End {
	b.t.Helper()
	var jobs []daemontest.End
	b.wait("the delivery", func() bool {
		jobs = nil
		for _, e := range d.Ends() {
			if e.Outcome != daemontest.Bare && e.Outcome != daemontest.Discarded {
				jobs = append(jobs, e)
			}
		}
		return len(jobs) >= n
	})
	for _, e := range jobs {
		if e.Outcome != daemontest.Queued {
			b.t.Errorf("%s: %s (%s)", e.Key, e.Outcome, e.Why)
		}
	}
	if len(jobs) > n {
		b.t.Errorf("%d deliveries, want %d", len(jobs), n)
	}
	return jobs
}

// However a conversation ends, what was said in it is delivered, nobody has to start another one for it, and a session
// that was not closed goes on in another process, with its key and what it was told.
func TestAcpxDelivered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		acpx  string
		flags []string // of the harness
		goes  bool     // on
		end   func(a *acpxBox)
	}{
		{"sessions close", "0.7.0", nil, false, func(a *acpxBox) { a.say(words); a.say("sessions", "close") }},
		{"sessions close, which the harness knows", "0.19.1", []string{"-close"}, false, func(a *acpxBox) {
			a.say(words)
			a.say("sessions", "close")
		}},
		{"time to live", "0.19.1", nil, true, func(a *acpxBox) { a.run(a.command(1, words)...) }},
		{"owner killed", "0.19.1", nil, true, func(a *acpxBox) {
			a.say(words)
			owners, err := a.Owners()
			if err != nil || len(owners) != 1 {
				a.t.Fatalf("queue owners: %v (%v)", owners, err)
			}
			must(a.box, kill(owners[0]))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newAcpx(t, acpxVersions[tt.acpx], tt.flags...)
			a.set("ECHOAGENT_TERSE=1")
			d := a.withDaemon(daemontest.Older)
			id := a.newSession()
			tt.end(a)
			began := time.Now()
			got := a.queued(d, 1)[0]
			// with the time to live, where there is one
			t.Logf("delivered %v after the end", time.Since(began).Round(time.Millisecond))
			want := "User: " + strings.TrimSpace(words) + "\nAssistant: "
			if !strings.HasPrefix(got.Transcript, want) || strings.Contains(got.Transcript, "signet-memory") {
				t.Errorf("transcript:\n%s", got.Transcript)
			}
			if got.Harness != "acp" || got.Cwd != a.Work || got.Reason == "clear" {
				t.Errorf("%+v", got)
			}
			a.alone()
			if rows := a.query(`SELECT state, attempts FROM debts`); len(rows) != 1 ||
				rows[0][0] != "delivered" || rows[0][1] != "1" {
				t.Errorf("rows: %q", rows)
			}
			if _, err := os.Stat(got.TranscriptPath); !os.IsNotExist(err) {
				t.Errorf("the transcript is left: %v", err)
			}
			if tt.goes {
				a.say("second words")
				if loads := a.requests("session/load"); len(loads) != 2 {
					t.Errorf("loads: %v, want one before each prompt", loads)
				}
			}
			a.once(id, id)
			if keys := a.query(`SELECT count(DISTINCT key) FROM turns`); keys[0][0] != "1" {
				t.Errorf("%s keys", keys[0][0])
			}
		})
	}
}
