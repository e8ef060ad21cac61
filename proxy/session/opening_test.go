package session

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// making asks for new sessions, whose ids the harness has not named yet.
func (p *stage) making(keys ...string) {
	for _, key := range keys {
		p.asks(key, Opening{Kind: OpensNew, Cwd: "/tmp/x"})
	}
}

// judges an update that begins.
func (p *stage) update(id string, kind Update) (v wire.Verdict, s *Session) {
	p.do(func(c *Connection) { v, s, _ = c.JudgeUpdate([]byte(id), kind) })
	return v, s
}

// What becomes of an update when it begins, by its kind and by what is known of its session.
func TestUpdates(t *testing.T) {
	idle := func(p *stage) { steps["new"](p) }
	replays := func(p *stage) {
		steps["new"](p)
		p.asks("a", Opening{Kind: OpensKnown, Target: p.id})
	}
	talks := func(p *stage) { steps["new"](p); steps["slash"](p) }
	told := func(p *stage) { steps["new"](p); steps["prompt"](p) }
	dumb := func(p *stage) { p.dumb = true; steps["new"](p) }
	nobody := func(p *stage) { p.id = "nobody" }
	makes := func(p *stage) { nobody(p); p.making("1") }
	forks := func(p *stage) {
		nobody(p)
		p.asks("1", Opening{Kind: OpensFork, Target: "x"})
	}
	two := func(p *stage) { nobody(p); p.making("1", "2") }
	const tap, hold = wire.Tap, wire.Hold
	for _, tt := range []struct {
		name string
		with func(*stage)
		want map[Update]wire.Verdict // of the others: it passes
	}{
		{"no turn", idle, map[Update]wire.Verdict{Titles: tap, Commands: tap, Idles: hold, Reports: tap}},
		{"it replays", replays, map[Update]wire.Verdict{Ours: hold, Titles: hold, Commands: tap, Idles: hold, Reports: tap}},
		{"a turn", talks, map[Update]wire.Verdict{Words: tap, Titles: tap, Commands: tap, Idles: hold, Reports: tap}},
		{"a block", told, map[Update]wire.Verdict{Words: tap, Ours: hold, Titles: hold, Commands: tap, Idles: hold, Reports: tap}},
		{"not looked up", dumb, map[Update]wire.Verdict{Ours: hold, Titles: hold, Commands: tap, Idles: hold, Reports: tap}},
		{"nobody's", nobody, map[Update]wire.Verdict{Ours: hold}},
		{"being made", makes, map[Update]wire.Verdict{Titles: tap, Commands: tap, Idles: hold, Reports: tap}},
		{"a fork", forks, map[Update]wire.Verdict{Ours: hold, Titles: hold, Commands: tap, Idles: hold, Reports: tap}},
		{"one of two", two, map[Update]wire.Verdict{Ours: hold, Commands: tap}},
	} {
		onStage(t, func(p *stage) {
			p.start()
			tt.with(p)
			for kind := Other; kind <= Reports; kind++ {
				if got, _ := p.update(p.id, kind); got != max(tt.want[kind], wire.Pass) {
					p.Errorf("%s: an update of kind %d is %d", tt.name, kind, got)
				}
			}
		})
	}
}

// An id that nobody knows is that of the one session that is being made, the first of them at that. Commands that come
// before the response are the session's all the same.
func TestEarlyIDs(t *testing.T) {
	onStage(t, func(p *stage) {
		p.start()
		advertise := func(id, command string) {
			p.do(func(c *Connection) { c.Advertised(id, map[string]bool{command: true}) })
		}
		p.making("1")
		_, early := p.update("early", Reports)
		_, other := p.update("other", Reports)
		_, none := p.update("", Reports)
		if early == nil || other != nil || none != nil || early.Known().ID != "early" {
			p.Error("another id is taken for that of the session being made, or its own is not")
		}
		p.making("2")
		advertise("a", "one")
		advertise("b", "two")
		p.opens("2", OpeningAnswer{ID: "b"})
		p.opens("1", OpeningAnswer{ID: "a"})
		for id, command := range map[string]string{"a": "one", "b": "two"} {
			if s := p.c.sessions[id]; s == nil || !s.exists.commands[command] || len(s.exists.commands) != 1 {
				p.Errorf("%s: %+v", id, s)
			}
		}
		if len(p.c.making) != 0 || len(p.c.early) != 0 {
			p.Error("something is left of what was being made")
		}
		if e, ok := p.events[0].(correlation.Opened); !ok || !e.Open.New || !e.Open.Made.Equal(time.Now()) {
			p.Errorf("recorded: %+v", p.events[0])
		}
		if advertise("nobody", "x"); len(p.c.early) != 0 {
			p.Error("commands of nobody are kept")
		}
		p.making("3")
		for n := range 40 {
			advertise(fmt.Sprint("n", n), "x")
		}
		if len(p.c.early) != 32 {
			p.Errorf("commands of %d sessions are kept", len(p.c.early))
		}
	})
}

