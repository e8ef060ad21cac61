package signet

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// A black hole costs one process's prompt, not each short one's: the others are told by a file, try it one at a time
// and beside their conversation, and come back as soon as it answers.
func TestRestIsShared(t *testing.T) {
	now := time.Now()
	file := filepath.Join(t.TempDir(), "daemon.json")
	d := daemontest.Start(t, daemontest.Options{})
	process := func() *Client {
		c := client(t, d.URL(), func(o *Options) {
			o.BreakerFile, o.Now, o.StartTimeout = file, func() time.Time { return now }, 3*time.Second
		})
		t.Cleanup(c.Close)
		return c
	}
	starts := func() int { return len(d.Requests(startPath)) }
	start := func(key string) error {
		_, err := process().Start(t.Context(), memory.Session{Key: key})
		return err
	}
	// probes is how many processes try a hook, once all that run have tried.
	tries := func(n int) int {
		d.ForgetRequests()
		var all []*Client
		for range n {
			c := process()
			if _, err := c.Start(t.Context(), memory.Session{Key: "try"}); !errors.Is(err, errOpen) {
				t.Errorf("while it is left alone: %v", err)
			}
			all = append(all, c)
		}
		for _, c := range all {
			c.probes.Wait()
		}
		return starts()
	}
	d.Fail(daemontest.Fault{Kind: daemontest.BlackHole})
	if err := start("a"); !errors.Is(err, memory.ErrUnavailable) {
		t.Fatal(err)
	}
	if n := tries(3); n != 0 {
		t.Errorf("within the rest %d processes tried", n)
	}
	if _, err := process().Recall(t.Context(), memory.Session{Key: "try"}, "heron", nil); !errors.Is(err, errOpen) {
		t.Errorf("while it is left alone: %v", err)
	}
	d.Heal()
	d.Fail(daemontest.Fault{Kind: daemontest.Status})
	for _, after := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute,
		5 * time.Minute, 5 * time.Minute} {
		now = now.Add(after - time.Second)
		if n := tries(1); n != 0 {
			t.Errorf("tried %v too early", time.Second)
		}
		now = now.Add(time.Second)
		if n := tries(1); n == 0 {
			t.Errorf("not tried after %v", after)
		}
	}
	d.Heal()
	now = now.Add(5 * time.Minute)
	if n := tries(1); n != 1 {
		t.Errorf("tried %d times", n)
	}
	if err := start("b"); err != nil {
		t.Errorf("after it answered: %v", err)
	}
}

// A daemon that tells of its health and hangs in its hooks is left alone all the same. What tries it is the start that
// a session wanted, and its context is there for who asks again.
func TestTryIsAHook(t *testing.T) {
	for _, kind := range daemontest.Recorded {
		now := time.Now()
		d := daemontest.Start(t, daemontest.Options{Generation: kind})
		d.Remember("Robin prefers tabs", "preference")
		c := client(t, d.URL(), func(o *Options) {
			o.BreakerFile, o.Now = filepath.Join(t.TempDir(), "daemon.json"), func() time.Time { return now }
			o.StartTimeout = 2 * time.Second // in which a busy machine sends the request
		})
		t.Cleanup(c.Close)
		d.Fail(daemontest.Fault{Path: "/api/hooks/", Kind: daemontest.BlackHole})
		if _, err := c.Start(t.Context(), memory.Session{Key: "a"}); !errors.Is(err, memory.ErrKeySpent) {
			t.Fatalf("%s: %v", kind.Version(), err)
		}
		ask := func(key string) (memory.Context, error) {
			got, err := c.Start(t.Context(), memory.Session{Key: key})
			c.probes.Wait()
			return got, err
		}
		now = now.Add(openFor(1))
		if _, err := ask("b"); !errors.Is(err, errOpen) {
			t.Errorf("%s: somebody waited for the try: %v", kind.Version(), err)
		}
		if _, err := ask("c"); !errors.Is(err, errOpen) || len(d.Requests(startPath)) != 2 {
			t.Errorf("%s: its hooks hang: %v, %d starts", kind.Version(), err, len(d.Requests(startPath)))
		}
		if _, err := ask("b"); !errors.Is(err, memory.ErrKeySpent) {
			t.Errorf("%s: a start that got no answer: %v", kind.Version(), err)
		}
		d.Heal()
		now = now.Add(openFor(2))
		if _, err := ask("c"); !errors.Is(err, errOpen) {
			t.Errorf("%s: %v", kind.Version(), err)
		}
		got, err := ask("c")
		if err != nil || len(got.Items) != 1 || len(d.Requests(startPath)) != 3 {
			t.Errorf("%s: %+v, %v, %d starts", kind.Version(), got, err, len(d.Requests(startPath)))
		}
		if err := c.Follow(t.Context(), Prompt{Session: memory.Session{Key: "c"}, Text: "hello"}, true); err != nil {
			t.Errorf("%s: %v", kind.Version(), err)
		}
	}
}

