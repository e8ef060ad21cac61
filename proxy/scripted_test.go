package proxy

import (
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// scripted is a harness that says what the test tells it to, byte for byte, and when.
type scripted struct {
	t       *testing.T
	in, out *os.File // its stdin and its stdout
	heard   collected
	died    sync.Once
}

// scripted starts a relay in front of a harness that says what the test tells it to.
func (w *world) scripted(change ...func(*Options)) (*connection, *scripted) {
	w.t.Helper()
	in, relayOut := pipe(w.t)
	relayIn, out := pipe(w.t)
	h := &scripted{t: w.t, in: in, out: out}
	c := w.start(newSource(), echo(), append([]func(*Options){func(o *Options) {
		hangup := o.Harness.Hangup // of the kit's own agent, which has nothing to do
		o.Harness = Harness{In: relayOut, Out: relayIn, Hangup: func() { relayOut.Close(); hangup() }}
	}}, change...)...)
	h.heard.from(in)
	w.t.Cleanup(func() {
		h.die()
		c.close()
		relayOut.Close()
		relayIn.Close()
		h.heard.all(w.t)
		in.Close()
	})
	return c, h
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// say writes bytes as they are.
func (h *scripted) say(bytes string) {
	h.t.Helper()
	if _, err := io.WriteString(h.out, bytes); err != nil {
		h.t.Fatal(err)
	}
}

// await waits until the harness was sent text.
func (h *scripted) await(text string) {
	h.t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(h.heard.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("the harness was not sent %s but\n%s", clip(text), h.heard.String())
		}
	}
}

// answer waits for a line of the client's and says something to it.
func (h *scripted) answer(line, reply string) {
	h.t.Helper()
	h.await(line)
	h.say(reply)
}

// hearNoMore closes the harness's stdin, with which a crash begins.
func (h *scripted) hearNoMore() {
	h.t.Helper()
	_ = h.in.SetReadDeadline(time.Now())
	h.heard.all(h.t)
	h.in.Close()
}

// die ends the harness: nothing more is said.
func (h *scripted) die() { h.died.Do(func() { h.out.Close() }) }

// collected is all that comes out of a reader.
type collected struct {
	safeBuffer
	done chan struct{}
}

// from begins to collect, in a goroutine that ends with the reader.
func (b *collected) from(r io.Reader) {
	b.done = make(chan struct{})
	go func() {
		defer close(b.done)
		_, _ = io.Copy(&b.safeBuffer, r)
	}()
}

// all returns everything, once the reader has ended.
func (b *collected) all(t *testing.T) string {
	t.Helper()
	select {
	case <-b.done:
	case <-time.After(patience):
		t.Error("this end was not closed")
	}
	return b.String()
}

// write sends bytes as the client, as they are.
func (c *connection) write(bytes string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, bytes); err != nil {
		c.t.Fatal(err)
	}
}

// collect reads whatever the client gets from now on.
func (c *connection) collect() *collected {
	b := &collected{}
	b.from(c.out)
	return b
}

// same compares long texts and shows where they part.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	n := 0 // where they part
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	from := max(0, n-60)
	t.Errorf("%s: %d bytes, want %d; from byte %d on\n got %q\nwant %q", what, len(got), len(want), n,
		piece(got[from:]), piece(want[from:]))
}

func piece(s string) string { return s[:min(len(s), 300)] }
