package proxy

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// conversations are a client's side of conversations over two proxies and one database.
type conversations struct {
	*rapid.T
	w       *world
	model   *model
	mem     *source
	proxies [2]oneProxy
	n       int                 // ids of requests
	sent    map[string]bool     // texts of the client's own with our mark in them
	words   map[string][]string // what the client said in each session and the model keeps
}

// oneProxy is a proxy and its harness.
type oneProxy struct {
	c    *connection
	r    *modelProcess
	kill func()
	open map[string]bool
}

func (k *conversations) up(i int) *oneProxy {
	s := &k.proxies[i]
	if s.c == nil {
		s.r = k.model.process()
		s.open = map[string]bool{}
		s.c, s.kill = k.w.startKillable(k.mem, s.r, func(o *Options) { o.Traits = k.model.traits })
		k.call(s, "initialize", `{"protocolVersion":1,"clientInfo":{"name":"tester","version":"1"}}`)
	}
	return s
}

// call sends a request and returns the response, having checked all that came before it.
func (k *conversations) call(s *oneProxy, method, params string) string {
	k.n++
	s.c.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, k.n, method, params)
	return k.await(s, k.n, "")
}

// await reads up to a response and checks the turns that are shown on the way.
func (k *conversations) await(s *oneProxy, id int, shows string) string {
	var shown []string
	for {
		line := s.c.read()
		if strings.Contains(line, fmt.Sprintf(`"id":%d,`, id)) {
			if shows != "" {
				k.compare(shows, shown)
			}
			return line
		}
		if !strings.Contains(line, "user_message_chunk") {
			continue
		}
		text, _ := stringAt([]byte(line), "params", "update", "content", "text")
		if strings.Contains(text, markLetters) && !k.sent[text] {
			k.Fatalf("the client sees %q", text)
		}
		shown = append(shown, text)
	}
}

// compare checks that a replay shows what the client said, word for word.
func (k *conversations) compare(id string, shown []string) {
	if !slices.Equal(shown, k.words[id]) {
		k.Fatalf("session %s is shown as %q, said was %q", id, shown, k.words[id])
	}
}

func (k *conversations) load(s *oneProxy, id string) {
	k.n++
	s.c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/load","params":{"sessionId":%q,"cwd":"/tmp/x",`+
		`"mcpServers":[]}}`, k.n, id)
	shows := id
	if k.model.silent {
		shows = ""
	}
	k.await(s, k.n, shows)
	s.open[id] = true
}

