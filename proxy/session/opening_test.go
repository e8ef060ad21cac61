package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// making asks for new sessions, whose ids the harness has not named yet.
func (p *stage) making(keys ...string) {
	for _, key := range keys {
		p.see(OpeningAsked{Key: key, Opening: Opening{Kind: OpensNew, Cwd: "/tmp/x"}})
	}
}

// What becomes of an update when it begins, by its kind and by what is known of its session.
func TestUpdateJudged(t *testing.T) {
	idle := func(p *stage) { steps["new"](p); p.see(CancelAsked{}) }
	replays := func(p *stage) {
		steps["new"](p)
		p.see(OpeningAsked{Key: "a", Opening: Opening{Kind: OpensKnown, Target: p.id}})
	}
	talks := func(p *stage) { steps["new"](p); steps["slash"](p) }
	told := func(p *stage) { steps["new"](p); steps["prompt"](p) }
	dumb := func(p *stage) { p.dumb = true; steps["new"](p) }
	nobody := func(p *stage) { p.id = "nobody" }
	makes := func(p *stage) { nobody(p); p.making("1") }
	forks := func(p *stage) {
		nobody(p)
		p.see(OpeningAsked{Key: "1", Opening: Opening{Kind: OpensFork, Target: "x"}})
	}
	two := func(p *stage) { nobody(p); p.making("1", "2") }
	for _, tt := range []struct {
		name string
		with func(*stage)
		want map[Update]Frame // of the others: forward
	}{
		{"no turn", idle, map[Update]Frame{Titles: Look, Commands: Look, Idles: Hold, Reports: Look}},
		{"it replays", replays, map[Update]Frame{Ours: Hold, Titles: Hold, Commands: Look, Idles: Hold, Reports: Look}},
		{"a turn", talks, map[Update]Frame{Words: Look, Titles: Look, Commands: Look, Idles: Hold, Reports: Look}},
		{"a block", told, map[Update]Frame{Words: Look, Ours: Hold, Titles: Hold, Commands: Look, Idles: Hold, Reports: Look}},
		{"not looked up", dumb, map[Update]Frame{Ours: Hold, Titles: Hold, Commands: Look, Idles: Hold, Reports: Look}},
		{"nobody's", nobody, map[Update]Frame{Ours: Hold}},
		{"being made", makes, map[Update]Frame{Titles: Look, Commands: Look, Idles: Hold, Reports: Look}},
		{"a fork", forks, map[Update]Frame{Ours: Hold, Titles: Hold, Commands: Look, Idles: Hold, Reports: Look}},
		{"one of two", two, map[Update]Frame{Ours: Hold, Commands: Look}},
	} {
		p := newStage(t)
		p.start()
		tt.with(p)
		for kind := Other; kind <= Reports; kind++ {
			if got := p.see(UpdateJudged{ID: []byte(p.id), Kind: kind}).Frame; got != tt.want[kind] {
				t.Errorf("%s: an update of kind %d is %d", tt.name, kind, got)
			}
		}
	}
}

// An id that nobody knows is that of the one session that is being made, the first of them at that. Commands that come
// before the response are the session's all the same.
func TestEarlyIDs(t *testing.T) {
	p := newStage(t)
	p.start()
	p.making("1")
	s := p.see(UpdateJudged{ID: []byte("early"), Kind: Reports}).Session
	if s == nil || p.see(UpdateJudged{ID: []byte("other"), Kind: Reports}).Session != nil ||
		p.see(UpdateJudged{ID: nil, Kind: Reports}).Session != nil {
		t.Error("another id is taken for that of the session being made, or its own is not")
	}
	p.making("2")
	p.see(Advertised{ID: "a", Commands: map[string]bool{"one": true}})
	p.see(Advertised{ID: "b", Commands: map[string]bool{"two": true}})
	for _, made := range []struct{ key, id string }{{"2", "b"}, {"1", "a"}} {
		p.see(OpeningAnswered{Request: p.see(Answered{Key: made.key}).Request, ID: made.id, Editing: true})
	}
	for id, command := range map[string]string{"a": "one", "b": "two"} {
		if s := p.c.Session(id); s == nil || !s.exists.commands[command] || len(s.exists.commands) != 1 {
			t.Errorf("%s: %+v", id, s)
		}
	}
	if len(p.c.making) != 0 || len(p.c.early) != 0 {
		t.Error("something is left of what was being made")
	}
	if e, ok := p.events[0].(correlation.Opened); !ok || !e.Open.New || !e.Open.Made.Equal(p.at) {
		t.Errorf("recorded: %+v", p.events[0])
	}
	p.see(Advertised{ID: "nobody"})
	if len(p.c.early) != 0 {
		t.Error("commands of nobody are kept")
	}
	p.making("3")
	for n := range 40 {
		p.see(Advertised{ID: fmt.Sprint("n", n)})
	}
	if len(p.c.early) != 32 {
		t.Errorf("commands of %d sessions are kept", len(p.c.early))
	}
}

