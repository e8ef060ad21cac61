package delivery

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
)

// asWorker is what the test's program does when a Spawn starts it; false: it is the test.
func asWorker(args []string) bool {
	switch {
	case len(args) == 4 && args[1] == DetachWord && args[2] == "note": // that a worker was asked for, and its credential
		f, err := os.OpenFile(args[3], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			pass, _ := bufio.NewReader(os.Stdin).ReadString('\n')
			_, _ = f.WriteString("started " + pass)
		}
	case len(args) == 4 && args[1] == DetachWord:
		if Detach(args[2:]) != nil {
			os.Exit(1)
		}
	case len(args) == 3 && args[1] == "hear":
		text, err := io.ReadAll(os.Stdin)
		if err == nil {
			stat, _ := os.ReadFile("/proc/self/stat") // of Linux
			if of := strings.Fields(string(stat)); len(of) > 5 && of[5] != of[0] {
				text = append(text, " in another's session"...)
			}
			_ = os.WriteFile(args[2]+".part", text, 0o600)
			_ = os.Rename(args[2]+".part", args[2])
		}
	default:
		return false
	}
	return true
}

// A worker is started for what is due, at once or at our end, and for nothing else.
func TestDispatcher(t *testing.T) {
	clientGone := func(h *Dispatcher, _ context.Context) { h.ClientGone(false) }
	ended := func(h *Dispatcher, _ context.Context) { h.ClientGone(true) }
	also := func(due bool) *Dispatcher { // by itself it looks once
		return &Dispatcher{AtExit: time.Minute, Also: func(context.Context) (bool, error) { return due, nil }}
	}
	for name, tt := range map[string]struct {
		before, after bool // something is due before the sweep, or after it
		stale         bool // or a key was started and never used
		taken         bool // or a job is to be asked about
		alone         bool // no daemon is known
		o             *Dispatcher
		do            func(*Dispatcher, context.Context)
		started       int
		atEnd         int  // of them
		delivered     bool // by us, at our end
		warned        []string
	}{
		"the sweep finds something":  {before: true, started: 1},
		"the sweep finds a key":      {stale: true, started: 1},
		"the sweep finds a job":      {taken: true, started: 1},
		"the sweep finds other work": {o: also(true), started: 1, delivered: true},
		"the sweep finds none":       {o: also(false)},
		"asked for":                  {after: true, do: func(h *Dispatcher, _ context.Context) { h.Deliver() }, started: 1},
		"asked for, nothing due":     {do: func(h *Dispatcher, _ context.Context) { h.Deliver() }},
		"now":                        {after: true, do: (*Dispatcher).Now, started: 1},
		"now, nothing due":           {do: (*Dispatcher).Now},
		"the client goes":            {do: clientGone, started: 1, atEnd: 1},
		"nobody takes it":            {alone: true, do: clientGone},
		"nobody but a hook takes it": {alone: true, o: &Dispatcher{Beside: true}, do: clientGone, started: 1, atEnd: 1},
		"at the end":                 {after: true, alone: true, do: ended, started: 1, atEnd: 1},
		"at the end, nothing due":    {do: ended},
		"by ourselves":               {after: true, o: &Dispatcher{AtExit: time.Minute}, do: ended, delivered: true},
		"by ourselves, nothing due":  {o: &Dispatcher{AtExit: time.Minute}, do: clientGone},
		"of a program that is gone": {before: true, o: &Dispatcher{Spawn: Spawn{Dir: "/no/such/folder"}},
			warned: []string{"sweeping up after dead processes", "starting a worker"}},
		"a client goes at the sweep": {before: true, do: ended, started: 2, atEnd: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.now = time.Now().Add(-time.Hour)
			if tt.stale {
				s := b.say(correlation.ProcessInfo{Kind: correlation.Relay}, "hello", "hi")
				check(t, correlationtest.Apply(t.Context(), b.Store, "gone", correlation.KeyStarted{Key: s.Key + "x"}))
			}
			if tt.taken {
				b.say(toDaemon, "hello", "hi")
				b.work()
			}
			b.now = time.Now()
			if tt.before {
				b.say(toDaemon, "hello", "hi")
			}
			notes, own := filepath.Join(b.dir, "notes"), t.TempDir()
			h := cmp.Or(tt.o, new(Dispatcher))
			h.Worker, h.limit = b.w, time.Minute
			h.Worker.Folder, h.Worker.Like, h.Worker.StaleAfter = own, toDaemon, 30*time.Minute
			if tt.alone {
				h.Worker.Like = correlation.ProcessInfo{Memory: "auto"}
			}
			h.Worker.Retention.Keep = time.Hour
			h.Spawn.Args, h.Spawn.Pass = []string{"note", notes}, Credential{"there", "secret"}
			if h.Spawn.Dir == "" {
				h.Spawn.Dir = filepath.Join(b.dir, "acp")
			}
			h.Begin()
			h.tasks.Wait()
			if tt.after {
				b.say(toDaemon, "hello", "hi")
			}
			if tt.do != nil {
				tt.do(h, t.Context())
			}
			h.tasks.Wait()
			waiting := slices.Clone(h.leaving)
			for _, pipe := range waiting {
				if _, err := pipe.Stat(); err != nil {
					t.Errorf("a worker begins before our end: %v", err)
				}
			}
			h.End()
			for _, pipe := range waiting {
				if _, err := pipe.Stat(); err == nil {
					t.Error("a worker waits behind our end")
				}
			}
			text, _ := os.ReadFile(notes)
			_, err := os.Stat(filepath.Join(own, lockName))
			delivered := err == nil
			if n := strings.Count(string(text), `started {"url":"there","token":"secret"}`+"\n"); n != tt.started || len(waiting) != tt.atEnd ||
				delivered != tt.delivered || !slices.Equal(b.warned, tt.warned) {
				t.Errorf("%d workers, %d at our end, delivered: %v, it warns: %q", n, len(waiting), delivered, b.warned)
			}
		})
	}
}

