package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// kinds are what can happen, in the order in which it is told.
var kinds = []string{"Frame", "Session", "Turn", "Request", "Title", "Wait", "Record", "Ended", "Soon", "Later", "Full",
	"Closed", "Lookups", "Orphan", "Rows", "Fetches", "Recall", "Claim", "Held", "Who", "Mode", "Off", "Busy", "Sessions",
	"Blocks", "Known", "Lost", "Due", "Leaves"}

// told returns what has happened by something, which nothing follows.
func (p *stage) told(by func(*stage)) string {
	p.effects, p.still = map[string][]string{}, true
	by(p)
	time.Sleep(3 * time.Second) // what is late has come then
	synctest.Wait()
	var all []string
	for _, kind := range kinds {
		what := p.effects[kind]
		switch {
		case len(what) == 0:
		case what[0] == "true":
			all = append(all, kind)
		case kind == "Record", kind == "Lookups", kind == "Sessions", kind == "Blocks", kind == "Rows":
			all = append(all, kind+" ["+strings.Join(what, " ")+"]")
		default:
			all = append(all, kind+" "+strings.Join(what, " "))
		}
	}
	return strings.Join(all, ", ")
}

func effect(what any) string {
	switch what := what.(type) {
	case wire.Verdict:
		return map[wire.Verdict]string{wire.Tap: "look", wire.Hold: "hold"}[what]
	case *Session:
		return what.ID()
	case *Turn:
		return fmt.Sprint(what.Number)
	case *Injection:
		return what.Kind
	case correlation.Event:
		text, _ := json.Marshal(what)
		return strings.TrimPrefix(fmt.Sprintf("%T", what), "correlation.") + strings.ReplaceAll(string(text), `"`, "")
	case *Lookup:
		return fmt.Sprintf("{%s row %d had %t}", what.ID, what.Row, what.Had)
	case Due:
		var due []string
		for _, d := range what.Turns {
			one := fmt.Sprintf("turn %d", d.Turn.Number)
			for _, p := range d.Prompts {
				words, _ := p.Words()
				one += " " + words
			}
			for _, tool := range d.Tools {
				one += " tool " + tool.ID
			}
			if d.Ended {
				one += " ended"
			}
			if d.Off {
				one += " off"
			}
			due = append(due, one)
		}
		for _, t := range what.Titles {
			due = append(due, "title "+t.Text)
		}
		for _, t := range what.Summaries {
			due = append(due, "summary "+t.Text)
		}
		return "{" + strings.Join(due, "; ") + "}"
	case memory.Session:
		return strings.Join([]string{what.Key, what.Harness, what.Cwd, what.ParentKey}, " ")
	}
	return fmt.Sprint(what)
}

