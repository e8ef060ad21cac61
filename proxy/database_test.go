package proxy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A command that makes the harness forget may end while the database is still being opened. Only -race sees what this
// is about: the opening must not be synchronised with the conversation, so that a timer, which nobody waits for, lets
// it end.
func TestClearWhileOpening(t *testing.T) {
	w := newWorld(t)
	opening := make(chan struct{})
	time.AfterFunc(30*time.Millisecond, func() { close(opening) })
	r := newModel().process()
	c := w.start(newSource(), r.agent, longLimits, func(o *Options) {
		open := o.Open
		o.Open = func(ctx context.Context) (*Backend, error) {
			b, err := open(ctx)
			<-opening
			return b, err
		}
	})
	c.open()
	c.call(1, "session/new", cwd)
	c.until("available_commands_update")
	id := 2
	for opened := false; !opened; id++ {
		c.prompt(id, "model-session-0001", "/clear")
		select {
		case <-c.relay.database.opened:
			opened = true
		default:
		}
	}
	c.prompt(id, "model-session-0001", "What do I like?")
	if got := c.blocks(id - 2); len(got) != 2 {
		t.Errorf("the first plain prompt went out as %q", got)
	}
}

// A session that another process has just made is known, also where nothing of it is in the database yet.
func TestMadeElsewhereJustNow(t *testing.T) {
	w := newWorld(t)
	other, err := eventlog.Open(eventlog.Options{Dir: filepath.Join(filepath.Dir(w.path), "live"),
		Process: correlation.ProcessInfo{Kind: correlation.Relay}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(t.Context())
	other.Append(correlation.Opened{Session: 1, Open: correlation.OpenSession{
		Harness: "echo", ACPID: "s1", New: true, Made: time.Now(), Key: "acp-theirs",
	}})
	if err := other.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := w.start(newSource(), echo())
	c.open()
	c.call(1, "session/load", `{"sessionId":"s1","cwd":"/tmp/x","mcpServers":[]}`)
	c.synced()
	if c.given("s1").Row == 0 {
		t.Error("the session is taken for a strange one")
	}
}

// A database that somebody has locked when the conversation begins is tried again beside it: the first prompt has
// the identity all the same, everything is recorded, and the memories go in once that is possible. The clock is the
// test's, as in TestDeadlines.
func TestLockedAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		locked := make(chan struct{})
		c := w.start(newSource(), echo(), func(o *Options) {
			open := o.Open
			o.Open = func(ctx context.Context) (*Backend, error) {
				select {
				case <-locked:
					return open(ctx)
				default:
					return nil, sqlite.ErrBusy
				}
			}
		})
		c.open()
		c.call(1, "session/new", cwd)
		c.prompt(2, "s1", "first")
		if b := c.blocks(0); len(b) != 2 || !strings.Contains(b[0], "## Identity") {
			t.Errorf("the first prompt: %q", b)
		}
		close(locked)
		c.synced()
		w.awaitFetch(c, "s1")
		c.prompt(3, "s1", "second")
		if b := c.blocks(1); len(b) != 2 {
			t.Errorf("the second prompt: %q", b)
		}
		c.close()
		turns, err := w.store.Book().Turns(t.Context(), w.session("echo", "s1").ID)
		if err != nil || len(turns) != 2 || turns[0].User != "first" || turns[0].Assistant != "heard" ||
			turns[1].User != "second" {
			t.Errorf("%+v, %v", turns, err)
		}
		if said := c.talk.String(); said != "" {
			t.Errorf("people were told %q", said)
		}
	})
}

// A database that stays locked costs the end of the conversation no more than a moment, and nothing that was said. The
// clock is the test's, as in TestDeadlines.
func TestLockedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		c := w.start(newSource(), echo())
		c.open()
		var ids []string
		for i := range 5 {
			c.call(10+i, "session/new", cwd)
			ids = append(ids, fmt.Sprintf("s%d", i+1))
			c.prompt(20+i, ids[i], "before")
		}
		c.synced()
		tx, err := w.db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			c.prompt(30+i, id, "while it was locked")
		}
		began := time.Now()
		c.ends()
		if took := time.Since(began); took > 300*time.Millisecond {
			t.Errorf("the end took %v", took)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		c.close() // which takes in what is left
		for _, id := range ids {
			turns, err := w.store.Book().Turns(t.Context(), w.session("echo", id).ID)
			if err != nil || len(turns) != 2 || turns[1].User != "while it was locked" || turns[1].Assistant != "heard" ||
				turns[1].Stop != "end_turn" {
				t.Errorf("%s: %+v, %v", id, turns, err)
			}
		}
	})
}

