package proxy

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A first prompt is cancelled while the model is silent. The next carries the block again unless the harness is sure to
// have kept it: by its profile, because it shows that it works, or because it has had it for long enough.
func TestCancelledSilently(t *testing.T) {
	active := update("s2", `{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"active"}}}}`)
	idle := strings.Replace(active, "active", "idle", 1)
	used := update("s2", `{"sessionUpdate":"usage_update","used":9637,"size":128000}`)
	begun := session.Traits{Cancelled: session.CancelledBegun}
	timed := session.Traits{Cancelled: session.CancelledBegun, KeptAfter: time.Second}
	says := session.Traits{Cancelled: session.CancelledBegun, KeptAfter: time.Second, SaysActive: true}
	for _, tt := range []struct {
		name   string
		traits session.Traits
		opens  time.Duration // so long it takes to open the session
		before time.Duration // from the prompt to the sign
		sign   string
		after  time.Duration // from there to the cancel
		again  bool
	}{
		{"nothing is known", session.Traits{}, 0, 0, "", time.Hour, true},
		{"kept from the first", session.Traits{Cancelled: session.CancelledKept}, 0, 0, "", 0, false},
		{"forgotten", session.Traits{Cancelled: session.CancelledForgot}, 0, 0, used, time.Hour, true},
		{"no sign", begun, 0, 0, "", time.Hour, true},
		{"it reports usage", begun, 0, 0, used, 0, false},
		{"early", timed, 0, 0, "", time.Second - 1, true},
		{"late", timed, 0, 0, "", time.Second, false},
		{"not late for a slow start", timed, 2 * time.Second, 0, "", 2*time.Second - 1, true},
		{"late for a slow start", timed, 2 * time.Second, 0, "", 2 * time.Second, false},
		{"it does not say that it is active", says, 0, 0, "", time.Hour, true},
		{"it is idle", says, 0, 0, idle, time.Hour, true},
		{"it has just become active", says, 0, time.Hour, active, time.Second - 1, true},
		{"it has been active for long, after a slow start", says, time.Hour, 0, active, time.Second, false},
	} {
		var late atomic.Int64 // how far the clock is ahead
		began, pass := time.Now(), func(d time.Duration) { late.Add(int64(d)) }
		q := newQuiet(t, remembering(newSource()), func(o *Options) {
			o.Traits = func(string) session.Traits { return tt.traits }
			o.Now = func() time.Time { return began.Add(time.Duration(late.Load())) }
		})
		q.sends(t, upNew)
		pass(tt.opens)
		q.says(t, strings.Replace(downNew, "s1", "s2", 1))
		if got := q.sends(t, promptTo("s2", "["+textBlock("Think it over.")+"]")); !strings.Contains(got, session.OpenMark[:14]) {
			t.Fatalf("%s: the first prompt is %s", tt.name, got)
		}
		if pass(tt.before); tt.sign != "" {
			q.says(t, tt.sign)
		}
		pass(tt.after)
		q.sends(t, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s2"}}`)
		pass(time.Hour) // that an answer takes says nothing
		q.says(t, `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}`)
		got := q.sends(t, promptTo("s2", "["+textBlock("Go on.")+"]"))
		if again := strings.Contains(got, session.OpenMark[:14]); again != tt.again {
			t.Errorf("%s: the next prompt is %s", tt.name, got)
		}
	}
}