// Of a session that is switched off nothing more is inserted or recorded but that; of one that was forgotten, nothing.
func TestSilence(t *testing.T) {
	forget := func(more int) func(*stage, *Session) {
		return func(p *stage, s *Session) { p.do(func(c *Connection) { c.Forget([]int{s.Number + more}) }) }
	}
	for name, tt := range map[string]struct {
		quiet  func(*stage, *Session)
		events int
	}{
		"off":               {func(p *stage, s *Session) { p.reads(s.turns.last, Said{Off: true}) }, 1},
		"forgotten":         {forget(0), 0},
		"another forgotten": {forget(1), -1},
	} {
		onStage(t, func(p *stage) {
			p.start()
			steps["new"](p)
			steps["prompt"](p)
			s := p.session()
			_, open := p.judges("open")
			p.events = nil
			tt.quiet(p, s)
			p.do(func(c *Connection) {
				c.Used(s, Usage{})
				c.Titled([]byte(p.id), "A title", false)
				c.ChunkCame(open, "")
			})
			v, _ := p.judges("x")
			p.do(func(c *Connection) {
				if steers := c.JudgeSteering([]byte(p.id)) != nil; steers != (v == wire.Tap) {
					p.Errorf("%s: steering is looked at: %t", name, steers)
				}
			})
			due := p.due()
			if tt.events >= 0 && (len(p.events) != tt.events || v != wire.Pass || len(due.Titles) != 0) {
				p.Errorf("%s: recorded %+v, the prompt is %d, %d titles", name, p.events, v, len(due.Titles))
			}
			if tt.events < 0 && (len(p.events) == 0 || v != wire.Tap || len(due.Titles) != 1) {
				p.Errorf("%s: recorded %+v, the prompt is %d", name, p.events, v)
			}
			if off := s.Known().Off; off != (tt.events >= 0) {
				p.Errorf("%s: known as off: %t", name, off)
			}
		})
	}
}

// A session that the client has closed has left once its last words are recorded, unless it is open again by then. What
// it was given is released then.
func TestClosed(t *testing.T) {
	for when, again := range map[string]bool{"": false, "then": true, "before": true} {
		onStage(t, func(p *stage) {
			p.start()
			steps["new"](p)
			steps["prompt"](p)
			s := p.session()
			released := false
			p.do(func(c *Connection) { c.Serve(s, func() { released = true }) })
			if when == "before" {
				p.asks("a", Opening{Kind: OpensKnown, Target: p.id})
			}
			p.events = nil
			if p.do(func(c *Connection) { c.Closed(s, "session/close") }); p.session() != nil || p.c.Busy() {
				p.Error("it is still there")
			}
			switch when {
			case "then":
				steps["load"](p)
			case "before":
				p.opens("a", OpeningAnswer{})
			}
			closed := false
			p.do(func(c *Connection) {
				var releases []func()
				closed, releases = c.RecordClosings()
				for _, release := range releases {
					release()
				}
			})
			left := slices.ContainsFunc(p.events, func(e correlation.Event) bool { _, is := e.(correlation.Closed); return is })
			opened := slices.ContainsFunc(p.events, func(e correlation.Event) bool { _, is := e.(correlation.Opened); return is })
			if closed == again || left == again || opened != again || released == again {
				p.Errorf("opened %s: left: %t, %t, opened: %t; released %t", when, closed, left, opened, released)
			}
		})
	}
}

// What the harness refused to open is nothing, unless it was open before.
func TestNotOpened(t *testing.T) {
	onStage(t, func(p *stage) {
		p.start()
		steps["new"](p)
		open := p.id
		for _, tt := range []struct {
			opening Opening
			known   bool
			gone    bool
		}{
			{Opening{Kind: OpensKnown, Target: "nobody"}, false, true},
			{Opening{Kind: OpensKnown, Target: open}, true, false},
			{Opening{Kind: OpensNew}, false, true},
		} {
			s := p.asks("a", tt.opening)
			p.opens("a", OpeningAnswer{Failed: true})
			if known := p.c.sessions[s.ID()] == s; known != tt.known || len(p.c.making) > 0 {
				p.Errorf("%+v: it is known: %t", tt.opening, known)
			}
			if mayContinue := p.c.failed != nil; mayContinue != (tt.opening.Target == "nobody") {
				p.Errorf("%+v: the next session may continue it: %t", tt.opening, mayContinue)
			}
			if gone := slices.Contains(p.c.waiting.gone, s); gone != tt.gone {
				p.Errorf("%+v: gone: %t", tt.opening, gone)
			}
		}
	})
}