// A session that the client has closed leaves nothing behind in memory, however many there were on the connection; what
// was said in it is kept. PROXY_TEST_SESSIONS says how many there are.
func TestClosedSessionsAreGivenUp(t *testing.T) {
	if testing.Short() {
		t.Skip("it weighs the heap")
	}
	w := newWorld(t)
	mem := newSource()
	var mu sync.Mutex
	servers, served := map[int]func() memory.Session{}, 0 // what knows of a session as long as it may be asked for
	c := w.start(mem, echo(), func(o *Options) {
		o.MCPServer = func(_ string, who func() memory.Session) ([]byte, func()) {
			mu.Lock()
			defer mu.Unlock()
			n := served
			served++
			servers[n] = who
			return []byte(`{"name":"signet"}`), func() {
				mu.Lock()
				defer mu.Unlock()
				delete(servers, n)
			}
		}
	})
	c.open()
	id := 1
	run := func(n int) uint64 {
		for range n {
			answer := c.call(id, "session/new", cwd)
			name, _ := stringAt([]byte(answer), "result", "sessionId")
			if id%10 == 1 {
				c.prompt(id+1, name, "hello")
			}
			c.call(id+2, "session/close", fmt.Sprintf(`{"sessionId":%q}`, name))
			id += 3
			c.forgets(mem)
		}
		known := 0
		c.know(func(all *session.Connection) { known = len(all.Sessions()) })
		if known != 0 {
			t.Errorf("%d sessions are still known", known)
		}
		grown := c.heap() // once all is written down
		mu.Lock()
		defer mu.Unlock()
		if len(servers) > 0 || served == 0 {
			t.Errorf("of %d sessions %d still have their tools", served, len(servers))
		}
		return grown
	}
	more := 1000
	if n, err := strconv.Atoi(os.Getenv("PROXY_TEST_SESSIONS")); err == nil {
		more = n
	}
	first := run(200)
	after := run(more)
	t.Logf("%d KB of heap, after %d sessions more %d KB", first>>10, more, after>>10)
	if grown := int64(after) - int64(first); grown > 512<<10 {
		t.Errorf("%d sessions cost %d bytes", more, grown)
	}
	c.close()
	var stored, turns int
	if err := w.db.QueryRow(`SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM turns WHERE ended > 0
		AND assistant = 'heard')`).Scan(&stored, &turns); err != nil {
		t.Fatal(err)
	}
	if stored != 200+more || turns == 0 {
		t.Errorf("%d sessions and %d turns are stored", stored, turns)
	}
}

// heap is what the relay holds once all is written down.
func (c *connection) heap() uint64 {
	c.t.Helper()
	c.synced()
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// forgets drops what the test itself remembers of its peers.
func (c *connection) forgets(mem *source) {
	c.mu.Lock()
	c.heard = nil
	c.mu.Unlock()
	mem.mu.Lock()
	mem.starts, mem.recalls = nil, nil
	mem.mu.Unlock()
}

// A session that is idle holds its block and little else, however many there are, and still knows it.
func TestIdleSessionsHoldLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("it weighs the heap")
	}
	w := newWorld(t)
	mem := newSource()
	mem.context.Identity = strings.Repeat("You are Alto. ", 1000)
	c := w.start(mem, echo())
	c.open()
	open := func(from, to int) uint64 {
		for i := from; i < to; i++ {
			c.call(2*i, "session/new", cwd)
			c.prompt(2*i+1, fmt.Sprint("s", i), strings.Repeat("a long question ", 1000))
			c.forgets(mem)
		}
		return c.heap()
	}
	before := open(1, 50)
	each := (int64(open(50, 250)) - int64(before)) / 200
	t.Logf("%d bytes each", each)
	if each > int64(len(mem.context.Identity))+6<<10 {
		t.Errorf("an idle session holds %d bytes", each)
	}
	given := c.given("s1").Blocks
	if len(given) != 1 || !strings.Contains(given[0].Text, mem.context.Identity[:9000]) {
		t.Fatalf("%d blocks", len(given))
	}
	block := given[0].Text
	n := 0
	c.know(func(all *session.Connection) { n, _, _ = all.Ours(all.Given("s1").Session, []string{block + "hello"}) })
	if n != len(block) {
		t.Errorf("%d bytes of %d are known again: %.200q", n, len(block), block)
	}
}
