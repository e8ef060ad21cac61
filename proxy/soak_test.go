package proxy

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// A part is how far a conversation has come when it ends.
var parts = []struct {
	name string
	play func(c *connection, h *scripted)
}{
	{"nothing", func(c *connection, h *scripted) {}},
	{"asked to initialize", func(c *connection, h *scripted) { c.write(upInit); h.await(upInit) }},
	{"initialized", initialized},
	{"asked for a session", func(c *connection, h *scripted) { initialized(c, h); c.write(upNew); h.await(upNew) }},
	{"a session", opened},
	{"a prompt is held", func(c *connection, h *scripted) { opened(c, h); c.write(upHello) }},
	{"a turn", func(c *connection, h *scripted) { c.begin(h); h.say(chunk("s1", "I")); c.until(`"I"`) }},
	{"cancelled", func(c *connection, h *scripted) {
		c.begin(h)
		const cancel = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}` + "\n"
		c.write(cancel)
		h.answer(cancel, strings.Replace(downEnd, "end_turn", "cancelled", 1))
		c.until("cancelled")
	}},
	{"turn over", func(c *connection, h *scripted) { c.begin(h); h.say(downEnd); c.until("end_turn") }},
	{"closed", func(c *connection, h *scripted) {
		c.begin(h)
		h.say(downEnd)
		const closing = `{"jsonrpc":"2.0","id":9,"method":"session/close","params":{"sessionId":"s1"}}` + "\n"
		c.write(closing)
		h.answer(closing, `{"jsonrpc":"2.0","id":9,"result":null}`+"\n")
		c.until(`"id":9`)
	}},
}

func initialized(c *connection, h *scripted) {
	c.write(upInit)
	h.answer(upInit, downInit)
	c.until(`"id":0`)
}

func opened(c *connection, h *scripted) {
	initialized(c, h)
	c.write(upNew)
	h.answer(upNew, downNew)
	c.until(`"id":1`)
}

// endings are who goes first, and how.
var endings = []struct {
	name string
	end  func(c *connection, h *scripted)
}{
	{"client hangs up", func(c *connection, h *scripted) { c.in.Close(); h.heard.all(c.t); h.die() }},
	{"client hangs up in a frame", func(c *connection, h *scripted) {
		c.write(`{"jsonrpc":"2.0","id":77,"method":"session/pr`)
		c.in.Close()
		h.heard.all(c.t)
		h.die()
	}},
	{"harness dies", func(c *connection, h *scripted) { h.die() }},
	{"harness dies in a frame", func(c *connection, h *scripted) { h.say(`{"jsonrpc":"2.0","id":2,"resu`); h.die() }},
	{"told to end", func(c *connection, h *scripted) { c.relay.Flush(); h.die() }},
}

// However a conversation ends, and wherever, no goroutine is left and no descriptor. The conversations share a
// database.
func TestSoak(t *testing.T) {
	descriptors := openDescriptors(t)
	ignored := goleak.IgnoreCurrent()
	t.Run("conversations", func(t *testing.T) {
		w := newWorld(t)
		for _, part := range parts {
			for _, ending := range endings {
				t.Run(part.name+"/"+ending.name, func(t *testing.T) {
					t.Parallel()
					for n := range 4 {
						one := &world{t: t, db: w.db, store: w.store, path: w.path}
						c, h := one.scripted()
						part.play(c, h)
						ending.end(c, h)
						c.collect().all(t)
						c.close()
						if talk := c.talk.String(); talk != "" {
							t.Errorf("%d: people were told %s", n, talk)
						}
					}
				})
			}
		}
	})
	if err := goleak.Find(ignored); err != nil {
		t.Error(err)
	}
	if now := openDescriptors(t); len(now) > len(descriptors) {
		t.Errorf("%d descriptors were open and %d are:\n%s", len(descriptors), len(now), strings.Join(now, "\n"))
	}
}

// openDescriptors lists our descriptors, nil where the system does not tell. Those of Go's own poller are there from
// whenever the first file is waited for.
func openDescriptors(t *testing.T) (all []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		to, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err == nil && !strings.HasSuffix(to, "/fd") &&
			to != "anon_inode:[eventpoll]" && to != "anon_inode:[eventfd]" {
			all = append(all, fmt.Sprint(fd.Name(), " ", to))
		}
	}
	return all
}
