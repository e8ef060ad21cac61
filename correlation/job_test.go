package correlation_test

import (
	"testing"
	"time"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Which turns the daemon has made nothing of, by what has become of their delivery and their job.
func TestUnextracted(t *testing.T) {
	for name, tt := range map[string]struct {
		come  func(b *bench, d Debt, post Selection) error
		state JobState // of the job, "" without one
		want  int
	}{
		"not delivered": {come: func(b *bench, d Debt, _ Selection) error {
			return b.Debts().Retry(b.ctx(), d, "connection refused")
		}},
		"dropped": {come: func(b *bench, d Debt, post Selection) error {
			return b.Debts().Dropped(b.ctx(), d, post, "", "too short")
		}, want: 2},
		"without a job": {come: func(b *bench, d Debt, post Selection) error {
			return b.Debts().Delivered(b.ctx(), d, post, "")
		}},
		"pending":   {state: JobPending},
		"dead":      {state: JobDead, want: 2},
		"empty":     {state: JobEmpty, want: 2},
		"extracted": {state: JobExtracted},
		"not told":  {state: JobUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.said("one", 2)
			b.said("other", 1)
			d := b.takeUp()
			post := b.attempt(d)
			if tt.come == nil {
				post.Job = Job{Key: d.Key + ".1.1", ID: "job-1"}
				check(t, b.Debts().Delivered(b.ctx(), d, post, "queued"))
				b.asks(s, tt.state)
			} else {
				check(t, tt.come(b, d, post))
			}
			if got := must(b.Book().Unextracted(b.ctx()))(t); got != tt.want {
				t.Errorf("%d turns, want %d", got, tt.want)
			}
		})
	}
}

// asks notes what a daemon says of a session's only job, which is asked about five minutes after it was taken, and then
// each hour while it is pending.
func (b *bench) asks(s Session, state JobState) {
	b.tb.Helper()
	asked := func(want int) (all []Debt) {
		b.tb.Helper()
		if all = must(b.Debts().ToAsk(b.ctx()))(b.tb); len(all) != want {
			b.tb.Fatalf("%d to ask about, want %d", len(all), want)
		}
		return all
	}
	b.clock.Advance(4 * time.Minute)
	asked(0)
	b.clock.Advance(time.Minute)
	d := asked(1)[0]
	if len(d.Jobs) != 1 || d.Jobs[0].ID != "job-1" || len(d.Jobs[0].Turns) != 2 || d.Session != s.ID {
		b.tb.Fatalf("%+v", d.Jobs)
	}
	d.Jobs[0].State = state
	check(b.tb, b.Debts().NoteJobs(b.ctx(), d, d.Jobs))
	b.clock.Advance(time.Hour)
	if state != JobPending {
		asked(0)
		return
	}
	asked(1)
	b.clock.Advance(14 * 24 * time.Hour)
	asked(0)
}
