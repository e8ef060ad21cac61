package delivery

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
)

// While one process delivers, a detached worker ends at once, and one that a person runs watches until nothing is left
// for it; where the other ends before that, it delivers itself.
func TestOneDelivers(t *testing.T) {
	for name, tt := range map[string]struct {
		detached bool
		until    Until
		does     func(b *bench, d correlation.Debt) // what the other does, while this one may watch
		ends     bool                               // then
		posts    int                                // of ours
		left     Remaining
	}{
		"detached":             {detached: true},
		"detached, and free":   {detached: true, ends: true, posts: 1},
		"it delivers":          {until: UntilQuiet, does: delivers},
		"it delivers, --wait":  {until: UntilSettled, does: delivers},
		"it fails":             {until: UntilSettled, does: fails, left: Remaining{Failed: 1}},
		"it leaves it":         {until: UntilSettled, does: defers, left: Remaining{Waiting: 1}},
		"it leaves it, --once": {until: OnePass, does: defers},
		"it has ended":         {until: UntilQuiet, ends: true, posts: 1},
		"it has ended, --once": {until: OnePass, ends: true, posts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.say(toDaemon, "hello", "hi")
			other := flock.New(filepath.Join(b.w.Folder, lockName))
			if locked, err := other.TryLock(); !locked || err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			b.w.Detached = tt.detached
			looked := make(chan struct{}, 1)
			b.w.Now = func() time.Time {
				select {
				case looked <- struct{}{}:
				default:
				}
				return b.now
			}
			if tt.detached && tt.ends {
				check(t, other.Unlock())
			}
			var does sync.WaitGroup
			does.Go(func() {
				if tt.detached {
					return
				}
				<-looked
				if tt.does != nil {
					tt.does(b, b.only(s))
				}
				if tt.ends {
					check(t, other.Unlock())
				}
			})
			left, err := b.w.Run(t.Context(), tt.until)
			does.Wait()
			if err != nil || left != tt.left || len(b.daemon.ends) != tt.posts {
				t.Errorf("left %+v, %d posts, %v", left, len(b.daemon.ends), err)
			}
		})
	}
}

func delivers(b *bench, d correlation.Debt) {
	check(b.t, b.Debts().Delivered(b.t.Context(), d, correlation.Selection{}, ""))
}

func fails(b *bench, d correlation.Debt) { check(b.t, b.Debts().Retry(b.t.Context(), d, "refused")) }

func defers(b *bench, d correlation.Debt) {
	check(b.t, b.Debts().Defer(b.t.Context(), d, b.now.Add(time.Hour)))
}

// What becomes owed while a worker is about to end, so that the one that was started for it has found the lock taken,
// is delivered all the same.
func TestOwedAtTheEnd(t *testing.T) {
	b := newBench(t)
	b.w.Like, b.w.StaleAfter = toDaemon, time.Minute
	b.now = b.now.Add(-time.Hour)
	check(t, correlationtest.Apply(t.Context(), b.Store, "gone", correlation.KeyStarted{Key: "unused"}))
	b.now = b.now.Add(time.Hour)
	var late correlation.Session
	b.daemon.asked = func() { // for the unused key, when all else is delivered
		if late.ID == 0 {
			late = b.sayIn("late", toDaemon, "hello", "hi")
		}
	}
	b.work()
	if late.ID == 0 || b.only(late).State != correlation.Delivered {
		t.Errorf("%+v is left", late)
	}
}

// What a relay leaves is a line with the credential; anything else is a mistake. Its end is waited for, and its locks.
func TestParted(t *testing.T) {
	const line = `{"url":"http://x","token":"secret"}` + "\n"
	for name, tt := range map[string]struct {
		lives, left time.Duration // of the relay, and for us
		want        time.Duration
	}{
		"gone":          {0, time.Hour, 100 * time.Millisecond},
		"lives a while": {time.Second, time.Hour, 1100 * time.Millisecond},
		"lives on":      {time.Hour, 2 * time.Hour, 30100 * time.Millisecond},
		"we are to end": {time.Hour, 2 * time.Second, 2100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.left)
				defer cancel()
				out, relay := io.Pipe()
				go func() {
					_, _ = io.WriteString(relay, line)
					time.Sleep(tt.lives)
					relay.Close()
				}()
				began := time.Now()
				got, err := AwaitRelay(ctx, out)
				if took := time.Since(began); err != nil || got != (Credential{"http://x", "secret"}) || took != tt.want {
					t.Errorf("%+v, %v, after %v, want %v", got, err, took, tt.want)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
	for _, odd := range []string{"", "secret\n", `{"url":`} {
		if _, err := AwaitRelay(t.Context(), strings.NewReader(odd)); err == nil {
			t.Errorf("%q is taken", odd)
		}
	}
}
