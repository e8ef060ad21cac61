package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// hashed is another name of a session, from which its own cannot be told.
func hashed(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "listed-" + hex.EncodeToString(sum[:8])
}

// rows is how many sessions the ledger has.
func (w *world) rows() int {
	w.t.Helper()
	n, _, err := w.store.Book().Count(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// shows sends a request and fails if our mark is among all that the client gets up to its response.
func (p *scenario) shows(method, params string) {
	p.Helper()
	p.n++
	p.c.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.n, method, params)
	for _, line := range p.c.until(fmt.Sprintf(`"id":%d,`, p.n)) {
		if strings.Contains(line, markLetters) {
			p.Errorf("%s %s: the client gets %.300s", method, params, line)
		}
	}
	p.c.synced()
}

// Random conversations with a harness that lists its sessions under other ids than it gave them, over three processes:
// the client never sees our block, the model has it once, and each conversation is one row.
func TestRandomAliases(t *testing.T) {
	conversations := 50
	if testing.Short() {
		conversations = 15
	}
	p := newScenario(t)
	random := rand.New(rand.NewPCG(1, 2))
	p.model.lists = hashed
	if random.IntN(2) == 0 {
		p.model.glue = "\n"
	}
	talk := func(id string) {
		p.id = id
		for range 1 + random.IntN(3) {
			p.prompt(fmt.Sprintf("plain prompt %d", random.IntN(1000)), succeed)
		}
	}
	p.start(asItIs)
	for range conversations {
		p.open("session/new")
		talk(p.id)
	}
	p.c.close()
	own := p.model.ids()
	for _, lists := range []bool{true, false} {
		p.start(asItIs)
		if lists {
			p.shows("session/list", `{}`)
		}
		for _, i := range random.Perm(conversations) {
			id := own[i]
			if !lists || random.IntN(5) > 0 {
				id = hashed(id)
			}
			p.shows("session/load", loadParams(id))
			talk(id)
		}
		p.c.close()
		if n := p.w.rows(); n != conversations && lists {
			t.Errorf("there are %d rows", n)
		}
	}
	for _, id := range own {
		if n := p.model.contexts(id); n != 1 {
			t.Errorf("%s has the context %d times", id, n)
		}
	}
}

// A session that shows the block of another: it is stripped whatever the id, and the two are one only where the harness
// lists the other under this id.
func TestBorrowedBlock(t *testing.T) {
	copyOf := func(p *scenario, id string) {
		s := p.model.sessions[p.id]
		p.model.sessions[id] = &history{turns: slices.Clone(s.turns)}
	}
	for _, tt := range []struct {
		name string
		with func(*scenario) (load string)
		rows int
	}{
		{"under its other name", func(p *scenario) string { p.model.lists = hashed; return hashed(p.id) }, 1},
		{"under a name that ends in its own", func(p *scenario) string {
			p.model.lists = func(id string) string { return "agent:main:" + id }
			copyOf(p, "fork")
			return "agent:main:" + p.id
		}, 1},
		{"a fork that nobody told of", func(p *scenario) string { copyOf(p, "fork"); return "fork" }, 2},
		{"a fork that is listed first", func(p *scenario) string {
			p.model.lists = hashed
			copyOf(p, "fork")
			return hashed("fork")
		}, 2},
		{"a child with its parent's first prompt", func(p *scenario) string {
			copyOf(p, "child")
			p.model.sessions["child"].turns = p.model.sessions["child"].turns[:1]
			return "child"
		}, 2},
		{"one that is live", func(p *scenario) string {
			p.model.lists = hashed
			other := p.w.start(p.mem, p.model.process().agent, longLimits)
			other.open()
			other.call(1, "session/load", loadParams(p.id))
			other.synced()
			return hashed(p.id)
		}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newScenario(t)
			p.start(asItIs)
			p.open("session/new")
			p.prompt("the first prompt", succeed)
			p.prompt("the second prompt", succeed)
			p.c.close()
			first := p.id
			load := tt.with(p)
			p.start(asItIs)
			p.shows("session/list", `{}`)
			p.shows("session/load", loadParams(load))
			p.id = load
			p.prompt("and then?", succeed)
			if n := p.w.rows(); n != tt.rows {
				t.Errorf("there are %d rows", n)
			}
			p.c.close()
			p.start(asItIs) // it is known by now
			p.shows("session/load", loadParams(load))
			p.shows("session/list", `{}`)
			p.prompt("once more", succeed)
			for _, id := range p.model.ids() {
				if n := p.model.contexts(id); n != 1 {
					t.Errorf("%s has the context %d times", id, n)
				}
			}
			if load == first || tt.rows == 1 {
				return
			}
			p.c.close()
			s := p.model.session(load) // taken back to before the block
			s.turns = s.turns[len(s.turns)-1:]
			p.start(asItIs)
			p.shows("session/load", loadParams(load))
			p.prompt("from here on", succeed)
			if last := s.turns[len(s.turns)-1]; len(last) != 2 {
				t.Errorf("after a rewind the model gets %q", last)
			}
		})
	}
}