// What happens, and what comes of it.
func TestEffects(t *testing.T) {
	play := func(names ...string) func(*stage) {
		return func(p *stage) {
			for _, name := range names {
				steps[name](p)
			}
		}
	}
	is := func(f func(*stage, *Connection)) func(*stage) {
		return func(p *stage) { p.do(func(c *Connection) { f(p, c) }) }
	}
	// of is of the session, and of its current turn.
	of := func(f func(c *Connection, s *Session, now *Turn)) func(*stage) {
		return is(func(p *stage, c *Connection) { f(c, p.session(), p.session().turns.current()) })
	}
	judges := func(key string) func(*stage) {
		return func(p *stage) {
			if v, t := p.judges(key); v != wire.Pass {
				if p.say("Frame", v); t != nil {
					p.say("Turn", t)
				}
			}
		}
	}
	dueNow := func(p *stage) {
		if due := p.due(); len(due.Turns)+len(due.Titles)+len(due.Summaries) > 0 {
			p.say("Due", due)
		}
	}
	// turn has a prompt leave without a block, which is not read yet.
	turn := func(p *stage) {
		play("new", "prompt")(p)
		p.due()
		p.judges("a")
	}
	dumb := func(then func(*stage)) func(*stage) { return func(p *stage) { p.dumb = true; then(p) } }
	see := func(before func(*stage), then ...func(*stage)) func(*stage) {
		return func(p *stage) {
			before(p)
			for _, one := range then {
				one(p)
			}
		}
	}
	known := func(p *stage) {
		k := p.session().Known()
		if p.say("Who", k.Who); k.Mode != "" {
			p.say("Mode", k.Mode)
		}
		if k.Off {
			p.say("Off", true)
		}
	}
	settles := func(p *stage) { // and who waits for that waits
		if known(p); !p.session().Settled() {
			p.say("Wait", true)
		}
	}
	mode := func(mode string) func(*stage) {
		return of(func(c *Connection, s *Session, _ *Turn) { c.ModeSet(s, mode) })
	}
	record := func(id string) func(*stage) {
		return of(func(c *Connection, s *Session, _ *Turn) { c.RecordFound(s, id) })
	}
	records := func(client string) func(*stage) {
		return is(func(p *stage, c *Connection) {
			for _, s := range c.WithoutRecord(client) {
				p.say("Sessions", s)
			}
		})
	}
	blocks := is(func(p *stage, c *Connection) {
		g := c.Given(p.id)
		p.say("Session", g.Session)
		for _, b := range g.Blocks {
			p.say("Blocks", b)
		}
		if g.Known {
			p.say("Known", true)
		}
	})
	closes := of(func(c *Connection, s *Session, _ *Turn) { c.Closed(s, "session/close") })
	goes := is(func(p *stage, c *Connection) {
		if c.Busy() {
			p.say("Busy", true)
		}
	})
	talking := is(func(p *stage, c *Connection) {
		for _, s := range c.Talking() {
			p.say("Sessions", s)
		}
	})
	responds := func(key string) func(*stage) {
		return is(func(p *stage, c *Connection) {
			if c.Awaits(func() string { return key }) {
				p.say("Frame", wire.Hold)
			}
		})
	}
	looked := func(said Said) func(*stage) {
		return func(p *stage) {
			now := p.session().turns.current()
			p.do(func(c *Connection) { c.PromptRead(now, 5, said) })
		}
	}
	titled := func(text string) func(*stage) {
		return is(func(p *stage, c *Connection) { c.Titled([]byte(p.id), text, false) })
	}
	tool := of(func(c *Connection, s *Session, _ *Turn) { c.ToolCalled(s, correlation.ToolCall{ID: "t"}, false) })
	piece := func(id, text string) func(*stage) {
		return of(func(c *Connection, s *Session, _ *Turn) { c.SummaryCame(s, id, text) })
	}
	compacts := func(id, status string) func(*stage) {
		return of(func(c *Connection, s *Session, _ *Turn) { c.Compaction(s, id, status, nil) })
	}
	answered := func(key string, answer PromptAnswer) func(*stage) {
		return func(p *stage) {
			if t, _ := p.answers(key, answer); t != nil {
				p.say("Turn", t)
			}
		}
	}
	tokens := int64(5)
	used := func(u Usage) func(*stage) { return of(func(c *Connection, s *Session, _ *Turn) { c.Used(s, u) }) }
	ends := is(func(p *stage, c *Connection) {
		closed, releases := c.RecordClosings()
		if closed {
			p.say("Closed", true)
		}
		for _, release := range releases {
			release()
		}
	})
	say := looked(saying("go"))
	off := looked(Said{Off: true})
	lost := func(n int) func(*stage) {
		return of(func(c *Connection, _ *Session, now *Turn) { c.ChunkCame(now, ""); c.Lost(now, n) })
	}
	unread := of(func(c *Connection, _ *Session, now *Turn) { c.Lost(now, 3) })
	harnessEnds := is(func(p *stage, c *Connection) { p.say("Lost", c.HarnessEnded()) })
	errBusy, parent, nobody := errors.New("busy"), "PK", ""
	nothing := func(*stage) {}
	asks := func(key string, o Opening) func(*stage) {
		return func(p *stage) {
			if s := p.asks(key, o); s != nil {
				p.say("Session", s)
			}
		}
	}
	opens := func(key string, answer OpeningAnswer) func(*stage) {
		return func(p *stage) {
			if s := p.opens(key, answer); s != nil {
				p.say("Session", s)
			}
		}
	}
	load := func(id string) func(*stage) { return asks("l", Opening{Kind: OpensKnown, Target: id, Cwd: "/w"}) }
	reload := func(p *stage) { load(p.id)(p) }
	again := func(p *stage) { p.dumb = true; reload(p) } // and the ledger does not answer
	loaded, failed := opens("l", OpeningAnswer{}), opens("l", OpeningAnswer{Failed: true})
	fork := func(id string) func(*stage) { return asks("f", Opening{Kind: OpensFork, Target: id}) }
	forks := func(p *stage) { fork(p.id)(p) }
	forked := opens("f", OpeningAnswer{ID: "child"})
	makes, made := asks("n", Opening{Kind: OpensNew, Cwd: "/w"}), opens("n", OpeningAnswer{ID: "new"})
	early := asks("n", Opening{Kind: OpensNew, Early: true})
	// finds and asked are answers of the ledger, to what it was asked as the n-th.
	finds := func(n int, found Found) func(*stage) {
		return is(func(p *stage, c *Connection) {
			orphan, rows := c.Found(p.asked[n], found)
			if orphan {
				p.say("Orphan", true)
			}
			for _, row := range rows {
				p.say("Rows", row)
			}
			p.say("Who", p.asked[n].Session.exists.who())
		})
	}
	asked := func(n int, answer LookedUp) func(*stage) {
		return is(func(p *stage, c *Connection) { c.LookedUp(p.asked[n], answer) })
	}
	found := func(n int, state correlation.State, parent string) func(*stage) {
		return finds(n, Found{Known: &correlation.Session{ID: 7, Key: "K", Harness: "model", State: state, ParentKey: parent}})
	}
	fetched := func(id string, stored json.RawMessage, err error) func(*stage) {
		return is(func(_ *stage, c *Connection) {
			c.FetchEnded(c.sessions[id].context.fetch, memory.Context{}, stored, err)
		})
	}
	judged := judges("h")
	held := func(text string) func(*stage) {
		return is(func(p *stage, c *Connection) {
			if c.HoldPrompt([]byte(p.id), "h", promptOf(text), saying(text)) != nil {
				p.say("Held", "there")
			}
		})
	}
	// meanwhile has the held prompt leave, and something happen while it waits. As long as nothing comes that it waits for,
	// the clock goes on.
	meanwhile := func(then ...func(*stage)) func(*stage) {
		return func(p *stage) {
			h := p.session().context.held
			left := p.releases(h)
			for _, one := range then {
				one(p)
			}
			in := <-left
			what := fmt.Sprint(time.Since(h.Read))
			if in != nil {
				what += " with " + in.Kind
			}
			synctest.Wait()
			p.say("Leaves", what)
		}
	}
	leaves := meanwhile()
	claims := func(answers ...error) func(*stage) { return func(p *stage) { p.claims = answers } }
	slowly := func(by time.Duration) func(*stage) { return func(p *stage) { p.lateBy = by } }
	later := func(by time.Duration) func(*stage) { return func(*stage) { time.Sleep(by) } }
	with := func(change func(*stage), then func(*stage)) func(*stage) {
		return func(p *stage) { change(p); p.start(); then(p) }
	}
	talks := func(p *stage) {
		p.o.Messages = func(string) []memory.Item { return []memory.Item{{ID: "m1"}, {ID: "m8", Text: "Hello."}} }
	}
	sent := func(then func(*stage)) func(*stage) { // meanwhile
		return func(p *stage) { then(p); talks(p); p.c.o.Messages = p.o.Messages }
	}
	searches := func(p *stage) { p.slow = true }
	forgotten := is(func(_ *stage, c *Connection) { c.Forget([]int{1}) })
	cancels := is(func(p *stage, c *Connection) { c.Cancel([]byte(p.id), "") })
	recalled := is(func(p *stage, _ *Connection) {
		p.session().context.held.Found = &memory.Context{Items: []memory.Item{{ID: "m7", Text: "tea"}}}
	})
	away := func(p *stage) { p.err = memory.ErrUnavailable }
	broken := func(p *stage) { p.err = errBusy }
	comes := func(p *stage) { p.late, p.slow = true, true }
	x := func(then func(*stage)) func(*stage) { return func(p *stage) { p.id = "x"; dumb(then)(p) } }
	making := func(p *stage) { p.say("Who", p.c.making[0].Known().Who) }
	shown := func(users, marked bool) func(*stage) {
		return is(func(p *stage, c *Connection) {
			s, wait := c.UserShown([]byte(p.id), 5, users, marked)
			if p.say("Session", s); wait {
				p.say("Wait", true)
			}
		})
	}
	update := func(kind Update) func(*stage) {
		return is(func(p *stage, c *Connection) {
			v, s, t := c.JudgeUpdate([]byte(p.id), kind)
			if v != wire.Pass {
				p.say("Frame", v)
			}
			if p.say("Session", s); t != nil {
				p.say("Turn", t)
			}
		})
	}
	ours := update(Ours)
	// unanswered has a prompt with a block answered after a later one was.
	unanswered := func(before ...string) func(*stage) {
		return see(play(append(before, "hangs")...), judges("b"), answered("b", PromptAnswer{Stop: StopEnd}))
	}
	after := func(answer PromptAnswer) func(*stage) {
		return func(p *stage) {
			for key, r := range p.c.pending {
				if r.Injection != nil {
					answered(key, answer)(p)
				}
			}
		}
	}
	system := of(func(c *Connection, s *Session, _ *Turn) { c.Placed(s, block("You are Alto.", KindSystem)) })
	placed := func(p *stage) {
		s := p.asks("n", Opening{Kind: OpensNew, Cwd: "/w"})
		p.do(func(c *Connection) { c.Placed(s, block("You are Alto.", KindSystem)) })
		p.id = "placed"
		p.opens("n", OpeningAnswer{ID: p.id})
	}
	cutsTitles := func(p *stage) { p.traits.TitleLength = 100 }
	titleShown := func(text string) func(*stage) {
		return is(func(p *stage, c *Connection) {
			s, from := c.TitleShown(p.id, text)
			if p.say("Session", s); from != nil {
				p.say("Title", from)
			}
		})
	}
	acpx := is(func(_ *stage, c *Connection) { c.ClientGreeted(Program{Name: "acpx"}, "0", "") })
	stored := correlation.Session{ID: 7, Key: "K", Harness: "model", State: correlation.IdentityGiven}
	given := []correlation.Injection{{Session: 7, Kind: kindIdentity, Text: "x"}}
	recorded := of(func(c *Connection, s *Session, now *Turn) {
		c.Recorded(s, now, nil, correlation.UserSaid{Turn: now.Number, Text: "go"})
	})
	dropped := func(then func(*Connection, *Turn)) func(*stage) {
		return func(p *stage) {
			now := p.session().turns.current()
			p.do(func(c *Connection) { c.PromptRead(now, 0, Said{Off: true}) })
			p.effects = map[string][]string{}
			p.do(func(c *Connection) { then(c, now) })
		}
	}
	quickCommand := func(p *stage) {
		t := p.session().turns.last
		p.do(func(c *Connection) { c.PromptRead(t, 0, saying("/clear")) })
	}
	for _, tt := range []struct {
		name   string
		before func(*stage)
		then   func(*stage)
		want   string
	}{
		// what is asked about sessions
		{"blocks", play("new", "prompt"), blocks, "Session s2, Blocks [context], Known"},
		{"blocks before the ledger answers", dumb(play("new")), blocks, "Session s1"},
		{"records", play("new"), records("tester"), "Sessions [s2]"},
		{"records of another client", play("new"), records("other"), ""},
		{"records that are known", see(play("new"), record("r")), records("tester"), ""},
		{"records of a loaded session", play("new", "ends", "load"), records("tester"), ""},
		{"records of a closed session", see(play("new"), closes), records("tester"), ""},
		{"a record", play("new"), record("r"), "Record [RecordKnown{session:1,record:r}], Soon"},
		{"the same record", see(play("new"), record("r")), record("r"), ""},
		{"a session", play("new"), settles, "Who key-2 model /tmp/x "},
		{"a session before the ledger answers", dumb(play("new")), settles, "Wait, Who  model /tmp/x "},
		{"a session too late", dumb(play("new")), known, "Who  model /tmp/x "},
		{"a session at once", dumb(play("new")), known, "Who  model /tmp/x "},
		{"a session that is off", dumb(play("new off")), settles, "Who  model /tmp/x , Off"},
		{"its mode", see(play("new"), mode("plan"), mode("")), known, "Who key-2 model /tmp/x , Mode plan"},
		{"the client goes", play("new"), goes, ""},
		{"the client goes in a turn", turn, goes, "Busy"},
		{"turns under way", turn, talking, "Sessions [s2]"},
		{"turns of a session that is off", see(turn, off), talking, ""},
		{"a response, none is awaited", play("new"), responds("b"), ""},
		{"a response", turn, responds("a"), "Frame hold"},
		{"another response", turn, responds("b"), ""},
		{"the response to initialize", see(play("new"), is(func(_ *stage, c *Connection) { c.ClientGreeted(Program{}, "i", "initialize") })), responds("i"), "Frame hold"},

		// prompts
		{"a prompt", turn, say, "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon"},
		{"that switches off", turn, off, "Record [Stepped{session:1,event:{name:switched off}}], Soon"},
		{"that switches off, then", see(turn, off), dueNow, ""},
		{"cut", see(turn, looked(Said{Prompt: Prompt{Size: 2, Omitted: 7}})), answered("a", PromptAnswer{Stop: StopEnd}), "Turn 2, Request there, Ended TurnEnded{turn:2,stop:end_turn,lost:7}, Soon"},
		{"a turn ends", see(turn, say, dueNow), answered("a", PromptAnswer{Stop: StopEnd}), "Turn 2, Request there, Ended TurnEnded{turn:2,stop:end_turn}, Soon"},
		{"a turn ends, then", see(turn, say, dueNow, answered("a", PromptAnswer{Stop: StopEnd})), dueNow, "Due {turn 2 ended}"},
		{"a turn that was lost in part", see(turn, say, lost(5), unread), answered("a", PromptAnswer{Stop: StopEnd}), "Turn 2, Request there, Ended TurnEnded{turn:2,stop:end_turn,lost:8}, Soon"},
		{"what was lost", see(turn, lost(5), unread), harnessEnds, "Lost 8"},
		{"a turn ends in a session that is off", see(turn, off), answered("a", PromptAnswer{Stop: StopEnd}), "Turn 0, Request there"},
		{"accepted", see(turn, say, dueNow), answered("a", PromptAnswer{Accepted: true}), "Request there, Soon"},
		{"what a turn used", see(turn, say, dueNow), answered("a", PromptAnswer{Stop: StopEnd,
			Usage: []Usage{{Usage: correlation.Usage{Input: &tokens}, OfTurn: true}}}), "Turn 2, Request there, Record [UsageReported{session:1,turn:2,usage:{reporter:,input:5}}], Ended TurnEnded{turn:2,stop:end_turn}, Soon"},
		{"steering", see(turn, say, dueNow), of(func(c *Connection, s *Session, _ *Turn) { c.Steered(s, 1, words("stop")) }), "Soon"},
		{"a cancel in a turn", turn, cancels, ""},
		{"a prompt with a key that is in use", see(turn, say, dueNow), judges("a"), "Frame look, Turn 0, Record [TurnEnded{turn:2,stop:unanswered}], Soon"},
		{"a list with a key that is in use", play("new"), is(func(_ *stage, c *Connection) { c.Asked("a", "session/list", nil) }), ""},

		// updates
		{"the turn of a chunk", turn, is(func(p *stage, c *Connection) { p.say("Turn", c.TurnOf(p.session())) }), "Turn 0"},
		{"the turn of a closed session's chunk", see(turn, closes), func(p *stage) {
			s := p.c.waiting.closed[0]
			p.do(func(c *Connection) {
				if c.TurnOf(s) != nil {
					p.say("Turn", c.TurnOf(s))
				}
			})
		}, ""},
		{"a chunk", see(turn, say, dueNow), lost(0), "Later"},
		{"a chunk, then", see(turn, say, dueNow, lost(0)), dueNow, "Due {turn 2}"},
		{"a tool", see(turn, say, dueNow), tool, "Later"},
		{"a tool, then", see(turn, say, dueNow, tool), dueNow, "Due {turn 2 tool t}"},
		{"usage", see(turn, say, dueNow), used(Usage{Usage: correlation.Usage{Input: &tokens}}), "Record [UsageReported{session:1,turn:2,usage:{reporter:,input:5}}], Soon"},
		{"usage of the window", see(turn, say, dueNow), used(Usage{Window: true}), "Record [UsageReported{session:1,turn:2,usage:{reporter:}}], Soon"},
		{"a summary in pieces", see(play("new"), compacts("1", "in_progress"), piece("1", "so "), piece("1", "far"), compacts("1", "completed")), dueNow, "Due {summary so far}"},
		{"a summary of another", see(play("new"), piece("1", "so "), piece("2", "far"), compacts("2", "completed")), dueNow, "Due {summary far}"},
		{"a compaction dueNow", play("new"), compacts("1", "in_progress"), "Record [Compacting{session:1}], Soon"},
		{"a compaction fails", play("new"), compacts("1", "failed"), ""},
		{"a compaction in a session that is off", play("new off"), compacts("1", "in_progress"), ""},
		{"a title", play("new"), titled("A title"), "Soon"},
		{"the same title", see(play("new"), titled("A title")), titled("A title"), ""},
		{"no title", play("new"), titled(""), ""},
		{"titles, then", see(play("new"), titled("A title"), titled("Another")), dueNow, "Due {title Another}"},

		// look-ups
		{"a load", nothing, load("x"), "Session x, Lookups [{x row 0 had false}]"},
		{"a load of one that is known", play("new", "prompt"), reload, "Session s2, Lookups [{s2 row 0 had true}]"},
		{"a fork", play("new", "prompt"), forks, "Session , Lookups [{s2 row 0 had true}]"},
		{"a fork of one that is not here", nothing, fork("x"), "Session , Lookups [{x row 0 had false}]"},
		{"a fork before the ledger answers", dumb(see(nothing, load("x"))), fork("x"), "Session "},
		{"its parent is known then", dumb(see(nothing, load("x"), fork("x"))), asked(0, LookedUp{}), "Soon, Lookups [{x row 0 had false}], Fetches there"},
		{"a new one that may continue others", dumb(see(nothing, load("x"))), makes, "Session "},
		{"found", dumb(see(nothing, load("x"))), found(0, correlation.Armed, ""), "Rows [7 0], Who K model /w "},
		{"found, told", dumb(see(nothing, load("x"))), found(0, correlation.Done, ""), "Who K model /w "},
		{"found, off", dumb(see(nothing, load("x"))), found(0, correlation.Off, ""), "Who K model /w "},
		{"found, a child", dumb(see(nothing, load("x"))), found(0, correlation.Done, "PK"), "Who K model /w PK"},
		{"not found", dumb(see(nothing, load("x"))), finds(0, Found{}), "Orphan, Rows [0 0], Who  model /w "},
		{"a new one, alone", dumb(see(nothing, makes)), finds(0, Found{Record: "r"}), "Orphan, Rows [0 0], Who  model /w "},
		{"a new one that continues an unused one", dumb(see(nothing, makes)), found(0, correlation.Armed, ""), "Orphan, Rows [0 7], Who  model /w "},
		{"a new one that continues a used one", dumb(see(nothing, makes)), found(0, correlation.Done, ""), "Orphan, Rows [0 0], Who  model /w "},
		{"no longer found", see(play("new", "prompt"), again), finds(0, Found{}), "Who key-2 model /tmp/x "},
		{"no longer found, then", see(play("new", "prompt"), again, finds(0, Found{})), titled("A title"), ""},
		{"looked up", dumb(see(nothing, load("x"), found(0, correlation.Armed, ""))), asked(0, LookedUp{}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:K}} Rekeyed{session:1,key:key-1}], Soon, Fetches there"},
		{"looked up, unknown", dumb(see(nothing, load("x"))), asked(0, LookedUp{Unknown: true}), "Soon, Fetches there"},
		{"looked up in vain", dumb(see(nothing, load("x"))), asked(0, LookedUp{Err: errBusy}), "Soon"},
		{"looked up, no ledger", dumb(see(nothing, load("x"))), asked(0, LookedUp{None: true, Err: errBusy}), "Soon"},
		{"no ledger, opened", dumb(see(nothing, load("x"), asked(0, LookedUp{None: true, Err: errBusy}))), loaded, "Session x, Request there, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon"},
		{"in vain, opened", dumb(see(nothing, load("x"), asked(0, LookedUp{Err: errBusy}))), loaded, "Session x, Request there, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon"},
		{"unknown, opened", dumb(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}))), loaded, "Session x, Request there, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}} ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}}], Soon"},
		{"opened, unknown", dumb(see(nothing, load("x"), loaded)), asked(0, LookedUp{Unknown: true}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon, Fetches there"},
		{"opened, off", dumb(see(nothing, load("x"), loaded, found(0, correlation.Off, ""))), asked(0, LookedUp{}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:K}}], Soon"},
		{"opened, a child", dumb(see(nothing, load("x"), loaded)), asked(0, LookedUp{Unknown: true, Parent: &parent}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,parentKey:PK,key:key-1}}], Soon, Fetches there"},
		{"opened, nobody's child", dumb(see(nothing, load("x"), loaded)), asked(0, LookedUp{Unknown: true, Parent: &nobody}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon, Fetches there"},
		{"a child after all", see(play("new", "prompt"), again), asked(0, LookedUp{Parent: &parent}), "Record [ParentKnown{session:1,key:PK}], Soon"},
		{"nobody's child after all", see(play("new", "prompt"), again), asked(0, LookedUp{Parent: &nobody}), "Soon"},
		{"with a stored context", dumb(see(nothing, load("x"), found(0, correlation.Armed, ""))), asked(0, LookedUp{Key: "K2", Stored: []byte("{}")}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:K2}} ContextStored{session:1,key:K2,fetched:0001-01-01T00:00:00Z,context:{}}], Soon"},
		{"with a stored context, opened", dumb(see(nothing, load("x"), loaded, found(0, correlation.Armed, ""))), asked(0, LookedUp{Key: "K2", Stored: []byte("{}")}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:K2}} ContextStored{session:1,key:K2,fetched:0001-01-01T00:00:00Z,context:{}}], Soon"},
		{"opened again since", dumb(see(nothing, load("x"), loaded, load("x"))), asked(0, LookedUp{}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon"},
		{"opened again since, both", dumb(see(nothing, load("x"), loaded, load("x"), asked(0, LookedUp{}))), asked(0, LookedUp{}), "Soon"},
		{"opened again since, the later first", dumb(see(nothing, load("x"), loaded, load("x"), asked(1, LookedUp{}))), asked(0, LookedUp{Err: errBusy}), "Soon"},
		{"the later first, then", dumb(see(nothing, load("x"), loaded, load("x"), asked(1, LookedUp{}), asked(0, LookedUp{Err: errBusy}))), func(p *stage) { p.id = "x"; judged(p) }, "Frame hold"},

		// fetches
		{"a fetch ends", dumb(see(nothing, load("x"), loaded, asked(0, LookedUp{Unknown: true}))), fetched("x", []byte("{}"), nil), "Record [ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{}}], Soon"},
		{"a fetch ends with nothing", dumb(see(nothing, load("x"), loaded, asked(0, LookedUp{Unknown: true}))), fetched("x", nil, nil), "Soon"},
		{"a fetch that spends its key", dumb(see(nothing, load("x"), loaded, asked(0, LookedUp{Unknown: true}))), fetched("x", nil, memory.ErrKeySpent), "Record [Rekeyed{session:1,key:key-2,spent:key-1}], Soon"},
		{"a fetch that spends its key, not opened", dumb(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}))), fetched("x", nil, memory.ErrKeySpent), "Soon"},
		{"a fetch that spends its key, opened then", dumb(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}), fetched("x", nil, memory.ErrKeySpent))), loaded, "Session x, Request there, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-2}} ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} Rekeyed{session:1,key:key-2,spent:key-1}], Soon"},

		// what is held, and why
		{"before the ledger answers", x(see(nothing, load("x"))), judged, "Frame hold"},
		{"told", play("new", "prompt"), judged, "Frame look, Turn 0"},
		{"told, a message", sent(play("new", "prompt")), judged, "Frame hold"},
		{"told, the ledger has failed", see(play("new", "prompt"), again, asked(0, LookedUp{Err: errBusy})), judged, "Frame hold"},
		{"without a ledger", x(see(nothing, load("x"), asked(0, LookedUp{None: true}))), judged, "Frame look, Turn 0"},
		{"behind a held one", see(play("new"), held(plain)), judged, "Frame look, Turn 0"},
		{"off", play("new off"), judged, ""},
		{"a held prompt", play("new"), held(plain), "Soon, Recall 1.4s, Held there"},
		{"a held prompt before the ledger answers", x(see(nothing, load("x"))), held("short"), "Soon, Held there"},
		{"a held prompt of an unknown session", x(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}))), held("short"), "Soon, Recall 1.4s, Held there"},
		{"a held prompt in doubt", play("new", "fails"), held(plain), "Soon, Held there"},
		{"a held prompt for a message", sent(play("new", "prompt")), held(plain), "Soon, Held there"},
		{"a held prompt, the memories are late", with(late, play("new", "prompt")), held(plain), "Soon, Held there"},
		{"a held prompt, the memories have come", with(late, play("new", "prompt", "memories come")), held(plain), "Soon, Recall 300ms, Held there"},
		{"a held prompt of a session that is off", play("new off"), held(plain), ""},
		{"a held command", play("new"), held("/help"), "Record [TurnBegan{session:1,turn:1,key:key-2,command:help}], Soon"},

		// the way of a held prompt: what it claims with and how long that may take, and when and how it leaves
		{"the ledger, in vain", x(see(nothing, load("x"), held(plain))), leaves, "Soon, Leaves 1.4s"},
		{"the ledger", x(see(nothing, load("x"), loaded, held(plain))), meanwhile(asked(0, LookedUp{Unknown: true}), (*stage).fetch, recalled), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}} ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-1}], Soon, Fetches there, Recall 1.4s, Claim context 1.5s m7 m1, Leaves 0s with context"},
		{"the harness", x(see(nothing, load("x"), held(plain), asked(0, LookedUp{Unknown: true}))), meanwhile((*stage).fetch, later(time.Second), loaded), "Session x, Request there, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}} ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-1}], Soon, Claim context 500ms m1, Leaves 1s with context"},
		{"the harness, in vain", x(see(nothing, load("x"), held(plain), asked(0, LookedUp{Unknown: true}))), meanwhile((*stage).fetch), "Soon, Leaves 1.4s"},
		{"the harness, that refuses", x(see(nothing, load("x"), held(plain), asked(0, LookedUp{Unknown: true}))), meanwhile((*stage).fetch, later(time.Second), failed), "Request there, Soon, Leaves 1s"},
		{"the ledger again, in vain", see(play("new", "prompt"), again, asked(0, LookedUp{Err: errBusy}), held(plain)), leaves, "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Lookups [{s2 row 0 had true}], Leaves 1.4s"},
		{"the ledger again, that fails", see(play("new", "prompt"), again, asked(0, LookedUp{Err: errBusy}), held(plain)), meanwhile(asked(1, LookedUp{Err: errBusy})), "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Lookups [{s2 row 0 had true}], Leaves 0s"},
		{"the ledger again", sent(see(play("new", "prompt"), again, asked(0, LookedUp{Err: errBusy}), held(plain))), meanwhile(asked(1, LookedUp{})), "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Lookups [{s2 row 0 had true}], Claim messages 400ms m8, Leaves 0s with messages"},
		{"its context", see(play("new"), held(plain)), leaves, "Record [ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim context 1.5s m1, Leaves 0s with context"},
		{"its context, late", with(late, see(play("new"), held(plain))), meanwhile((*stage).fetch), "Record [ContextStored{session:1,key:key-2,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim context 1.5s m1, Leaves 0s with context"},
		{"its context, in vain", with(late, see(play("new"), held(plain))), leaves, "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim identity 100ms, Leaves 1.4s with identity"},
		{"its context, in vain, with messages", with(func(p *stage) { late(p); talks(p) }, see(play("new"), held(plain))), leaves, "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim identity 100ms, Leaves 1.4s with identity"},
		{"its context, in vain, and no files, with messages", with(func(p *stage) { late(p); talks(p); p.identity = memory.Context{} }, see(play("new"), held(plain))), leaves, "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Leaves 1.4s"},
		{"its context, in vain, and no files", with(func(p *stage) { late(p); p.identity = memory.Context{} }, see(play("new"), held(plain))), leaves, "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Leaves 1.4s"},
		{"nothing to tell", with(func(p *stage) { p.got = memory.Context{} }, see(play("new"), held(plain))), leaves, "Record [Stepped{session:1,from:[armed],event:{name:nothing to tell}} TurnBegan{session:1,turn:1,key:key-2}], Soon, Leaves 0s"},
		{"another speaks for it", with(func(p *stage) { p.err = memory.ErrOwned }, see(play("new"), held(plain))), leaves, "Record [Stepped{session:1,from:[armed],event:{name:nothing to tell}} TurnBegan{session:1,turn:1,key:key-2}], Soon, Leaves 0s"},
		{"with a message", with(talks, see(play("new"), held(plain))), leaves, "Record [ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim context 1.5s m8 m1, Leaves 0s with context"},
		{"a recall, in vain", with(searches, see(play("new"), held(plain))), leaves, "Record [ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim context 100ms m1, Leaves 1.4s with context"},
		{"a recall", with(searches, see(play("new"), held(plain))), meanwhile(recalled), "Record [ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim context 1.5s m7 m1, Leaves 0s with context"},
		{"a recall that was there", with(searches, see(play("new"), held(plain), recalled)), leaves, "Record [ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim context 1.5s m7 m1, Leaves 0s with context"},
		{"messages", see(sent(play("new", "prompt")), held(plain)), leaves, "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Claim messages 400ms m8, Leaves 0s with messages"},
		{"the source is away", with(away, see(play("new"), held(plain))), leaves, "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim identity 1.5s, Leaves 0s with identity"},
		{"memories, the source is away", with(away, see(play("new", "prompt"), held(plain))), leaves, "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Fetches there, Leaves 1.4s"},
		{"memories, the source is back", with(away, see(play("new", "prompt"), held(plain))), meanwhile(func(p *stage) { p.err = nil; p.fetch() }, recalled), "Record [ContextStored{session:1,key:key-2,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} ContextDropped{session:1} TurnBegan{session:1,turn:2,key:key-2}], Soon, Fetches there, Recall 1.4s, Claim memories 1.5s m7 m1, Leaves 0s with memories"},
		{"memories, the source is broken", with(broken, see(play("new", "prompt"), held(plain))), leaves, "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Leaves 0s"},
		{"memories, late again", with(late, see(play("new", "prompt"), held(plain))), leaves, "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Leaves 0s"},
		{"memories that have come", with(late, see(play("new", "prompt", "memories come"), held("short"))), leaves, "Record [ContextDropped{session:1} TurnBegan{session:1,turn:2,key:key-2}], Soon, Claim memories 1.5s m1, Leaves 0s with memories"},
		{"memories, searching in vain", with(comes, see(play("new", "prompt", "memories come"), held(plain))), leaves, "Record [ContextDropped{session:1} TurnBegan{session:1,turn:2,key:key-2}], Soon, Claim memories 1.2s m1, Leaves 300ms with memories"},
		{"memories, placed", with(late, see(placed, held(plain))), meanwhile((*stage).fetch), "Record [ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-1}], Soon, Claim memories 1.5s m1, Leaves 0s with memories"},
		{"memories, placed, in vain", with(late, see(placed, held(plain))), leaves, "Record [TurnBegan{session:1,turn:1,key:key-1}], Soon, Leaves 1.4s"},
		{"memories, placed in another process", with(late, x(see(nothing, load("x"), loaded, finds(0, Found{Known: &stored}), asked(0, LookedUp{}), held(plain)))), meanwhile(later(time.Second), (*stage).fetch), "Record [ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} TurnBegan{session:1,turn:1,key:key-1}], Soon, Lookups [{x row 0 had true}], Claim memories 500ms m1, Leaves 1.4s"},
		{"memories, given in another process", with(late, x(see(nothing, load("x"), loaded, finds(0, Found{Known: &stored, Blocks: given}), asked(0, LookedUp{}), held(plain)))), leaves, "Record [TurnBegan{session:1,turn:1,key:key-1}], Soon, Leaves 0s"},
		{"memories that failed", with(late, see(play("new", "prompt"), func(p *stage) {
			p.err, p.late = errBusy, false
			p.fetch()
		}, held(plain))), leaves, "Record [Stepped{session:1,from:[identity given],event:{name:nothing to tell}} TurnBegan{session:1,turn:2,key:key-2}], Soon, Leaves 0s"},
		{"in doubt, the same again", see(play("new", "fails"), held(plain)), leaves, "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Claim context 1.5s m1, Leaves 0s with context"},
		{"a claim that is refused", see(play("new"), claims(errBusy), held(plain)), leaves, `Record [Unclaimed{session:1,from:armed,injection:{key:key-2,kind:identity,blockId:46bf170a2853,text:\u003csignet-memory source=\acp-proxy\ id=\46bf170a2853\\u003e\nAdded by signet-acp-proxy from the user's own memory; not part of the user's message.\n## Identity\nYou are Alto, says the file.\n\u003c/signet-memory\u003e\n\n,source:files,bytes:198,fetchMs:0,heldMs:0}} TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim context 1.5s m1, Leaves 0s with identity`},
		{"a claim that another wins", see(play("new"), claims(correlation.ErrStateChanged), held(plain)), meanwhile(asked(0, LookedUp{})), "Record [ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-2}], Soon, Lookups [{s2 row 0 had true}], Claim context 1.5s m1 context 1.5s m1, Leaves 0s with context"},
		{"claims that another wins", see(play("new"), claims(correlation.ErrStateChanged, correlation.ErrStateChanged), held(plain)), meanwhile(asked(0, LookedUp{})), "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Lookups [{s2 row 0 had true}], Claim context 1.5s m1 context 1.5s m1, Leaves 0s"},
		{"a claim that another wins, then refused", see(play("new"), claims(correlation.ErrStateChanged, errBusy), held(plain)), meanwhile(asked(0, LookedUp{})), "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Lookups [{s2 row 0 had true}], Claim context 1.5s m1 context 1.5s m1, Leaves 0s"},
		{"a claim that comes too late", see(play("new"), slowly(2*time.Second), held(plain)), leaves, `Record [Unclaimed{session:1,from:armed,injection:{key:key-2,kind:identity,blockId:46bf170a2853,text:\u003csignet-memory source=\acp-proxy\ id=\46bf170a2853\\u003e\nAdded by signet-acp-proxy from the user's own memory; not part of the user's message.\n## Identity\nYou are Alto, says the file.\n\u003c/signet-memory\u003e\n\n,source:files,bytes:198,fetchMs:0,heldMs:1500}} TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim context 1.5s m1, Leaves 1.5s with identity`},
		{"a claim, slowly", see(play("new"), slowly(time.Second), held(plain)), leaves, "Record [ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim context 1.5s m1, Leaves 1s with context"},
		{"a later claim that comes too late", see(sent(play("new", "prompt")), slowly(time.Second), held(plain)), leaves, "Record [TurnBegan{session:1,turn:2,key:key-2} Stepped{session:1,event:{name:refused}}], Soon, Claim messages 400ms m8, Leaves 400ms"},
		{"a cancel while it waits", with(late, see(play("new"), held(plain))), meanwhile(later(time.Second), cancels), "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Leaves 1s"},
		{"a cancelled request", with(late, see(play("new"), held(plain))), meanwhile(is(func(_ *stage, c *Connection) { c.Cancel(nil, "h") })), "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Leaves 0s"},
		{"another's cancel", with(late, see(play("new"), held(plain))), meanwhile(is(func(_ *stage, c *Connection) { c.Cancel([]byte("x"), "x") })), "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Claim identity 100ms, Leaves 1.4s with identity"},
		{"a cancel before it waits", see(play("new"), held(plain), cancels), leaves, "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Leaves 0s"},
		{"a cancel before it is granted", see(play("new"), slowly(time.Second), held(plain)), meanwhile(cancels), "Record [TurnBegan{session:1,turn:1,key:key-2} Stepped{session:1,event:{name:refused}}], Soon, Claim context 1.5s m1, Leaves 0s"},
		{"forgotten before it waits", with(late, see(play("new"), held(plain), forgotten)), leaves, "Leaves 0s"},
		{"forgotten before it is granted", see(play("new"), slowly(time.Second), held(plain)), meanwhile(forgotten), "Soon, Claim context 1.5s m1, Leaves 1s with context"},

		// messages and titles that may hold a block
		{"a message before the ledger answers", x(see(nothing, load("x"))), shown(true, true), "Session x, Wait"},
		{"the next message", x(see(nothing, load("x"), shown(true, true))), shown(true, true), "Session x"},
		{"a message that holds none", x(see(nothing, load("x"))), shown(true, false), "Session x"},
		{"a message of the history", see(play("new"), reload), ours, "Frame hold, Session s2"},
		{"a message after a failed load", see(play("new"), reload, failed), ours, "Session s2"},
		{"a message after a prompt", play("new", "load", "slash"), ours, "Session s2, Turn 1"},
		{"an update while another session is made", dumb(see(play("new"), makes)), func(p *stage) { p.id = p.c.Sessions()[0].ID(); update(Reports)(p) }, "Frame look, Session s1"},
		{"a title made from a block", with(cutsTitles, play("new", "prompt")), titleShown("Added by"), "Session s2, Title context"},
		{"a title with our mark", with(cutsTitles, play("new", "prompt")), titleShown(""), "Session s2"},
		{"the client's title", with(cutsTitles, see(play("new", "prompt"), is(func(p *stage, c *Connection) { c.TitledByClient([]byte(p.id)) }))), titleShown("Mine"), "Session s2"},

		// responses that come late
		{"answered after a later one", unanswered("new"), after(PromptAnswer{Stop: StopEnd}), "Turn 1, Request there, Record [Stepped{session:1,from:[doubt],event:{name:assumed kept}}], Ended TurnEnded{turn:1,stop:end_turn}, Soon"},
		{"refused after a later one", unanswered("new"), after(PromptAnswer{Failed: true, Code: -32602}), "Turn 1, Request there, Record [ContextStored{session:1,key:key-2,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} Stepped{session:1,from:[doubt],event:{name:replay clean}}], Ended TurnEnded{turn:1,stop:error,code:-32602}, Soon"},
		{"failed after a later one", unanswered("new"), after(PromptAnswer{Failed: true, Code: 1}), "Turn 1, Request there, Ended TurnEnded{turn:1,stop:error,code:1}, Soon"},
		{"identity answered after a later one", with(late, unanswered("new")), after(PromptAnswer{Stop: StopEnd}), "Turn 1, Request there, Record [Stepped{session:1,from:[doubt],event:{name:assumed kept,partly:true}}], Ended TurnEnded{turn:1,stop:end_turn}, Soon"},
		{"a quick command", see(turn, answered("a", PromptAnswer{Stop: StopEnd})), quickCommand, "Record [Stepped{session:1,from:[done],event:{name:cleared,whole:true}} ContextDropped{session:1} Rekeyed{session:1,key:key-4}], Soon, Fetches there"},
		{"a prompt that was dropped", turn, dropped(func(c *Connection, t *Turn) { c.PromptRead(t, 0, saying("go")) }), ""},
		{"a long prompt", turn, looked(Said{Prompt: words(strings.Repeat("x", 200<<10))}), "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Full"},
		{"a prompt read late, then", see(turn, lost(0), dueNow, say), dueNow, "Due {turn 2 go}"},
		{"nothing that a turn used", see(turn, say), answered("a", PromptAnswer{Stop: StopEnd, Usage: []Usage{{OfTurn: true}}}), "Turn 2, Request there, Record [UsageReported{session:1,turn:2,usage:{reporter:}}], Ended TurnEnded{turn:2,stop:end_turn}, Soon"},
		{"two lists with one key", see(play("new"), is(func(_ *stage, c *Connection) { c.Asked("a", "", nil) })), is(func(_ *stage, c *Connection) { c.Asked("a", "", nil) }), ""},
		{"forgotten, then", see(play("new", "prompt"), forgotten), dueNow, "Due {turn 1 a plain prompt of some length ended off}"},
		{"forgotten in a turn, then", see(turn, say, forgotten), dueNow, "Due {turn 2 off}"},
		{"the response of one that left when it was forgotten", with(late, see(play("new"), held(plain), forgotten, leaves)), responds("h"), ""},
		{"a turn that failed before it was opened", x(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}), held("/help"))), answered("h", PromptAnswer{Failed: true}), "Turn 1, Request there, Soon"},
		{"a turn that failed, opened then", x(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}), held("/help"), answered("h", PromptAnswer{Failed: true}))), loaded, "Session x, Request there, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}} ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} TurnBegan{session:1,turn:1,key:key-1,command:help} TurnEnded{turn:1,stop:error}], Soon"},
		{"a command before the ledger answers", x(see(nothing, load("x"), loaded)), held("/help"), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}} TurnBegan{session:1,turn:1,key:key-1,command:help}], Soon"},
		{"a close before the ledger answers", x(see(nothing, load("x"), loaded)), closes, "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon"},
		{"a compaction", play("new", "prompt"), compacts("1", "completed"), "Record [Stepped{session:1,from:[done],event:{name:compacted}} ContextDropped{session:1}], Soon, Fetches there"},

		// sessions that come from others
		{"a fork's place", dumb(see(play("new", "prompt"), forks)), making, "Who  model /tmp/x "},
		{"a fork of one that was told", see(play("new", "prompt"), forks), forked, "Session child, Request there, Record [Opened{session:2,open:{harness:model,acpId:child,cwd:/tmp/x,project:/tmp/x,client:tester,agent:model,parentKey:key-2,new:true,made:2000-01-01T00:00:00Z,key:key-4,state:done},fork:1}], Soon"},
		{"a fork of one that was told since", see(play("new"), dumb(forks),
			play("prompt"), func(p *stage) { p.answer() }), forked, "Session child, Request there, Record [Opened{session:2,open:{harness:model,acpId:child,cwd:/tmp/x,project:/tmp/x,client:tester,agent:model,parentKey:key-2,new:true,made:2000-01-01T00:00:00Z,key:key-4,state:armed},fork:1} ContextStored{session:2,key:key-4,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}}], Soon"},
		{"a fork of one that another proxy has told since", see(play("new"), dumb(forks),
			found(0, correlation.Done, ""), asked(0, LookedUp{})), forked, "Session child, Request there, Record [Opened{session:2,open:{harness:model,acpId:child,cwd:/tmp/x,project:/tmp/x,client:tester,agent:model,parentKey:key-2,new:true,made:2000-01-01T00:00:00Z,key:key-3,state:done},fork:1}], Soon"},
		{"a fork of one that is unknown", x(see(nothing, load("x"), asked(0, LookedUp{}), fork("x"), finds(1, Found{}), asked(1, LookedUp{Unknown: true}))), forked, "Session child, Request there, Record [Opened{session:2,open:{harness:model,acpId:child,cwd:/w,project:/w,client:tester,agent:model,parentKey:key-1,new:true,made:2000-01-01T00:00:00Z,key:key-2,state:armed},fork:1} ContextStored{session:2,key:key-2,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}}], Soon"},
		{"after a failed load", see(x(see(nothing, acpx, load("x"), found(0, correlation.Armed, ""), asked(0, LookedUp{}), failed))), makes, "Session , Lookups [{ row 7 had false}]"},
		{"in place of a failed load", see(x(see(nothing, acpx, load("x"), found(0, correlation.Armed, ""), asked(0, LookedUp{}), failed, makes, finds(1, Found{})))), making, "Who key-1 model /w "},
		{"in place of an unknown one, opened", see(x(see(nothing, acpx, load("x"), asked(0, LookedUp{Unknown: true}), failed, makes, finds(1, Found{}), asked(1, LookedUp{})))), made, "Session new, Request there, Record [Opened{session:2,open:{harness:model,acpId:new,cwd:/w,project:/w,client:acpx,agent:model,new:true,made:2000-01-01T00:00:00Z,key:key-1}} ContextStored{session:2,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}}], Soon"},
		{"of the record of a failed load", x(see(nothing, load("x"), found(0, correlation.Armed, ""), asked(0, LookedUp{}), fetched("x", nil, nil), failed, makes, found(1, correlation.Armed, ""))), making, "Who key-1 model /w "},
		{"of a record that was given its identity", dumb(see(nothing, makes)), finds(0, Found{Known: &stored, Blocks: given}), "Orphan, Rows [0 0], Who  model /w "},
		{"of a record whose identity is placed", dumb(see(nothing, makes)), finds(0, Found{Known: &stored}), "Orphan, Rows [0 7], Who  model /w "},
		{"an early request", nothing, early, ""},
		{"an early request, opened", dumb(see(nothing, early)), made, "Request there, Soon, Lookups [{ row 0 had false}]"},
		{"opened again", see(play("new"), reload), loaded, "Session s2, Request there, Record [Opened{session:1,open:{harness:model,acpId:s2,cwd:/tmp/x,project:/tmp/x,client:tester,agent:model,made:2000-01-01T00:00:00Z,key:key-2}}], Soon"},
		{"a prompt while it is opened again", see(play("new", "prompt"), again), judged, "Frame hold"},
		{"found while it is fetched", see(with(late, play("new")), again), found(0, correlation.Armed, ""), "Who key-2 model /tmp/x "},
		{"found, fetched before", x(see(nothing, load("x"), asked(0, LookedUp{Err: errBusy}), load("x"))), found(1, correlation.Armed, ""), "Rows [7 0], Who K model /w "},
		{"in a folder that is left alone", with(func(p *stage) { p.o.Exclude = []string{"/tmp/*"} }, play("new")), known, "Who key-2 model /tmp/x , Off"},
		{"its key, once it was cleared", play("new", "prompt", "clear"), known, "Who key-5 model /tmp/x "},
		{"its key, stored and cleared", play("new", "ends", "load", "prompt", "clear"), known, "Who key-6 model /tmp/x "},
		{"with the stored context of its own key", x(see(nothing, load("x"), loaded, found(0, correlation.Armed, ""))), asked(0, LookedUp{Key: "K", Stored: []byte("{}")}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:K}} ContextStored{session:1,key:K,fetched:0001-01-01T00:00:00Z,context:{}}], Soon"},

		// whose identity is there
		{"placed, and off", play("new off"), system, ""},
		{"a held prompt, the ledger has failed", see(play("new", "prompt"), again, asked(0, LookedUp{Err: errBusy})), held(plain), "Soon, Held there"},
		{"memories that have come, missed", with(late, play("new", "prompt", "memories come")), held("short"), "Soon, Recall 300ms, Held there"},
		{"memories that have come, placed", with(late, see(placed)), held("short"), "Soon, Recall 1.4s, Held there"},

		// ends
		{"a close", see(turn, say, dueNow), closes, "Record [TurnEnded{turn:2,stop:unanswered}], Soon"},
		{"a close, then", see(turn, say, dueNow, closes), ends, "Record [Closed{session:1,reason:session/close}], Soon, Closed"},
		{"events of a turn", see(turn, say, dueNow), recorded, "Record [UserSaid{turn:2,text:go}], Soon"},
		{"events of a turn that was dropped", see(turn, say), dropped(func(c *Connection, t *Turn) {
			c.Recorded(t.Session, t, nil, correlation.UserSaid{Turn: t.Number, Text: "go"})
		}), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onStage(t, func(p *stage) {
				p.start()
				tt.before(p)
				if got := p.told(tt.then); got != tt.want {
					p.Errorf("%s", got)
				}
			})
		})
	}
}
