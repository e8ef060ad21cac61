package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// effects are what is to be done, in the order of Do's fields: flags by their names, the rest with what it says.
func effects(do Do) string {
	var all []string
	v := reflect.ValueOf(do)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || v.Field(i).IsZero() {
			continue
		}
		if said := effect(v.Field(i).Interface()); said == "true" {
			all = append(all, f.Name)
		} else {
			all = append(all, f.Name+" "+said)
		}
	}
	return strings.Join(all, ", ")
}

func effect(what any) string {
	switch what := what.(type) {
	case Frame:
		return [...]string{"forward", "look", "hold"}[what]
	case *Session:
		return what.ID()
	case *Turn:
		return fmt.Sprint(what.Number)
	case *Injection:
		return what.Kind
	case *RecallJob:
		return fmt.Sprint(what.Until.Sub(what.Prompt.read))
	case Request, *Held, []FetchJob:
		return "there"
	case correlation.Event:
		text, _ := json.Marshal(what)
		return strings.TrimPrefix(fmt.Sprintf("%T", what), "correlation.") + strings.ReplaceAll(string(text), `"`, "")
	case Step:
		need := [...]string{"waits", "looks again", "continues", "composes", "claims", "leaves"}[what.Need]
		if what.Injection != nil {
			need += " with " + what.Injection.Kind
		}
		if what.Off {
			need += " off"
		}
		for _, m := range slices.Concat(what.Start.Items, what.Recall.Items) {
			need += " " + m.ID
		}
		return strings.TrimSpace(need + " " + what.Kind)
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
	case Fault:
		return what.Err.Error()
	case []byte:
		return string(what)
	}
	if v := reflect.ValueOf(what); v.Kind() == reflect.Slice {
		var all []string
		for i := range v.Len() {
			all = append(all, effect(v.Index(i).Interface()))
		}
		return "[" + strings.Join(all, " ") + "]"
	}
	return fmt.Sprint(what)
}

// cut is a prompt of which 7 bytes were not kept.
type cut struct{ words }

func (cut) Omitted() int { return 7 }