// Of a session that is switched off nothing more is inserted or recorded but that; of one that was forgotten, nothing.
func TestSilence(t *testing.T) {
	for name, tt := range map[string]struct {
		quiet  func(*stage, *Session)
		events int
	}{
		"off":               {func(p *stage, s *Session) { p.see(PromptLooked{Turn: s.turns.last, Said: Said{Off: true}}) }, 1},
		"forgotten":         {func(p *stage, s *Session) { p.see(Forgotten{Numbers: []int{s.Number()}}) }, 0},
		"another forgotten": {func(p *stage, s *Session) { p.see(Forgotten{Numbers: []int{s.Number() + 1}}) }, -1},
	} {
		p := newStage(t)
		p.start()
		steps["new"](p)
		steps["prompt"](p)
		s := p.c.Session(p.id)
		open := p.see(PromptJudged{ID: []byte(p.id), Key: "open"}).Turn
		p.events = nil
		tt.quiet(p, s)
		p.see(Used{Session: s})
		p.see(Titled{ID: []byte(p.id), Text: "A title"})
		p.see(ChunkCame{Turn: open})
		frame := p.see(PromptJudged{ID: []byte(p.id), Key: "x"}).Frame
		if steers := p.see(SteeringJudged{ID: []byte(p.id)}).Frame; steers != frame {
			t.Errorf("%s: steering is %d", name, steers)
		}
		due := p.see(RecordingBegins{}).Due
		if tt.events >= 0 && (len(p.events) != tt.events || frame != forward || len(due.Titles) != 0) {
			t.Errorf("%s: recorded %+v, the prompt is %d, %d titles", name, p.events, frame, len(due.Titles))
		}
		if tt.events < 0 && (len(p.events) == 0 || frame != Look || len(due.Titles) != 1) {
			t.Errorf("%s: recorded %+v, the prompt is %d", name, p.events, frame)
		}
	}
}

// A session that the client has closed has left once its last words are recorded, unless it is open again by then.
func TestClosed(t *testing.T) {
	for when, again := range map[string]bool{"": false, "then": true, "before": true} {
		p := newStage(t)
		p.start()
		steps["new"](p)
		steps["prompt"](p)
		s := p.c.Session(p.id)
		if when == "before" {
			p.see(OpeningAsked{Key: "a", Opening: Opening{Kind: OpensKnown, Target: p.id}})
		}
		p.events = nil
		p.see(Closed{Session: s, Method: "session/close"})
		if p.c.Session(p.id) != nil || p.see(ClientGone{}).Busy {
			t.Error("it is still there")
		}
		switch when {
		case "then":
			steps["load"](p)
		case "before":
			p.see(OpeningAnswered{Request: p.see(Answered{Key: "a"}).Request, Editing: true})
		}
		ends := p.see(RecordingEnds{})
		left := slices.ContainsFunc(p.events, func(e correlation.Event) bool { _, is := e.(correlation.Closed); return is })
		opened := slices.ContainsFunc(p.events, func(e correlation.Event) bool { _, is := e.(correlation.Opened); return is })
		if ends.Closed == again || left == again || opened != again || slices.Contains(ends.Gone, s) == again {
			t.Errorf("opened %s: left: %t, %t, opened: %t; gone %v", when, ends.Closed, left, opened, ends.Gone)
		}
	}
}

// What the harness refused to open is nothing, unless it was open before.
func TestNotOpened(t *testing.T) {
	p := newStage(t)
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
		s := p.see(OpeningAsked{Key: "a", Opening: tt.opening}).Session
		p.see(Answered{Key: "a", Read: func(r Request) Seen {
			return OpeningAnswered{Request: r, Failed: true, Editing: true}
		}})
		if known := p.c.Session(s.ID()) == s; known != tt.known || len(p.c.making) > 0 {
			t.Errorf("%+v: it is known: %t", tt.opening, known)
		}
		if mayContinue := p.c.failed != nil; mayContinue != (tt.opening.Target == "nobody") {
			t.Errorf("%+v: the next session may continue it: %t", tt.opening, mayContinue)
		}
		if gone := slices.Contains(p.see(RecordingEnds{}).Gone, s); gone != tt.gone {
			t.Errorf("%+v: gone: %t", tt.opening, gone)
		}
	}
}