// A session whose response names no id is none, and what is said about sessions that nobody knows means nothing.
func TestNobody(t *testing.T) {
	onStage(t, func(p *stage) {
		p.start()
		p.making("a")
		p.opens("a", OpeningAnswer{})
		id := []byte("nobody")
		p.do(func(c *Connection) {
			c.OpeningAnswered(Request{Opening: Opening{Kind: OpensNew, Early: true}}, OpeningAnswer{ID: "not to be edited"})
			v, turn := c.JudgePrompt(id, "", false)
			u, s, now := c.JudgeUpdate(id, Idles)
			shown, wait := c.UserShown(id, 1, true, true)
			titled, from := c.TitleShown("nobody", "x")
			last, _ := c.HarnessIdle(id, PromptAnswer{})
			if _, ok := c.Answered("nobody"); ok || v != wire.Pass || turn != nil || u != wire.Pass || s != nil || now != nil ||
				shown.Label() != "" || wait || titled != nil || from != nil || c.JudgeSteering(id) != nil ||
				c.HoldPrompt(id, "", nil, saying("x")) != nil || last != nil ||
				c.Given("nobody").Session != nil {
				p.Error("somebody is meant")
			}
			c.Titled(id, "x", false)
			c.TitledByClient(id)
			c.Cancel(id, "")
		})
		if n := len(p.c.Sessions()); n != 0 {
			p.Errorf("%d sessions", n)
		}
	})
}

// A look-up waits for those about sessions that the new one may continue.
func TestLookupsInTurn(t *testing.T) {
	onStage(t, func(p *stage) {
		p.dumb = true
		p.start()
		p.asks("a", Opening{Kind: OpensKnown, Target: "old"})
		p.making("b")
		if len(p.asked) != 1 || p.asked[0].ID != "old" {
			p.Fatalf("asked: %+v", p.asked)
		}
		p.answer()
		if len(p.asked) != 1 || p.asked[0].Kind != OpensNew {
			p.Errorf("asked then: %+v", p.asked)
		}
		before := &correlation.Session{ID: 7, State: correlation.Off}
		p.do(func(c *Connection) { c.Found(p.asked[0], Found{Record: "r", Known: before}) })
		if e := p.c.making[0].exists; e.Open.ContinueOf != 7 || e.Open.Record != "r" || e.silence != off {
			p.Errorf("of a record whose last session is off: %+v", e)
		}
	})
}

// The ledger is waited for where there are events of a session, or of one that it comes from.
func TestRecordedFirst(t *testing.T) {
	onStage(t, func(p *stage) {
		p.start()
		steps["new"](p)
		p.dumb = true
		p.asks("1", Opening{Kind: OpensFork, Target: p.id})
		p.asks("2", Opening{Kind: OpensKnown, Target: "another"})
		p.asks("3", Opening{Kind: OpensKnown, Target: p.id})
		var recorded []bool
		for _, l := range p.asked {
			recorded = append(recorded, l.Recorded)
		}
		if !slices.Equal(recorded, []bool{true, false, true}) {
			p.Errorf("something is recorded first: %v", recorded)
		}
	})
}

// What is private in one prompt nothing recorded later may repeat.
func TestPrivate(t *testing.T) {
	onStage(t, func(p *stage) {
		p.start()
		steps["new"](p)
		steps["prompt"](p)
		s := p.session()
		p.due()
		p.do(func(c *Connection) {
			c.Recorded(s, nil, []string{"one"})
			if all := c.Recorded(s, nil, []string{"two"}); !slices.Equal(all, []string{"one", "two"}) {
				p.Errorf("private: %q", all)
			}
			c.Titled([]byte(p.id), "A title", false)
		})
		steps["prompt"](p)
		due := p.due()
		if len(due.Titles) != 1 || len(due.Turns) != 1 || !slices.Equal(due.Titles[0].Private, due.Turns[0].Private) ||
			len(due.Turns[0].Private) != 2 || len(due.Titles[0].Blocks) != 1 {
			p.Errorf("due: %+v", due)
		}
	})
}