// What is seen, and what is to be done because of it.
func TestEffects(t *testing.T) {
	play := func(names ...string) func(*stage) {
		return func(p *stage) {
			for _, name := range names {
				steps[name](p)
			}
		}
	}
	is := func(seen Seen) func(*stage) Seen { return func(*stage) Seen { return seen } }
	// of returns what is seen of the session; a turn is its current one.
	of := func(seen func(s *Session, now *Turn) Seen) func(*stage) Seen {
		return func(p *stage) Seen {
			s := p.c.Session(p.id)
			return seen(s, s.turns.current())
		}
	}
	// turn has a prompt leave without a block, which is not read yet.
	turn := func(p *stage) {
		play("new", "prompt")(p)
		p.see(RecordingBegins{})
		p.see(PromptJudged{ID: []byte(p.id), Key: "a"})
	}
	dumb := func(then func(*stage)) func(*stage) { return func(p *stage) { p.dumb = true; then(p) } }
	see := func(before func(*stage), seen ...func(*stage) Seen) func(*stage) {
		return func(p *stage) {
			before(p)
			for _, one := range seen {
				p.see(one(p))
			}
		}
	}
	sought := func(wait, late bool) func(*stage) Seen {
		return of(func(s *Session, _ *Turn) Seen { return SessionSought{Session: s, Wait: wait, Late: late} })
	}
	mode := func(mode string) func(*stage) Seen {
		return of(func(s *Session, _ *Turn) Seen { return ModeSet{s, mode} })
	}
	record := func(id string) func(*stage) Seen {
		return of(func(s *Session, _ *Turn) Seen { return RecordFound{s, id} })
	}
	looked := func(said Said) func(*stage) Seen {
		return of(func(_ *Session, now *Turn) Seen { return PromptLooked{Turn: now, Said: said, Bytes: 5} })
	}
	titled := func(text string) func(*stage) Seen {
		return func(p *stage) Seen { return Titled{ID: []byte(p.id), Text: text} }
	}
	tool := of(func(s *Session, _ *Turn) Seen { return ToolCalled{Session: s, Call: correlation.ToolCall{ID: "t"}} })
	piece := func(id, text string) func(*stage) Seen {
		return of(func(s *Session, _ *Turn) Seen { return Compaction{Session: s, ID: id, Piece: text} })
	}
	compacts := func(id, status string) func(*stage) Seen {
		return of(func(s *Session, _ *Turn) Seen { return Compaction{Session: s, ID: id, Status: status} })
	}
	answered := func(key string, answer PromptAnswered) func(*stage) Seen {
		return func(*stage) Seen {
			return Answered{Key: key, Read: func(r Request) Seen { answer.Request = r; return answer }}
		}
	}
	tokens := int64(5)
	used := func(u Usage) func(*stage) Seen { return of(func(s *Session, _ *Turn) Seen { return Used{s, u} }) }
	begins, ends := is(RecordingBegins{}), is(RecordingEnds{})
	say := looked(Said{Prompt: words("go")})
	off := looked(Said{Off: true})
	lost := func(n int) func(*stage) Seen {
		return of(func(_ *Session, now *Turn) Seen { return ChunkCame{Turn: now, Lost: n} })
	}
	unread := of(func(_ *Session, now *Turn) Seen { return ChunkUnread{now, 3} })
	errBusy, parent, nobody := errors.New("busy"), "PK", ""
	nothing := func(*stage) {}
	load := func(id string) func(*stage) Seen {
		return is(OpeningAsked{Key: "l", Opening: Opening{Kind: OpensKnown, Target: id, Cwd: "/w"}})
	}
	loaded := func(*stage) Seen {
		return Answered{Key: "l", Read: func(r Request) Seen { return OpeningAnswered{Request: r, Editing: true} }}
	}
	fork := func(id string) func(*stage) Seen {
		return is(OpeningAsked{Key: "f", Opening: Opening{Kind: OpensFork, Target: id}})
	}
	again := func(p *stage) Seen { p.dumb = true; return load(p.id)(p) } // and the ledger does not answer
	makes := is(OpeningAsked{Key: "n", Opening: Opening{Kind: OpensNew, Cwd: "/w"}})
	// asked is an answer of the ledger, to what it was asked as the n-th.
	asked := func(n int, answer Seen) func(*stage) Seen {
		return func(p *stage) Seen {
			switch answer := answer.(type) {
			case Found:
				answer.Lookup = p.asked[n]
				return answer
			case LookedUp:
				answer.Lookup = p.asked[n]
				return answer
			}
			return answer
		}
	}
	found := func(n int, state correlation.State, parent string) func(*stage) Seen {
		return asked(n, Found{Known: &correlation.Session{ID: 7, Key: "K", Harness: "model", State: state, ParentKey: parent}})
	}
	fetched := func(id string, ended FetchEnded) func(*stage) Seen {
		return func(p *stage) Seen {
			ended.Fetch = p.c.Session(id).context.fetch
			return ended
		}
	}
	judged := func(p *stage) Seen { return PromptJudged{ID: []byte(p.id), Key: "h"} }
	held := func(text string) func(*stage) Seen {
		return func(p *stage) Seen {
			return PromptHeld{ID: []byte(p.id), Key: "h", Bytes: 9, Said: Said{Prompt: words(text)}, First: text, Words: text}
		}
	}
	// ask is a held prompt's owner, who comes back so often with what it needed.
	ask := func(times int) func(*stage) Seen {
		return func(p *stage) Seen {
			s := p.c.Session(p.id)
			h := s.context.held
			waits := Seen(PromptWaits{Prompt: h})
			for range times {
				switch next := p.c.On(p.at, waits).Prompt; next.Need {
				case Continue:
					waits = ContinuedFound{Prompt: h}
				case Compose:
					waits = Composed{Prompt: h, Injection: p.compose(s, next)}
				}
			}
			return waits
		}
	}
	with := func(change func(*stage), then func(*stage)) func(*stage) {
		return func(p *stage) { change(p); p.start(); then(p) }
	}
	talks := func(p *stage) {
		p.o.Messages = func(string) []memory.Item { return []memory.Item{{ID: "m1"}, {ID: "m8", Text: "Hello."}} }
	}
	sent := func(then func(*stage)) func(*stage) { // meanwhile
		return func(p *stage) { then(p); talks(p); p.c.o.Messages = p.o.Messages }
	}
	searches := func(p *stage) { p.o.PerPrompt, p.slow = true, true }
	forgotten := is(Forgotten{Numbers: []int{1}})
	claimed := func(err error) func(*stage) Seen {
		return func(p *stage) Seen { return Claimed{Prompt: p.c.Session(p.id).context.held, Err: err} }
	}
	cancels := func(p *stage) Seen { return CancelAsked{ID: []byte(p.id)} }
	recalled := func(p *stage) Seen {
		return Recalled{p.c.Session(p.id).context.held, memory.Context{Items: []memory.Item{{ID: "m7", Text: "tea"}}}}
	}
	away := func(p *stage) { p.err = memory.ErrUnavailable }
	broken := func(p *stage) { p.err = errBusy }
	comes := func(p *stage) { p.late, p.slow = true, true }
	x := func(then func(*stage)) func(*stage) { return func(p *stage) { p.id = "x"; dumb(then)(p) } }
	tooLate := func(p *stage) Seen { p.at = p.at.Add(2 * time.Second); return ask(0)(p) }
	making := func(p *stage) Seen { return SessionSought{Session: p.c.making[0]} }
	failed := func(p *stage) Seen {
		return Answered{Key: "l", Read: func(r Request) Seen { return OpeningAnswered{Request: r, Failed: true, Editing: true} }}
	}
	forked := func(*stage) Seen {
		return Answered{Key: "f", Read: func(r Request) Seen {
			return OpeningAnswered{Request: r, ID: "child", Editing: true}
		}}
	}
	shown := func(u UserShown) func(*stage) Seen {
		return func(p *stage) Seen { u.ID = []byte(p.id); return u }
	}
	text := []string{"hello"}
	ours := func(p *stage) Seen { return UpdateJudged{ID: []byte(p.id), Kind: Ours} }
	// unanswered has a prompt with a block answered after a later one was.
	unanswered := func(before ...string) func(*stage) {
		return see(play(append(before, "hangs")...), func(p *stage) Seen {
			return PromptJudged{ID: []byte(p.id), Key: "b"}
		}, answered("b", PromptAnswered{Stop: StopEnd}))
	}
	after := func(answer PromptAnswered) func(*stage) Seen {
		return func(p *stage) Seen {
			for key, r := range p.c.pending {
				if r.Injection != nil {
					return answered(key, answer)(p)
				}
			}
			return nil
		}
	}
	placed := func(p *stage) {
		p.id = "placed"
		s := p.see(makes(p)).Session
		p.see(Placed{Session: s, Injection: block("You are Alto.", KindSystem)})
		p.see(OpeningAnswered{Request: p.see(Answered{Key: "n"}).Request, ID: p.id, Editing: true})
	}
	cutsTitles := func(p *stage) { p.traits.TitleLength = 100 }
	titleShown := func(text string) func(*stage) Seen {
		return func(p *stage) Seen { return TitleShown{p.id, text} }
	}
	acpx := is(ClientGreeted{Client: Program{Name: "acpx"}, Key: "0"})
	stored := correlation.Session{ID: 7, Key: "K", Harness: "model", State: correlation.IdentityGiven}
	given := []correlation.Injection{{Session: 7, Kind: kindIdentity, Text: "x"}}
	all := reinject(reinjectAll)
	for _, tt := range []struct {
		name   string
		before func(*stage)
		seen   func(*stage) Seen
		want   string
	}{
		// what is asked about sessions
		{"blocks", play("new", "prompt"), func(p *stage) Seen { return BlocksSought{p.id} }, "Session s2, Blocks [context], Known"},
		{"blocks before the ledger answers", dumb(play("new")), func(p *stage) Seen { return BlocksSought{p.id} }, "Session s1"},
		{"records", play("new"), is(RecordsSought{"tester"}), "Sessions [s2]"},
		{"records of another client", play("new"), is(RecordsSought{"other"}), ""},
		{"records that are known", see(play("new"), record("r")), is(RecordsSought{"tester"}), ""},
		{"records of a loaded session", play("new", "ends", "load"), is(RecordsSought{"tester"}), ""},
		{"records of a closed session", see(play("new"), of(func(s *Session, _ *Turn) Seen { return Closed{Session: s} })), is(RecordsSought{"tester"}), ""},
		{"a record", play("new"), record("r"), "Record [RecordKnown{session:1,record:r}], Soon"},
		{"the same record", see(play("new"), record("r")), record("r"), ""},
		{"a session", play("new"), sought(true, false), "Who key-2 model /tmp/x "},
		{"a session before the ledger answers", dumb(play("new")), sought(true, false), "Wait, Who  model /tmp/x "},
		{"a session too late", dumb(play("new")), sought(true, true), "Who  model /tmp/x "},
		{"a session at once", dumb(play("new")), sought(false, false), "Who  model /tmp/x "},
		{"a session that is off", dumb(play("new off")), sought(true, false), "Who  model /tmp/x , Off"},
		{"its mode", see(play("new"), mode("plan"), mode("")), sought(false, false), "Who key-2 model /tmp/x , Mode plan"},
		{"the client goes", play("new"), is(ClientGone{}), ""},
		{"the client goes in a turn", turn, is(ClientGone{}), "Busy"},
		{"turns under way", turn, is(TurnsSought{}), "Sessions [s2]"},
		{"turns of a session that is off", see(turn, off), is(TurnsSought{}), ""},
		{"a response, none is awaited", play("new"), is(ResponseCame{}), ""},
		{"a response", turn, is(ResponseCame{func() string { return "a" }}), "Frame hold"},
		{"another response", turn, is(ResponseCame{func() string { return "b" }}), ""},
		{"the response to initialize", see(play("new"), is(ClientGreeted{Key: "i", Method: "initialize"})), is(Answered{Key: "i"}), "Frame hold, Request there"},

		// prompts
		{"a prompt", turn, say, "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon"},
		{"with a trace", turn, looked(Said{Prompt: words("go"), Trace: "00-1"}), "Record [TurnBegan{session:1,turn:2,key:key-2} TraceKnown{turn:2,parent:00-1}], Soon"},
		{"with a trace, begun", see(turn, lost(0)), looked(Said{Prompt: words("go"), Trace: "00-1"}), "Record [TraceKnown{turn:2,parent:00-1}], Soon"},
		{"that switches off", turn, off, "Record [Stepped{session:1,event:{name:switched off}}], Soon"},
		{"that switches off, then", see(turn, off), begins, ""},
		{"cut", see(turn, looked(Said{Prompt: cut{"go"}})), answered("a", PromptAnswered{Stop: StopEnd}), "Frame hold, Turn 2, Request there, Ended TurnEnded{turn:2,stop:end_turn,lost:7}, Soon"},
		{"a turn ends", see(turn, say, begins), answered("a", PromptAnswered{Stop: StopEnd}), "Frame hold, Turn 2, Request there, Ended TurnEnded{turn:2,stop:end_turn}, Soon"},
		{"a turn ends, then", see(turn, say, begins, answered("a", PromptAnswered{Stop: StopEnd})), begins, "Due {turn 2 ended}"},
		{"a turn that was lost in part", see(turn, say, lost(5), unread), answered("a", PromptAnswered{Stop: StopEnd}), "Frame hold, Turn 2, Request there, Ended TurnEnded{turn:2,stop:end_turn,lost:8}, Soon"},
		{"what was lost", see(turn, lost(5), unread), is(HarnessEnded{}), "Lost 8"},
		{"a turn ends in a session that is off", see(turn, off), answered("a", PromptAnswered{Stop: StopEnd}), "Frame hold, Turn 0, Request there, Wait"},
		{"accepted", see(turn, say, begins), answered("a", PromptAnswered{Accepted: true}), "Frame hold, Request there, Soon"},
		{"what a turn used", see(turn, say, begins), answered("a", PromptAnswered{Stop: StopEnd,
			Usage: []Usage{{Usage: correlation.Usage{Input: &tokens}, OfTurn: true}}}), "Frame hold, Turn 2, Request there, Record [UsageReported{session:1,turn:2,usage:{reporter:,input:5}}], Ended TurnEnded{turn:2,stop:end_turn}, Soon"},
		{"steering", see(turn, say, begins), of(func(s *Session, _ *Turn) Seen { return Steered{Session: s, Prompt: words("stop")} }), "Soon"},
		{"a cancel in a turn", turn, func(p *stage) Seen { return CancelAsked{ID: []byte(p.id)} }, ""},
		{"a prompt with a key that is in use", see(turn, say, begins), func(p *stage) Seen { return PromptJudged{ID: []byte(p.id), Key: "a"} }, "Frame look, Session s2, Turn 0, Record [TurnEnded{turn:2,stop:unanswered}], Soon"},
		{"a list with a key that is in use", play("new"), is(Asked{Key: "a", Method: "session/list"}), ""},

		// updates
		{"the turn of a chunk", turn, of(func(s *Session, _ *Turn) Seen { return TurnSought{s} }), "Turn 0"},
		{"the turn of a closed session's chunk", see(turn), func(p *stage) Seen {
			s := p.c.Session(p.id)
			p.see(Closed{Session: s})
			return TurnSought{s}
		}, ""},
		{"a chunk", see(turn, say, begins), lost(0), "Later"},
		{"a chunk, then", see(turn, say, begins, lost(0)), begins, "Due {turn 2}"},
		{"a tool", see(turn, say, begins), tool, "Turn 2, Later"},
		{"a tool, then", see(turn, say, begins, tool), begins, "Due {turn 2 tool t}"},
		{"usage", see(turn, say, begins), used(Usage{Usage: correlation.Usage{Input: &tokens}}), "Record [UsageReported{session:1,turn:2,usage:{reporter:,input:5}}], Soon"},
		{"usage of the window", see(turn, say, begins), used(Usage{Window: true}), "Record [UsageReported{session:1,turn:2,usage:{reporter:}}], Soon"},
		{"a summary in pieces", see(play("new"), compacts("1", "in_progress"), piece("1", "so "), piece("1", "far"), compacts("1", "completed")), begins, "Due {summary so far}"},
		{"a summary of another", see(play("new"), piece("1", "so "), piece("2", "far"), compacts("2", "completed")), begins, "Due {summary far}"},
		{"a compaction begins", play("new"), compacts("1", "in_progress"), "Record [Compacting{session:1}], Soon"},
		{"a compaction fails", play("new"), compacts("1", "failed"), ""},
		{"a compaction in a session that is off", play("new off"), compacts("1", "in_progress"), ""},
		{"a title", play("new"), titled("A title"), "Soon"},
		{"the same title", see(play("new"), titled("A title")), titled("A title"), ""},
		{"no title", play("new"), titled(""), ""},
		{"titles, then", see(play("new"), titled("A title"), titled("Another")), begins, "Due {title Another}"},

		// look-ups
		{"a load", nothing, load("x"), "Session x, Lookups [{x row 0 had false}]"},
		{"a load of one that is known", play("new", "prompt"), func(p *stage) Seen { return load(p.id)(p) }, "Session s2, Lookups [{s2 row 0 had true}]"},
		{"a fork", play("new", "prompt"), func(p *stage) Seen { return fork(p.id)(p) }, "Session , Lookups [{s2 row 0 had true}]"},
		{"a fork of one that is not here", nothing, fork("x"), "Session , Lookups [{x row 0 had false}]"},
		{"a fork before the ledger answers", dumb(see(nothing, load("x"))), fork("x"), "Session "},
		{"its parent is known then", dumb(see(nothing, load("x"), fork("x"))), asked(0, LookedUp{}), "Soon, Lookups [{x row 0 had false}], Fetches there, News"},
		{"a new one that may continue others", dumb(see(nothing, load("x"))), makes, "Session "},
		{"found", dumb(see(nothing, load("x"))), found(0, correlation.Armed, ""), "Rows [7 0], Who K model /w "},
		{"found, told", dumb(see(nothing, load("x"))), found(0, correlation.Done, ""), "Who K model /w "},
		{"found, off", dumb(see(nothing, load("x"))), found(0, correlation.Off, ""), "Who K model /w "},
		{"found, a child", dumb(see(nothing, load("x"))), found(0, correlation.Done, "PK"), "Who K model /w PK"},
		{"not found", dumb(see(nothing, load("x"))), asked(0, Found{}), "Orphan, Rows [0 0], Who  model /w "},
		{"a new one, alone", dumb(see(nothing, makes)), asked(0, Found{Record: "r"}), "Orphan, Rows [0 0], Who  model /w "},
		{"a new one that continues an unused one", dumb(see(nothing, makes)), found(0, correlation.Armed, ""), "Orphan, Rows [0 7], Who  model /w "},
		{"a new one that continues a used one", dumb(see(nothing, makes)), found(0, correlation.Done, ""), "Orphan, Rows [0 0], Who  model /w "},
		{"no longer found", see(play("new", "prompt"), again), asked(0, Found{}), "Who key-2 model /tmp/x "},
		{"no longer found, then", see(play("new", "prompt"), again, asked(0, Found{})), titled("A title"), ""},
		{"looked up", dumb(see(nothing, load("x"), found(0, correlation.Armed, ""))), asked(0, LookedUp{}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:K}} Rekeyed{session:1,key:key-1}], Soon, Fetches there, News"},
		{"looked up, unknown", dumb(see(nothing, load("x"))), asked(0, LookedUp{Unknown: true}), "Soon, Fetches there, News"},
		{"looked up in vain", dumb(see(nothing, load("x"))), asked(0, LookedUp{Err: errBusy}), "Soon, News"},
		{"looked up, no ledger", dumb(see(nothing, load("x"))), asked(0, LookedUp{None: true, Err: errBusy}), "Soon, News"},
		{"no ledger, opened", dumb(see(nothing, load("x"), asked(0, LookedUp{None: true, Err: errBusy}))), loaded, "Frame hold, Session x, Request there, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon"},
		{"in vain, opened", dumb(see(nothing, load("x"), asked(0, LookedUp{Err: errBusy}))), loaded, "Frame hold, Session x, Request there, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon"},
		{"unknown, opened", dumb(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}))), loaded, "Frame hold, Session x, Request there, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}} ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}}], Soon"},
		{"opened, unknown", dumb(see(nothing, load("x"), loaded)), asked(0, LookedUp{Unknown: true}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon, Fetches there, News"},
		{"opened, off", dumb(see(nothing, load("x"), loaded, found(0, correlation.Off, ""))), asked(0, LookedUp{}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:K}}], Soon, News"},
		{"opened, a child", dumb(see(nothing, load("x"), loaded)), asked(0, LookedUp{Unknown: true, Parent: &parent}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,parentKey:PK,key:key-1}}], Soon, Fetches there, News"},
		{"opened, nobody's child", dumb(see(nothing, load("x"), loaded)), asked(0, LookedUp{Unknown: true, Parent: &nobody}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon, Fetches there, News"},
		{"a child after all", see(play("new", "prompt"), again), asked(0, LookedUp{Parent: &parent}), "Record [ParentKnown{session:1,key:PK}], Soon, News"},
		{"nobody's child after all", see(play("new", "prompt"), again), asked(0, LookedUp{Parent: &nobody}), "Soon, News"},
		{"with a stored context", dumb(see(nothing, load("x"), found(0, correlation.Armed, ""))), asked(0, LookedUp{Key: "K2", Stored: []byte("{}")}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:K2}} ContextStored{session:1,key:K2,fetched:0001-01-01T00:00:00Z,context:{}}], Soon, News"},
		{"with a stored context, opened", dumb(see(nothing, load("x"), loaded, found(0, correlation.Armed, ""))), asked(0, LookedUp{Key: "K2", Stored: []byte("{}")}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:K2}} ContextStored{session:1,key:K2,fetched:0001-01-01T00:00:00Z,context:{}}], Soon, News"},
		{"opened again since", dumb(see(nothing, load("x"), loaded, load("x"))), asked(0, LookedUp{}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon, News"},
		{"opened again since, both", dumb(see(nothing, load("x"), loaded, load("x"), asked(0, LookedUp{}))), asked(0, LookedUp{}), "Soon, News"},
		{"opened again since, the later first", dumb(see(nothing, load("x"), loaded, load("x"), asked(1, LookedUp{}))), asked(0, LookedUp{Err: errBusy}), "Soon, News"},
		{"the later first, then", dumb(see(nothing, load("x"), loaded, load("x"), asked(1, LookedUp{}), asked(0, LookedUp{Err: errBusy}))), is(PromptJudged{ID: []byte("x"), Key: "p"}), "Frame hold"},

		// fetches
		{"a fetch ends", dumb(see(nothing, load("x"), loaded, asked(0, LookedUp{Unknown: true}))), fetched("x", FetchEnded{Stored: []byte("{}")}), "Record [ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{}}], Soon, News"},
		{"a fetch ends with nothing", dumb(see(nothing, load("x"), loaded, asked(0, LookedUp{Unknown: true}))), fetched("x", FetchEnded{}), "Soon, News"},
		{"a fetch that spends its key", dumb(see(nothing, load("x"), loaded, asked(0, LookedUp{Unknown: true}))), fetched("x", FetchEnded{Err: memory.ErrKeySpent}), "Record [Rekeyed{session:1,key:key-2,spent:key-1}], Soon, News"},
		{"a fetch that spends its key, not opened", dumb(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}))), fetched("x", FetchEnded{Err: memory.ErrKeySpent}), "Soon, News"},
		{"a fetch that spends its key, opened then", dumb(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}), fetched("x", FetchEnded{Err: memory.ErrKeySpent}))), loaded, "Frame hold, Session x, Request there, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-2}} ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} Rekeyed{session:1,key:key-2,spent:key-1}], Soon"},

		// what is held, and why
		{"before the ledger answers", x(see(nothing, load("x"))), judged, "Frame hold"},
		{"told", play("new", "prompt"), judged, "Frame look, Session s2, Turn 0"},
		{"told, searched for", with(searches, play("new", "prompt")), judged, "Frame hold"},
		{"told, a message", sent(play("new", "prompt")), judged, "Frame hold"},
		{"told, the ledger has failed", see(play("new", "prompt"), again, asked(0, LookedUp{Err: errBusy})), judged, "Frame hold"},
		{"without a ledger", x(see(nothing, load("x"), asked(0, LookedUp{None: true}))), judged, "Frame look, Session x, Turn 0"},
		{"behind a held one", see(play("new"), held(plain)), judged, "Frame look, Session s2, Turn 0"},
		{"off", play("new off"), judged, ""},
		{"a held prompt", play("new"), held(plain), "Frame hold, Session s2, Soon, Recall 1.4s, Held there"},
		{"a held prompt of 20 characters", with(searches, play("new", "prompt")), held("12345678901234567890"), "Frame hold, Session s2, Soon, Recall 300ms, Held there"},
		{"a held prompt of 19 characters", with(searches, play("new", "prompt")), held("1234567890123456789"), "Frame hold, Session s2, Soon, Held there"},
		{"a held prompt before the ledger answers", x(see(nothing, load("x"))), held("short"), "Frame hold, Session x, Soon, Recall 1.4s, Held there"},
		{"a held prompt of an unknown session", x(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}))), held("short"), "Frame hold, Session x, Soon, Recall 1.4s, Held there"},
		{"a held prompt in doubt", play("new", "fails"), held(plain), "Frame hold, Session s2, Soon, Held there"},
		{"a held prompt for a message", sent(play("new", "prompt")), held(plain), "Frame hold, Session s2, Soon, Held there"},
		{"a held prompt, the memories are late", with(late, play("new", "prompt")), held(plain), "Frame hold, Session s2, Soon, Held there"},
		{"a held prompt, the memories have come", with(late, play("new", "prompt", "memories come")), held(plain), "Frame hold, Session s2, Soon, Recall 300ms, Held there"},
		{"a held prompt of a session that is off", play("new off"), held(plain), ""},
		{"a held command", play("new"), held("/help"), "Session s2, Record [TurnBegan{session:1,turn:1,key:key-2,command:help}], Soon"},

		// what a held prompt needs
		{"the ledger", x(see(nothing, load("x"), held(plain))), ask(0), "Prompt waits"},
		{"the ledger, too late", x(see(nothing, load("x"), held(plain))), tooLate, "Soon, Prompt leaves"},
		{"the ledger again", see(play("new", "prompt"), again, asked(0, LookedUp{Err: errBusy}), held(plain)), ask(0), "Prompt looks again"},
		{"the ledger again, in vain", see(play("new", "prompt"), again, asked(0, LookedUp{Err: errBusy}), held(plain)), ask(1), "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Prompt leaves"},
		{"what it continues", see(play("new"), held(plain)), ask(0), "Prompt continues"},
		{"its context", with(late, see(play("new"), held(plain))), ask(1), "Prompt waits"},
		{"its context, too late", with(late, see(play("new"), held(plain), ask(1))), tooLate, "Prompt composes identity"},
		{"a block", see(play("new"), held(plain)), ask(1), "Prompt composes m1 context"},
		{"a block, still", see(play("new"), held(plain), ask(1)), ask(0), "Prompt composes m1 context"},
		{"a block, with a message", with(talks, see(play("new"), held(plain))), ask(1), "Prompt composes m8 m1 context"},
		{"a block, searching", with(searches, see(play("new"), held(plain))), ask(1), "Prompt waits"},
		{"a block, found", with(searches, see(play("new"), held(plain), recalled)), ask(1), "Prompt composes m1 m7 context"},
		{"a block of messages", see(sent(play("new", "prompt")), held(plain)), ask(0), "Prompt composes m8 messages"},
		{"a later block, searching", with(searches, see(play("new", "prompt"), held(plain))), ask(0), "Prompt waits"},
		{"a later block, found", with(searches, see(play("new", "prompt"), held(plain), recalled)), ask(0), "Prompt composes m7 recall"},
		{"a later block, nothing", with(searches, see(play("new", "prompt"), held(plain))), tooLate, "Prompt composes recall"},
		{"a block, the source is away", with(away, see(play("new"), held(plain))), ask(1), "Prompt composes identity"},
		{"memories, the source is away", with(away, see(play("new", "prompt"), held(plain))), ask(1), "Prompt waits"},
		{"memories, the source is broken", with(broken, see(play("new", "prompt"), held(plain))), ask(1), "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Prompt leaves"},
		{"memories, late again", with(late, see(play("new", "prompt"), held(plain))), ask(1), "Prompt composes identity"},
		{"memories, searching", with(comes, see(play("new", "prompt", "memories come"), held(plain))), ask(1), "Prompt waits"},
		{"in doubt, the same again", see(play("new", "fails"), held(plain)), ask(0), "Prompt claims with context"},
		{"a claim", see(play("new"), held(plain)), ask(2), "Prompt claims with context"},
		{"no block", see(play("new"), held(plain), ask(1)), func(p *stage) Seen { return Composed{Prompt: p.c.Session(p.id).context.held} }, "Record [Stepped{session:1,from:[armed],event:{name:nothing to tell}} TurnBegan{session:1,turn:1,key:key-2}], Soon, Prompt leaves"},
		{"granted", see(play("new"), held(plain), ask(2)), claimed(nil), "Record [ContextDropped{session:1} TurnBegan{session:1,turn:1,key:key-2}], Soon, Prompt leaves with context, News"},
		{"granted, then", see(play("new"), held(plain), ask(2), claimed(nil)), ask(0), "Prompt leaves with context"},
		{"refused", see(play("new"), held(plain), ask(2)), claimed(errBusy), "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Prompt leaves, News"},
		{"changed", see(play("new"), held(plain), ask(2)), claimed(correlation.ErrStateChanged), "Prompt looks again, News"},
		{"changed, then refused", see(play("new"), held(plain), ask(2), claimed(correlation.ErrStateChanged)), claimed(errBusy), "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Prompt leaves, News"},
		{"forgotten while it waits", with(late, see(play("new"), held(plain), forgotten)), ask(0), "Prompt leaves off"},
		{"forgotten before it is granted", see(play("new"), held(plain), ask(2), forgotten), claimed(nil), "Soon, Prompt leaves with context, News"},
		{"a cancel while it waits", with(late, see(play("new"), held(plain))), cancels, "News"},
		{"a cancel, then", with(late, see(play("new"), held(plain), cancels)), ask(0), "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Prompt leaves"},
		{"a cancel before it is granted", see(play("new"), held(plain), ask(2), cancels), ask(0), "Prompt claims with context"},
		{"a cancel before there is a block", see(play("new"), held(plain), ask(1), cancels), func(p *stage) Seen {
			return Composed{Prompt: p.c.Session(p.id).context.held, Injection: block("x", KindContext)}
		}, "Record [TurnBegan{session:1,turn:1,key:key-2}], Soon, Prompt leaves"},
		{"something is found", with(searches, see(play("new"), held(plain))), recalled, "News"},

		// messages and titles that may hold a block
		{"a message before the ledger answers", x(see(nothing, load("x"))), shown(UserShown{Users: true, Texts: text}), "Session x, Wait"},
		{"a message that waits", x(see(nothing, load("x"), shown(UserShown{Users: true, Texts: text}))), shown(UserShown{Users: true, Texts: text, Waiting: true}), "Session x, Wait"},
		{"a message that has waited", x(see(nothing, load("x"), shown(UserShown{Users: true, Texts: text}))), shown(UserShown{Users: true, Texts: text, Waiting: true, Late: true}), "Session x"},
		{"the next message", x(see(nothing, load("x"), shown(UserShown{Users: true, Texts: text}))), shown(UserShown{Users: true, Texts: text}), "Session x"},
		{"a message that holds none", x(see(nothing, load("x"))), shown(UserShown{Users: true}), "Session x"},
		{"a message of the history", see(play("new"), func(p *stage) Seen { return load(p.id)(p) }), ours, "Frame hold, Session s2"},
		{"a message after a failed load", see(play("new"), func(p *stage) Seen { return load(p.id)(p) }, failed), ours, "Session s2"},
		{"a message after a prompt", play("new", "load", "slash"), ours, "Session s2, Turn 1"},
		{"an update while another session is made", dumb(see(play("new"), makes)), func(p *stage) Seen {
			p.id = p.c.Sessions()[0].ID()
			return UpdateJudged{ID: []byte(p.id), Kind: Reports}
		}, "Frame look, Session s1"},
		{"a title made from a block", with(cutsTitles, play("new", "prompt")), titleShown("Added by"), "Session s2, Title context"},
		{"a title with our mark", with(cutsTitles, play("new", "prompt")), titleShown(""), "Session s2"},
		{"the client's title", with(cutsTitles, see(play("new", "prompt"), func(p *stage) Seen { return TitledByClient{[]byte(p.id)} })), titleShown("Mine"), "Session s2"},

		// responses that come late
		{"answered after a later one", unanswered("new"), after(PromptAnswered{Stop: StopEnd}), "Frame hold, Turn 1, Request there, Record [Stepped{session:1,from:[doubt],event:{name:assumed kept}}], Ended TurnEnded{turn:1,stop:end_turn}, Soon"},
		{"refused after a later one", unanswered("new"), after(PromptAnswered{Failed: true, Code: -32602}), "Frame hold, Turn 1, Request there, Record [ContextStored{session:1,key:key-2,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} Stepped{session:1,from:[doubt],event:{name:replay clean}}], Ended TurnEnded{turn:1,stop:error,code:-32602}, Soon"},
		{"failed after a later one", unanswered("new"), after(PromptAnswered{Failed: true, Code: 1}), "Frame hold, Turn 1, Request there, Ended TurnEnded{turn:1,stop:error,code:1}, Soon"},
		{"identity answered after a later one", with(late, unanswered("new")), after(PromptAnswered{Stop: StopEnd}), "Frame hold, Turn 1, Request there, Record [Stepped{session:1,from:[doubt],event:{name:assumed kept,partly:true}}], Ended TurnEnded{turn:1,stop:end_turn}, Soon"},
		{"a quick command", see(turn, answered("a", PromptAnswered{Stop: StopEnd})), func(p *stage) Seen {
			return PromptLooked{Turn: p.c.Session(p.id).turns.last, Said: Said{Prompt: words("/clear")}, First: "/clear"}
		}, "Record [Stepped{session:1,from:[done],event:{name:cleared,whole:true}} ContextDropped{session:1} Rekeyed{session:1,key:key-4}], Soon, Fetches there, News"},
		{"a prompt that was dropped", turn, func(p *stage) Seen {
			now := p.c.Session(p.id).turns.current()
			p.see(forgotten(p))
			return PromptLooked{Turn: now, Said: Said{Prompt: words("go")}}
		}, ""},
		{"a long prompt", turn, looked(Said{Prompt: words(strings.Repeat("x", 200<<10))}), "Record [TurnBegan{session:1,turn:2,key:key-2}], Soon, Full"},
		{"a prompt read late, then", see(turn, lost(0), begins, say), begins, "Due {turn 2 go}"},
		{"nothing that a turn used", see(turn, say), answered("a", PromptAnswered{Stop: StopEnd, Usage: []Usage{{OfTurn: true}}}), "Frame hold, Turn 2, Request there, Record [UsageReported{session:1,turn:2,usage:{reporter:}}], Ended TurnEnded{turn:2,stop:end_turn}, Soon"},
		{"two lists with one key", see(play("new"), is(Asked{Key: "a"})), is(Asked{Key: "a"}), ""},
		{"forgotten, then", see(play("new", "prompt"), forgotten), begins, "Due {turn 1 a plain prompt of some length ended off}"},
		{"forgotten in a turn, then", see(turn, say, forgotten), begins, "Due {turn 2 off}"},
		{"the response of one that left when it was forgotten", with(late, see(play("new"), held(plain), forgotten, ask(0))), is(Answered{Key: "h"}), ""},
		{"a turn that failed before it was opened", x(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}), held("/help"))), answered("h", PromptAnswered{Failed: true}), "Frame hold, Turn 1, Request there, Soon"},
		{"a turn that failed, opened then", x(see(nothing, load("x"), asked(0, LookedUp{Unknown: true}), held("/help"), answered("h", PromptAnswered{Failed: true}))), loaded, "Frame hold, Session x, Request there, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}} ContextStored{session:1,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}} TurnBegan{session:1,turn:1,key:key-1,command:help} TurnEnded{turn:1,stop:error}], Soon"},
		{"a command before the ledger answers", x(see(nothing, load("x"), loaded)), held("/help"), "Session x, Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}} TurnBegan{session:1,turn:1,key:key-1,command:help}], Soon"},
		{"a close before the ledger answers", x(see(nothing, load("x"), loaded)), of(func(s *Session, _ *Turn) Seen { return Closed{s, "session/close"} }), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:key-1}}], Soon"},
		{"a compaction", play("new", "prompt"), compacts("1", "completed"), "Record [Stepped{session:1,from:[done],event:{name:compacted}} ContextDropped{session:1}], Soon, Fetches there"},

		// sessions that come from others
		{"a fork's place", dumb(see(play("new", "prompt"), func(p *stage) Seen { return fork(p.id)(p) })), making, "Who  model /tmp/x "},
		{"a fork of one that was told", see(play("new", "prompt"), func(p *stage) Seen { return fork(p.id)(p) }), forked, "Frame hold, Session child, Request there, Record [Opened{session:2,open:{harness:model,acpId:child,cwd:/tmp/x,project:/tmp/x,client:tester,agent:model,parentKey:key-2,new:true,made:2027-01-15T08:00:00Z,key:key-4,state:done},fork:1}], Soon"},
		{"a fork of one that was told since", see(play("new"), func(p *stage) Seen { p.dumb = true; return fork(p.id)(p) },
			func(p *stage) Seen { play("prompt")(p); p.answer(); return BlocksSought{} }), forked, "Frame hold, Session child, Request there, Record [Opened{session:2,open:{harness:model,acpId:child,cwd:/tmp/x,project:/tmp/x,client:tester,agent:model,parentKey:key-2,new:true,made:2027-01-15T08:00:00Z,key:key-4,state:armed},fork:1} ContextStored{session:2,key:key-4,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}}], Soon"},
		{"a fork of one that another proxy has told since", see(play("new"), func(p *stage) Seen { p.dumb = true; return fork(p.id)(p) },
			found(0, correlation.Done, ""), asked(0, LookedUp{})), forked, "Frame hold, Session child, Request there, Record [Opened{session:2,open:{harness:model,acpId:child,cwd:/tmp/x,project:/tmp/x,client:tester,agent:model,parentKey:key-2,new:true,made:2027-01-15T08:00:00Z,key:key-3,state:done},fork:1}], Soon"},
		{"a fork of one that is unknown", x(see(nothing, load("x"), asked(0, LookedUp{}), fork("x"), asked(1, Found{}), asked(1, LookedUp{Unknown: true}))), forked, "Frame hold, Session child, Request there, Record [Opened{session:2,open:{harness:model,acpId:child,cwd:/w,project:/w,client:tester,agent:model,parentKey:key-1,new:true,made:2027-01-15T08:00:00Z,key:key-2,state:armed},fork:1} ContextStored{session:2,key:key-2,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}}], Soon"},
		{"after a failed load", see(x(see(nothing, acpx, load("x"), found(0, correlation.Armed, ""), asked(0, LookedUp{}), failed))), makes, "Session , Lookups [{ row 7 had false}]"},
		{"in place of a failed load", see(x(see(nothing, acpx, load("x"), found(0, correlation.Armed, ""), asked(0, LookedUp{}), failed, makes, asked(1, Found{})))), making, "Who key-1 model /w "},
		{"in place of an unknown one, opened", see(x(see(nothing, acpx, load("x"), asked(0, LookedUp{Unknown: true}), failed, makes, asked(1, Found{}), asked(1, LookedUp{})))), func(*stage) Seen {
			return Answered{Key: "n", Read: func(r Request) Seen { return OpeningAnswered{Request: r, ID: "new", Editing: true} }}
		}, "Frame hold, Session new, Request there, Record [Opened{session:2,open:{harness:model,acpId:new,cwd:/w,project:/w,client:acpx,agent:model,new:true,made:2027-01-15T08:00:00Z,key:key-1}} ContextStored{session:2,key:key-1,fetched:0001-01-01T00:00:00Z,context:{source:test,identity:You are Alto.,items:[{id:m1,text:Robin prefers tabs.}]}}], Soon"},
		{"of the record of a failed load", x(see(nothing, load("x"), found(0, correlation.Armed, ""), asked(0, LookedUp{}), fetched("x", FetchEnded{}), failed, makes, found(1, correlation.Armed, ""))), making, "Who key-1 model /w "},
		{"of a record that was given its identity", dumb(see(nothing, makes)), asked(0, Found{Known: &stored, Blocks: given}), "Orphan, Rows [0 0], Who  model /w "},
		{"of a record whose identity is placed", dumb(see(nothing, makes)), asked(0, Found{Known: &stored}), "Orphan, Rows [0 7], Who  model /w "},
		{"an early request", nothing, is(OpeningAsked{Key: "n", Opening: Opening{Kind: OpensNew, Early: true}}), ""},
		{"an early request, opened", dumb(see(nothing, is(OpeningAsked{Key: "n", Opening: Opening{Kind: OpensNew, Early: true}}))), func(*stage) Seen {
			return Answered{Key: "n", Read: func(r Request) Seen { return OpeningAnswered{Request: r, ID: "new", Editing: true} }}
		}, "Frame hold, Request there, Soon, Lookups [{ row 0 had false}]"},
		{"opened again", see(play("new"), func(p *stage) Seen { return load(p.id)(p) }), loaded, "Frame hold, Session s2, Request there, Record [Opened{session:1,open:{harness:model,acpId:s2,cwd:/tmp/x,project:/tmp/x,client:tester,agent:model,made:2027-01-15T08:00:00Z,key:key-2}}], Soon"},
		{"a prompt while it is opened again", see(play("new", "prompt"), again), judged, "Frame hold"},
		{"found while it is fetched", see(with(late, play("new")), again), found(0, correlation.Armed, ""), "Who key-2 model /tmp/x "},
		{"found, fetched before", x(see(nothing, load("x"), asked(0, LookedUp{Err: errBusy}), load("x"))), found(1, correlation.Armed, ""), "Rows [7 0], Who K model /w "},
		{"in a folder that is left alone", with(func(p *stage) { p.o.Exclude = []string{"/tmp/*"} }, play("new")), sought(false, false), "Who key-2 model /tmp/x , Off"},
		{"its key, once it was compacted", with(all, play("new", "prompt", "compacts itself")), sought(false, false), "Who key-5 model /tmp/x "},
		{"its key, stored and compacted", with(all, play("new", "ends", "load", "prompt", "compacts itself")), sought(false, false), "Who key-6 model /tmp/x "},
		{"with the stored context of its own key", x(see(nothing, load("x"), loaded, found(0, correlation.Armed, ""))), asked(0, LookedUp{Key: "K", Stored: []byte("{}")}), "Record [Opened{session:1,open:{harness:model,acpId:x,cwd:/w,project:/w,client:tester,agent:model,key:K}} ContextStored{session:1,key:K,fetched:0001-01-01T00:00:00Z,context:{}}], Soon, News"},

		// whose identity is there
		{"memories, placed", with(late, see(placed, held(plain))), ask(1), "Prompt waits"},
		{"placed, and off", play("new off"), func(p *stage) Seen {
			return Placed{Session: p.c.Session(p.id), Injection: block("You are Alto.", KindSystem)}
		}, ""},
		{"memories, placed in another process", with(late, x(see(nothing, load("x"), loaded, asked(0, Found{Known: &stored}), asked(0, LookedUp{}), held(plain)))), ask(1), "Prompt waits"},
		{"memories, given in another process", with(late, x(see(nothing, load("x"), loaded, asked(0, Found{Known: &stored, Blocks: given}), asked(0, LookedUp{}), held(plain)))), ask(1), "Prompt composes identity"},
		{"memories that failed", with(late, see(play("new", "prompt"), func(p *stage) Seen {
			p.err, p.late = errBusy, false
			p.fetch()
			return held(plain)(p)
		})), ask(1), "Prompt composes memories"},
		{"another speaks for it", with(func(p *stage) { p.err = memory.ErrOwned }, see(play("new"), held(plain))), ask(1), "Record [Stepped{session:1,from:[armed],event:{name:nothing to tell}} TurnBegan{session:1,turn:1,key:key-2}], Soon, Prompt leaves"},
		{"a held prompt, the ledger has failed", see(play("new", "prompt"), again, asked(0, LookedUp{Err: errBusy})), held(plain), "Frame hold, Session s2, Soon, Recall 1.4s, Held there"},
		{"memories that have come, missed", with(late, play("new", "prompt", "memories come")), held("short"), "Frame hold, Session s2, Soon, Recall 300ms, Held there"},
		{"memories that have come, placed", with(late, see(placed)), held("short"), "Frame hold, Session placed, Soon, Recall 1.4s, Held there"},

		// ends
		{"a close", see(turn, say, begins), of(func(s *Session, _ *Turn) Seen { return Closed{s, "session/close"} }), "Record [TurnEnded{turn:2,stop:unanswered}], Soon"},
		{"a close, then", see(turn, say, begins, of(func(s *Session, _ *Turn) Seen { return Closed{s, "session/close"} })), ends, "Record [Closed{session:1,reason:session/close}], Soon, Closed, Gone [s2]"},
		{"events of a turn", see(turn, say, begins), of(func(s *Session, now *Turn) Seen {
			return Recorded{Session: s, Turn: now, Events: []correlation.Event{correlation.UserSaid{Turn: now.Number, Text: "go"}}}
		}), "Record [UserSaid{turn:2,text:go}], Soon"},
		{"events of a turn that was dropped", see(turn, say), func(p *stage) Seen {
			s := p.c.Session(p.id)
			now := s.turns.current()
			p.see(PromptLooked{Turn: now, Said: Said{Off: true}})
			return Recorded{Session: s, Turn: now, Events: []correlation.Event{correlation.UserSaid{Turn: now.Number, Text: "go"}}}
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newStage(t)
			p.start()
			tt.before(p)
			if got := effects(p.c.On(p.at, tt.seen(p))); got != tt.want {
				t.Errorf("%s", got)
			}
		})
	}
}