// A session whose response names no id is none, and what is said about sessions that nobody knows means nothing.
func TestNobody(t *testing.T) {
	p := newStage(t)
	p.start()
	p.making("a")
	p.see(OpeningAnswered{Request: p.see(Answered{Key: "a"}).Request, Editing: true})
	p.see(OpeningAnswered{Request: Request{Opening: Opening{Kind: OpensNew, Early: true}}, ID: "not to be edited"})
	id := []byte("nobody")
	for _, seen := range []Seen{
		PromptJudged{ID: id}, PromptHeld{ID: id}, SteeringJudged{ID: id}, HarnessIdle{ID: id}, UserShown{ID: id},
		Titled{ID: id, Text: "x"}, TitledByClient{ID: id}, TitleShown{ID: "nobody", Text: "x"}, CancelAsked{ID: id},
		UpdateJudged{ID: id, Kind: Idles}, Answered{Key: "nobody"}, BlocksSought{ID: "nobody"},
	} {
		if do := p.see(seen); do.Frame != forward || do.Session != nil || len(p.c.Sessions()) != 0 {
			t.Errorf("%+v: %+v, %d sessions", seen, do, len(p.c.Sessions()))
		}
	}
}

// A look-up waits for those about sessions that the new one may continue.
func TestLookupsInTurn(t *testing.T) {
	p := newStage(t)
	p.dumb = true
	p.start()
	p.see(OpeningAsked{Key: "a", Opening: Opening{Kind: OpensKnown, Target: "old"}})
	p.making("b")
	if len(p.asked) != 1 || p.asked[0].ID != "old" {
		t.Fatalf("asked: %+v", p.asked)
	}
	p.answer()
	if len(p.asked) != 1 || p.asked[0].Kind != OpensNew || len(p.asked[0].First) != 2 {
		t.Errorf("asked then: %+v", p.asked)
	}
	before := &correlation.Session{ID: 7, State: correlation.Off}
	p.see(Found{Lookup: p.asked[0], Record: "r", Known: before})
	if e := p.c.making[0].exists; e.Open.ContinueOf != 7 || e.Open.Record != "r" || e.silence != off {
		t.Errorf("of a record whose last session is off: %+v", e)
	}
}

// Equal ids are equal however they are spelled, and a string is no number.
func TestIDKey(t *testing.T) {
	decode := func(raw []byte) (text string, ok bool) { return text, json.Unmarshal(raw, &text) == nil }
	for token, want := range map[string]string{
		"7": "7", "7.0": "7", "70e-1": "7", "0.7E1": "7", "-7": "-7", "9007199254740993": "9007199254740993",
		`"7"`: `"7`, `"\u0037"`: `"7`, `"x`: `"x`, "null": "null", "": "",
	} {
		if got := IDKey([]byte(token), decode); got != want {
			t.Errorf("%s: %s", token, got)
		}
	}
}

// The ledger is waited for where the file of events holds more of a session than it may have.
func TestBehind(t *testing.T) {
	p := newStage(t)
	p.start()
	steps["new"](p)
	s := p.c.Session(p.id)
	first := p.see(Unfolded{About: []*Session{s}}).Behind
	if first != len(p.events) || first == 0 {
		t.Fatalf("behind: %d of %d events", first, len(p.events))
	}
	steps["prompt"](p)
	all := len(p.events)
	for _, tt := range []struct{ folded, behind int }{{first, all}, {all - 1, all}, {all, 0}, {first, 0}} {
		p.see(Folded{Events: tt.folded})
		if got := p.see(Unfolded{About: []*Session{s, {}}}).Behind; got != tt.behind {
			t.Errorf("of %d events %d are folded: behind %d", all, tt.folded, got)
		}
	}
}

// What is private in one prompt nothing recorded later may repeat.
func TestPrivate(t *testing.T) {
	p := newStage(t)
	p.start()
	steps["new"](p)
	steps["prompt"](p)
	s := p.c.Session(p.id)
	p.see(RecordingBegins{})
	p.see(Recorded{Session: s, Private: []string{"one"}})
	if all := p.see(Recorded{Session: s, Private: []string{"two"}}).Private; !slices.Equal(all, []string{"one", "two"}) {
		t.Errorf("private: %q", all)
	}
	p.see(Titled{ID: []byte(p.id), Text: "A title"})
	steps["prompt"](p)
	due := p.see(RecordingBegins{}).Due
	if len(due.Titles) != 1 || len(due.Turns) != 1 || !slices.Equal(due.Titles[0].Private, due.Turns[0].Private) ||
		len(due.Turns[0].Private) != 2 || len(due.Titles[0].Blocks) != 1 {
		t.Errorf("due: %+v", due)
	}
}