// What only looks like a block of ours stays, and a ledger that does not answer holds nothing up for long.
func TestLooksLikeOurs(t *testing.T) {
	p := newScenario(t)
	p.start(asItIs)
	p.open("session/new")
	p.prompt("the first prompt", succeed)
	p.c.close()
	block := p.model.sessions[p.id].turns[0][0]
	for name, text := range map[string]string{
		"another body": strings.Replace(block, "Alto", "Bass", 1),
		"another id":   session.OpenMark + ` id="123456789abc">` + "\nYou are Alto.\n</signet-memory>\n\nhello",
		"not in front": "hello " + block,
	} {
		p.model.sessions["other"] = &history{turns: [][]string{{text}}}
		p.start(asItIs)
		p.n++
		p.c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/load","params":%s}`, p.n, loadParams("other"))
		if got := p.c.until(fmt.Sprintf(`"id":%d,`, p.n)); got[0] != userChunk("other", text) {
			t.Errorf("%s: the client gets %s", name, got[0])
		}
		p.c.close()
	}
}

// A session that nobody knows is loaded, and prompted before the harness has answered: the prompt goes once it has, or
// at once if there is nothing to tell.
func TestPromptBeforeLoaded(t *testing.T) {
	for _, tt := range []struct {
		name     string
		context  memory.Context
		answer   string // "": the prompt leaves without one
		contexts int
	}{
		{"nothing to tell", memory.Context{Source: "test"}, "", 0},
		{"loaded", newSource().context, `"result":{}`, 1},
		{"refused", newSource().context, `"error":{"code":-32002,"message":"Resource not found"}`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, mem, answer := newWorld(t), newSource(), make(chan struct{})
			mem.context, mem.identity = tt.context, memory.Context{}
			model := newModel().process()
			c := w.start(mem, func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
				if method(f) != "session/load" {
					model.agent(f, line, say)
					return
				}
				go func() {
					<-answer
					say(`{"jsonrpc":"2.0","id":%s,%s}`, f["id"], tt.answer)
				}()
			}, longLimits, goesOn(w, "model"))
			c.open()
			c.send(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":%s}`, loadParams("unknown"))
			c.sendPrompt(2, "unknown", "hello")
			w.awaitFetch(c, "unknown")
			began := time.Now()
			if tt.answer == "" {
				c.until(`"id":2,`)
				tt.answer = string(succeed)
				close(answer)
			} else {
				close(answer)
				c.until(`"id":2,`)
			}
			if held := time.Since(began); held > patience/2 { // of the two or one that it may be held for
				t.Errorf("the prompt was held for %v", held)
			}
			if got := c.blocks(0); len(got) != 1+tt.contexts {
				t.Errorf("the prompt leaves as %q", got)
			}
		})
	}
}