// While a process goes on it looks every five minutes whether there is something to do.
func TestLooksAgain(t *testing.T) {
	for atExit, want := range map[time.Duration]int64{0: 4, time.Minute: 1} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			var asked atomic.Int64
			h := Dispatcher{Worker: b.w, AtExit: atExit, Spawn: Spawn{Dir: b.dir},
				Also: func(context.Context) (bool, error) { asked.Add(1); return false, nil }}
			h.Begin()
			time.Sleep(16 * time.Minute)
			if n := asked.Load(); n != want {
				t.Errorf("asked %d times, want %d", n, want)
			}
			h.End()
		})
	}
}

// The end waits for what runs, which is told to end, but not for ever.
func TestEndWaits(t *testing.T) {
	for takes, want := range map[time.Duration]bool{time.Second: true, 2 * time.Minute: false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			looks := make(chan struct{})
			var over atomic.Bool
			h := Dispatcher{Worker: b.w, limit: time.Minute, Spawn: Spawn{Dir: b.dir},
				Also: func(ctx context.Context) (bool, error) {
					close(looks)
					<-ctx.Done()
					time.Sleep(takes)
					over.Store(true)
					return false, ctx.Err()
				}}
			h.Begin()
			<-looks
			if h.End(); over.Load() != want {
				t.Errorf("what runs for %v is over at the end: %t", takes, over.Load())
			}
			h.tasks.Wait()
		})
	}
}

// Where turns are kept for deliveries only, what is not owed goes with its process.
func TestNothingKept(t *testing.T) {
	for keep, want := range map[time.Duration]int{0: 0, time.Minute: 1} {
		b := newBench(t)
		h := Dispatcher{Worker: b.w, limit: time.Minute, Spawn: Spawn{Dir: b.dir}}
		h.Worker.Retention.Keep = keep
		h.Begin()
		h.tasks.Wait()
		b.now = b.now.Add(-time.Hour)
		s := b.say(correlation.ProcessInfo{Kind: correlation.Relay, Memory: "embedded"}, "hello", "hi")
		h.End()
		turns, err := b.Book().Turns(t.Context(), s.ID)
		if check(t, err); len(turns) != want || b.removed != 1-want {
			t.Errorf("kept for %v: %d turns are there; said to be removed: %d times", keep, len(turns), b.removed)
		}
	}
}

// What is told a program that outlives us arrives whole, in the folder and the environment that it was given, and in a
// session of its own.
func TestTell(t *testing.T) {
	dir := t.TempDir()
	if err := (Spawn{Args: []string{"hear", "heard"}, Dir: dir, Env: os.Environ()}).Tell([]byte("a\nb")); err != nil {
		t.Fatal(err)
	}
	var text []byte
	for limit := time.Now().Add(time.Minute); text == nil && time.Now().Before(limit); time.Sleep(time.Millisecond) {
		text, _ = os.ReadFile(filepath.Join(dir, "heard"))
	}
	if string(text) != "a\nb" {
		t.Errorf("it heard %q", text)
	}
}