// say sends a prompt; the model answers as it is told to.
func (k *conversations) say(s *oneProxy, id, text string, a outcome) {
	s.r.next.Store(a)
	quoted, _ := json.Marshal(text)
	k.n++
	s.c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,`+
		`"prompt":[{"type":"text","text":%s}]}}`, k.n, id, quoted)
	if k.model.remembers(a) {
		k.words[id] = append(k.words[id], text)
	}
	if strings.Contains(text, markLetters) {
		k.sent[text] = true
	}
	if a != hang {
		k.await(s, k.n, "")
		return
	}
	k.model.awaitPrompt(k.n)
}

// leave ends a proxy.
func (k *conversations) leave(i int, kill bool) {
	s := &k.proxies[i]
	if s.c == nil {
		return
	}
	if kill {
		s.kill()
	} else {
		s.c.close()
	}
	*s = oneProxy{}
}

// someSession draws a session that is open at a proxy, having opened one if there is none.
func (k *conversations) someSession(s *oneProxy) string {
	ids := k.model.ids()
	if len(ids) == 0 {
		return k.fresh(s)
	}
	id := rapid.SampledFrom(ids).Draw(k.T, "session")
	if !s.open[id] {
		k.load(s, id)
	}
	return id
}

func (k *conversations) fresh(s *oneProxy) string {
	answer := k.call(s, "session/new", cwd)
	id, ok := stringAt([]byte(answer), "result", "sessionId")
	if !ok {
		k.Fatalf("no session: %s", answer)
	}
	s.open[id] = true
	return id
}

func (k *conversations) text() string {
	k.n++
	words := rapid.SampledFrom([]string{"hello there", "<signet-memory>mine</signet-memory> is my own",
		"what about </signet-memory> and <signet-memory source=\"acp-proxy\" id=\"0\">", "plain\n\ntext"}).Draw(k.T,
		"words")
	return fmt.Sprintf("%s %d", words, k.n)
}

// quoted returns the session's block as somebody would send it who has seen it, before words of their own.
func (k *conversations) quoted(id string) string {
	k.model.mu.Lock()
	defer k.model.mu.Unlock()
	k.n++
	for _, blocks := range k.model.sessions[id].turns {
		if len(blocks) > 1 && !k.model.sessions[id].doubt {
			return fmt.Sprintf("%s quoted %d", blocks[0], k.n)
		}
	}
	return fmt.Sprintf("nothing to quote %d", k.n)
}

// actions are what may happen, in any order.
func (k *conversations) actions() map[string]func(*rapid.T) {
	at := func(do func(s *oneProxy)) func(*rapid.T) {
		return func(t *rapid.T) {
			k.T = t
			do(k.up(rapid.IntRange(0, 1).Draw(t, "proxy")))
		}
	}
	prompt := func(a outcome) func(*rapid.T) {
		return at(func(s *oneProxy) { k.say(s, k.someSession(s), k.text(), a) })
	}
	end := func(kill bool) func(*rapid.T) {
		return func(t *rapid.T) { k.leave(rapid.IntRange(0, 1).Draw(t, "proxy"), kill) }
	}
	return map[string]func(*rapid.T){
		"new":  at(func(s *oneProxy) { k.fresh(s) }),
		"load": at(func(s *oneProxy) { k.load(s, k.someSession(s)) }),
		"resume": at(func(s *oneProxy) {
			k.call(s, "session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/tmp/x"}`, k.someSession(s)))
		}),
		"fork": at(func(s *oneProxy) {
			parent := k.someSession(s)
			said := slices.Clone(k.words[parent])
			answer := k.call(s, "session/fork", fmt.Sprintf(`{"sessionId":%q,"cwd":"/tmp/x"}`, parent))
			child, _ := stringAt([]byte(answer), "result", "sessionId")
			k.words[child], s.open[child] = said, true
		}),
		"prompt":     prompt(succeed),
		"prompt too": prompt(succeed),
		"refused":    prompt(refuse),
		"failed":     prompt(fail),
		"stopped":    prompt(cancel),
		"command":    at(func(s *oneProxy) { k.n++; k.say(s, k.someSession(s), fmt.Sprintf("/help %d", k.n), succeed) }),
		"quote":      at(func(s *oneProxy) { id := k.someSession(s); k.say(s, id, k.quoted(id), succeed) }),
		"end":        end(false),
		"kill":       end(true),
		"die in turn": func(t *rapid.T) {
			k.T = t
			i := rapid.IntRange(0, 1).Draw(t, "proxy")
			s := k.up(i)
			k.say(s, k.someSession(s), k.text(), hang)
			k.leave(i, true)
		},
		"beside one that hangs": func(t *rapid.T) {
			k.T = t
			i := rapid.IntRange(0, 1).Draw(t, "proxy")
			hung, other := k.up(i), k.up(1-i)
			id := k.someSession(hung)
			if !other.open[id] {
				k.load(other, id)
			}
			k.say(hung, id, k.text(), hang)
			k.say(other, id, k.text(), succeed)
			k.leave(i, true)
		},
		"cancelled": at(func(s *oneProxy) {
			id, text := k.someSession(s), k.text()
			s.r.next.Store(cancel)
			if k.model.remembers(cancel) {
				k.words[id] = append(k.words[id], text)
			}
			if strings.Contains(text, markLetters) {
				k.sent[text] = true
			}
			quoted, _ := json.Marshal(text)
			k.n++
			s.c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,`+
				`"prompt":[{"type":"text","text":%s}]}}`, k.n, id, quoted)
			s.c.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, id)
			k.await(s, k.n, "")
		}),
		"close": at(func(s *oneProxy) {
			id := k.someSession(s)
			k.call(s, "session/close", fmt.Sprintf(`{"sessionId":%q}`, id))
			delete(s.open, id)
		}),
		"": func(t *rapid.T) {
			for _, s := range k.proxies { // two proxies know of each other what the database has
				if s.c != nil {
					s.c.synced()
				}
			}
			for _, id := range k.model.ids() {
				if n := k.model.contexts(id); n > 1 && !k.model.inDoubt(id) {
					t.Fatalf("session %s has its context %d times", id, n)
				}
			}
		},
	}
}

// Whatever happens: a session that had a plain prompt succeed has its context, once unless there was doubt, and no
// client sees what it did not send.
func TestConversations(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("25")
		if testing.Short() {
			_ = f.Value.Set("8")
		}
	}
	if f := flag.Lookup("rapid.steps"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("20")
	}
	rapid.Check(t, func(rt *rapid.T) {
		h := newModel()
		h.glue = rapid.SampledFrom([]string{"chunks", "", " ", "\n"}).Draw(rt, "glue")
		h.echo, h.keeps = rapid.Bool().Draw(rt, "echo"), rapid.Bool().Draw(rt, "keeps")
		h.cancelled = rapid.SampledFrom([]session.Cancelled{"", session.CancelledKept, session.CancelledBegun,
			session.CancelledForgot}).Draw(rt, "cancelled")
		h.forks, h.silent = rapid.Bool().Draw(rt, "forks"), rapid.Bool().Draw(rt, "silent")
		k := &conversations{T: rt, w: newWorld(t), model: h, mem: newSource(), sent: map[string]bool{},
			words: map[string][]string{}}
		defer func() {
			for i := range k.proxies {
				k.leave(i, false)
			}
			k.w.db.Close()
		}()
		rt.Repeat(k.actions())
		k.T = rt
		s := k.up(0)
		for _, id := range k.model.ids() {
			k.load(s, id)
			k.say(s, id, "the last word", succeed)
			s.c.synced()
			if n := h.contexts(id); n == 0 || n > 1 && !h.inDoubt(id) {
				rt.Fatalf("in the end session %s has its context %d times: %q", id, n, h.sessions[id].turns)
			}
		}
		k.leave(0, false)
		k.leave(1, false)
		for _, id := range k.model.ids() {
			if got := k.w.session("model", id); got.State != correlation.Done {
				rt.Fatalf("in the end session %s is %q", id, got.State)
			}
		}
	})
}