// A prompt that is told beside the conversation, and one that asks, try too.
func TestPromptsTry(t *testing.T) {
	now := time.Now()
	d := daemontest.Start(t, daemontest.Options{})
	c := client(t, d.URL(), func(o *Options) {
		o.BreakerFile, o.Now = filepath.Join(t.TempDir(), "daemon.json"), func() time.Time { return now }
	})
	t.Cleanup(c.Close)
	for name, ask := range map[string]func() error{
		"recall": func() error {
			_, err := c.Recall(t.Context(), memory.Session{Key: "k"}, "heron", nil)
			return err
		},
		"follow": func() error {
			return c.Follow(t.Context(), Prompt{Session: memory.Session{Key: "k"}, Text: "heron"}, true)
		},
	} {
		now = now.Add(time.Second)
		c.presence.failed()
		if err := ask(); !errors.Is(err, errOpen) {
			t.Errorf("%s: while it is left alone: %v", name, err)
		}
		now = now.Add(openFor(1))
		before := len(d.Requests(submitPath))
		_ = ask()
		c.probes.Wait()
		if n := len(d.Requests(submitPath)); n != before+1 {
			t.Errorf("%s: it was asked %d times", name, n-before)
		}
		if turn, _ := c.presence.allow(); turn != callAllowed {
			t.Errorf("%s: it answered, and is left alone", name)
		}
	}
}

// A session's end is a hook, too: that it was answered ends the rest for all.
func TestEndTells(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	c := client(t, d.URL(), func(o *Options) { o.BreakerFile = filepath.Join(t.TempDir(), "daemon.json") })
	t.Cleanup(c.Close)
	c.presence.failed()
	if !c.LeftAlone() {
		t.Error("it is asked though it does not answer")
	}
	if _, err := c.End(t.Context(), End{Session: memory.Session{Key: "k"}}); err != nil || c.LeftAlone() {
		t.Errorf("it answered (%v), and is left alone", err)
	}
}

// One process at a time tries.
func TestOneTries(t *testing.T) {
	now := time.Now()
	r := &presence{file: filepath.Join(t.TempDir(), "daemon.json"), url: "u", now: func() time.Time { return now }}
	r.failed()
	now = now.Add(30 * time.Second)
	first, done := r.allow()
	if second, _ := r.allow(); first != callProbe || second != callDenied {
		t.Errorf("%v, %v", first, second)
	}
	done()
	if third, done := r.allow(); third != callProbe {
		t.Errorf("%v", third)
	} else {
		done()
	}
}

// A start that keeps a prompt waiting counts before it has failed, and not any more once it is answered; what is
// refused at once costs nobody anything.
func TestRestCountsWhatCosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "daemon.json")
	d := daemontest.Start(t, daemontest.Options{})
	c := client(t, d.URL(), func(o *Options) { o.BreakerFile, o.Hold = file, 20*time.Millisecond })
	defer c.Close()
	d.Fail(daemontest.Fault{Path: startPath, Kind: daemontest.Held})
	done := make(chan error)
	go func() {
		_, err := c.Start(t.Context(), memory.Session{Key: "k"})
		done <- err
	}()
	for deadline := time.Now().Add(time.Minute); ; {
		if turn, _ := c.presence.allow(); turn == callDenied {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a start that keeps a prompt waiting is not told of")
		}
		time.Sleep(time.Millisecond)
	}
	d.Heal()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if turn, _ := c.presence.allow(); turn != callAllowed {
		t.Error("answered, and still left alone")
	}
	d.Stop()
	patient := client(t, d.URL(), func(o *Options) { o.BreakerFile, o.Hold = file, time.Hour }) // at once is within that
	defer patient.Close()
	if _, err := patient.Start(t.Context(), memory.Session{Key: "l"}); !errors.Is(err, memory.ErrUnavailable) {
		t.Fatal(err)
	}
	if turn, _ := patient.presence.allow(); turn != callAllowed {
		t.Error("refused at once, and left alone")
	}
}

// A file that is no file of ours counts as none.
func TestBreakerFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "daemon.json")
	r := &presence{file: file, url: "u", now: time.Now}
	for _, text := range []string{"", "null", "{", `{"u":1}`, `[]`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if turn, _ := r.allow(); turn != callAllowed {
			t.Errorf("%q: %v", text, turn)
		}
	}
	r.failed()
	if turn, _ := r.allow(); turn != callDenied {
		t.Error("not written over")
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v (%v)", info.Mode(), err)
	}
}

// Where no prompt waits, a start that is answered has cost nothing.
func TestNoHold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "daemon.json")
	d := daemontest.Start(t, daemontest.Options{})
	c := client(t, d.URL(), func(o *Options) { o.BreakerFile = file })
	defer c.Close()
	if _, err := c.Start(t.Context(), memory.Session{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a failure was noted: %v", err)
	}
}
