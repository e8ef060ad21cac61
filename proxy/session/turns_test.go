package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Words belong to the oldest turn without a response, or to the last one.
func TestCurrentTurn(t *testing.T) {
	a, b, c := &Turn{step: turnBegan}, &Turn{step: turnBegan}, &Turn{}
	old := &Turn{step: turnEnded}
	for _, tt := range []struct {
		name   string
		w      turns
		now    *Turn
		before []*Turn // c
		upTo   []*Turn // c
	}{
		{"nothing", turns{}, nil, nil, []*Turn{c}},
		{"the last", turns{last: old}, old, nil, []*Turn{c}},
		{"the oldest", turns{open: []*Turn{a, b}, last: old}, a, nil, []*Turn{a, b, c}},
		{"behind others", turns{open: []*Turn{a, b, c}}, a, []*Turn{a, b}, []*Turn{a, b, c}},
		{"held", turns{open: []*Turn{c, a}, last: old}, old, nil, []*Turn{c}},
		{"behind a held one", turns{open: []*Turn{a, {}, c}}, a, []*Turn{a, {}}, []*Turn{a}},
	} {
		if got := tt.w.current(); got != tt.now {
			t.Errorf("%s: the current turn is %p", tt.name, got)
		}
		if got := tt.w.before(c); len(got) != len(tt.before) {
			t.Errorf("%s: %d turns in front", tt.name, len(got))
		}
		if got := tt.w.upTo(c); !slices.Equal(got, tt.upTo) {
			t.Errorf("%s: %d turns may have begun", tt.name, len(got))
		}
	}
}

// What is reported of a tool is recorded once, and in a later report only what is new.
func TestToolReports(t *testing.T) {
	var turn Turn
	at := time.Unix(1000, 0)
	turn.call(correlation.ToolCall{ID: "1", Title: "cat x", Kind: "read", Status: "pending"}, at)
	turn.call(correlation.ToolCall{ID: "1", Status: "in_progress"}, at.Add(time.Second))
	turn.call(correlation.ToolCall{ID: "2", Title: "ls"}, at.Add(time.Second))
	check := func(want ...correlation.ToolCall) {
		t.Helper()
		if got := turn.takeTools(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("reported: %+v", got)
		}
	}
	check(correlation.ToolCall{ID: "1", Title: "cat x", Kind: "read", Status: "in_progress", Milliseconds: 1000},
		correlation.ToolCall{ID: "2", Title: "ls"})
	check()
	turn.call(correlation.ToolCall{ID: "1", Status: "completed", Locations: []string{"x"}}, at.Add(time.Second))
	turn.call(correlation.ToolCall{ID: "1"}, at.Add(3*time.Second))
	check(correlation.ToolCall{ID: "1", Status: "completed", Locations: []string{"x"}, Milliseconds: 3000})
	for i := range 300 {
		turn.call(correlation.ToolCall{ID: fmt.Sprint("n", i)}, at)
	}
	if n := len(turn.takeTools()); n != 257-2 { // one too many says that there were more
		t.Errorf("%d calls are kept", n)
	}
	if turn.inputUsed(1000) != 0 {
		t.Error("the number of calls is taken for known")
	}
	if most := (&Turn{tools: make([]tool, correlation.MaxTools)}); most.inputUsed(2*257) != 2 {
		t.Error("the number of calls is not taken for known")
	}
	if few := (&Turn{tools: make([]tool, 3)}); few.inputUsed(1000) != 250 {
		t.Errorf("%d tokens each", few.inputUsed(1000))
	}
}

// A prompt is read only after it was forwarded, and a quick harness is at work by then. Whatever comes first begins the
// turn in the file of events, once: if the process is killed now, a turn without a prompt shows what was done.
func TestTurnBeginsBeforeItsPromptIsRead(t *testing.T) {
	for name, first := range map[string]func(*stage, *Turn){
		"a tool call": func(p *stage, turn *Turn) {
			p.see(ToolCalled{Session: turn.Session, Call: correlation.ToolCall{ID: "1"}})
		},
		"words":         func(p *stage, turn *Turn) { p.see(ChunkCame{Turn: turn}) },
		"what was used": func(p *stage, turn *Turn) { p.see(Used{Session: turn.Session}) },
		"steering":      func(p *stage, turn *Turn) { p.see(Steered{Session: turn.Session, Prompt: words("go")}) },
		"the prompt": func(p *stage, turn *Turn) {
			p.see(PromptLooked{Turn: turn, Said: Said{Prompt: words("go")}})
		},
		"the response of a later prompt": func(p *stage, _ *Turn) {
			p.see(PromptJudged{ID: []byte(p.id), Key: "b"})
			p.see(PromptAnswered{Request: p.see(Answered{Key: "b"}).Request})
		},
		"the response": func(p *stage, _ *Turn) { p.see(PromptAnswered{Request: p.see(Answered{Key: "a"}).Request}) },
		"its id again": func(p *stage, _ *Turn) { p.see(PromptJudged{ID: []byte(p.id), Key: "a"}) },
		"a close":      func(p *stage, turn *Turn) { p.see(Closed{Session: turn.Session}) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newStage(t)
			p.start()
			steps["new"](p)
			steps["prompt"](p) // the next is not held
			p.events = nil
			turn := p.see(PromptJudged{ID: []byte(p.id), Key: "a"}).Turn
			first(p, turn)
			began := func() (n int) {
				for _, e := range p.events {
					if e, ok := e.(correlation.TurnBegan); ok && e.Turn == turn.Number {
						n++
					}
				}
				return n
			}
			if began() != 1 {
				t.Fatalf("the turn has not begun: %+v", p.events)
			}
			for _, e := range p.events {
				if e, ok := e.(correlation.UsageReported); ok && e.Turn != turn.Number {
					t.Errorf("what was used is of turn %d", e.Turn)
				}
			}
			p.see(PromptLooked{Turn: turn, Said: Said{Prompt: words("go")}})
			if began() != 1 {
				t.Errorf("the turn began %d times", began())
			}
			due := p.see(RecordingBegins{}).Due.Turns
			if i := slices.IndexFunc(due, func(d DueTurn) bool { return d.Turn == turn }); i < 0 || len(due[i].Prompts) == 0 {
				t.Errorf("due is %+v", due)
			}
		})
	}
}

// What is in the file of events, and what has to be there before the response goes on.
func TestTurnEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []string // keys of the prompts in the order of their answers; a and b were sent
		ended   []string // turns and how they ended, in the order of the file
		current int      // the turn that later words belong to
	}{
		"in order":     {[]string{"a", "b"}, []string{"2 end_turn", "3 end_turn"}, 3},
		"the later":    {[]string{"b"}, []string{"2 unanswered", "3 end_turn"}, 3},
		"out of order": {[]string{"b", "a"}, []string{"2 unanswered", "3 end_turn", "2 end_turn"}, 3},
		"the first":    {[]string{"a"}, []string{"2 end_turn"}, 3},
		"with errors":  {[]string{"a error", "b error"}, []string{"2 error", "3 error"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := newStage(t)
			p.start()
			steps["new"](p)
			steps["prompt"](p)
			p.events = nil
			for _, key := range []string{"a", "b"} {
				turn := p.see(PromptJudged{ID: []byte(p.id), Key: key}).Turn
				p.see(PromptLooked{Turn: turn, Said: Said{Prompt: words("go")}})
			}
			for _, key := range tt.answers {
				key, failed := strings.CutSuffix(key, " error")
				do := p.see(PromptAnswered{
					Request: p.see(Answered{Key: key}).Request, ID: key, Stop: StopEnd, Failed: failed, Code: -32603,
				})
				if e, ok := do.Ended.(correlation.TurnEnded); !ok || e.Request != key || (e.Code == -32603) != failed || do.Wait {
					t.Errorf("the response waits for %+v, %t", do.Ended, do.Wait)
				}
			}
			var ended []string
			for _, e := range p.events {
				if e, ok := e.(correlation.TurnEnded); ok {
					ended = append(ended, fmt.Sprint(e.Turn, " ", e.Stop))
				}
			}
			if !slices.Equal(ended, tt.ended) {
				t.Errorf("ended: %q", ended)
			}
			if now := p.c.Session(p.id).turns.current(); now.Number != tt.current {
				t.Errorf("words belong to turn %d", now.Number)
			}
		})
	}
}

// A harness of version 2 ends all the turns that it has accepted at once, the last with what it says.
func TestIdle(t *testing.T) {
	p := newStage(t)
	p.start()
	steps["new"](p)
	steps["prompt"](p)
	s := p.c.Session(p.id)
	s.exists.live, p.events = false, nil
	for _, key := range []string{"a", "b", "c"} {
		turn := p.see(PromptJudged{ID: []byte(p.id), Key: key}).Turn
		p.see(PromptLooked{Turn: turn, Said: Said{Prompt: words("go")}})
		p.see(PromptAnswered{Request: p.see(Answered{Key: key}).Request, Accepted: true})
	}
	if sought := p.see(TurnsSought{}).Sessions; len(sought) != 1 {
		t.Errorf("turns are under way in %d sessions", len(sought))
	}
	last, _ := p.see(HarnessIdle{ID: []byte(p.id), Stop: "max_tokens"}).Ended.(correlation.TurnEnded)
	var ended []string
	for _, e := range p.events {
		if e, ok := e.(correlation.TurnEnded); ok {
			ended = append(ended, fmt.Sprint(e.Turn, " ", e.Stop))
		}
	}
	if !slices.Equal(ended, []string{"2 end_turn", "3 end_turn", "4 max_tokens"}) || last.Turn != 4 {
		t.Errorf("ended: %q, the last %+v", ended, last)
	}
	if p.see(HarnessIdle{ID: []byte(p.id)}).Ended != nil || len(p.see(TurnsSought{}).Sessions) != 0 {
		t.Error("something is under way")
	}
}

// What the user says in the middle of a turn is due with it, and at once if it is much.
func TestSteered(t *testing.T) {
	p := newStage(t)
	p.start()
	steps["new"](p)
	s := p.c.Session(p.id)
	p.see(Steered{Session: s, Prompt: words("nobody listens")})
	p.see(ToolCalled{Session: s})
	steps["prompt"](p)
	s.turns.last.begun = false
	turn := p.see(UpdateJudged{ID: []byte(p.id), Kind: Thoughts}).Turn
	if !turn.begun || !p.see(ChunkCame{Turn: turn}).Later {
		t.Error("what is thought begins no answer, or words are not due later")
	}
	for i, prompt := range []words{words(strings.Repeat("x", 192<<10)), "", words(strings.Repeat("x", 192<<10+1))} {
		p.see(RecordingBegins{})
		since := s.history.since
		do := p.see(Steered{Session: s, Prompt: prompt, Bytes: 7})
		due := p.see(RecordingBegins{}).Due.Turns
		if said := len(due) == 1 && slices.Equal(due[0].Prompts, []Prompt{prompt}); said != (prompt != "") ||
			do.Full != (i == 2) || s.history.since != since+7 {
			t.Errorf("%d bytes: due %+v, at once %t", len(prompt), len(due), do.Full)
		}
	}
}

// A prompt that is held when the harness ends has been said all the same; so has one of a session whose load failed.
func TestSaidAllTheSame(t *testing.T) {
	for name, say := range map[string]func(*stage){
		"held": func(p *stage) {
			steps["new"](p)
			p.late = true
			p.hold(plain)
			p.see(HarnessEnded{})
		},
		"of a load that failed": func(p *stage) {
			p.id, p.dumb = "x", true
			p.see(OpeningAsked{Key: "a", Opening: Opening{Kind: OpensKnown, Target: p.id}})
			p.see(OpeningAnswered{Request: p.see(Answered{Key: "a"}).Request, Failed: true, Editing: true})
			steps["prompt"](p)
		},
	} {
		p := newStage(t)
		p.start()
		say(p)
		if i := slices.IndexFunc(p.events, func(e correlation.Event) bool { _, is := e.(correlation.TurnBegan); return is }); i < 1 {
			t.Errorf("%s: recorded %+v", name, p.events)
		}
		if due := p.see(RecordingBegins{}).Due.Turns; len(due) != 1 || !slices.Equal(due[0].Prompts, []Prompt{words(plain)}) {
			t.Errorf("%s: due %+v", name, due)
		}
	}
}

// The summary of a compaction is to be recorded soon, once; that it began, at once.
func TestSummaryDue(t *testing.T) {
	p := newStage(t)
	p.start()
	steps["new"](p)
	s := p.c.Session(p.id)
	p.see(Compaction{Session: s, ID: "1", Status: "in_progress"})
	do := p.see(Compaction{Session: s, ID: "1", Status: "completed", Whole: []string{"so far"}})
	due := p.see(RecordingBegins{}).Due.Summaries
	if _, begun := p.events[len(p.events)-1].(correlation.Compacting); !begun || !do.Soon || len(due) != 1 || due[0].Text != "so far" {
		t.Errorf("soon %t, due %+v, recorded %+v", do.Soon, due, p.events)
	}
	p.see(Compaction{Session: s, ID: "2", Status: "completed", Whole: []string{" \n"}})
	if due := p.see(RecordingBegins{}).Due.Summaries; len(due) != 0 {
		t.Errorf("due again: %+v", due)
	}
}

// The response of a prompt that is still being read waits for that.
func TestResponseBeforeItsPromptIsRead(t *testing.T) {
	p := newStage(t)
	p.start()
	steps["new"](p)
	steps["prompt"](p)
	turn := p.see(PromptJudged{ID: []byte(p.id), Key: "a"}).Turn
	if do := p.see(PromptAnswered{Request: p.see(Answered{Key: "a"}).Request}); !do.Wait || do.Turn != turn {
		t.Errorf("it waits: %t, for %p", do.Wait, do.Turn)
	}
	if !p.see(PromptSought{Turn: turn}).Wait || p.see(PromptSought{Turn: turn, Late: true}).Wait {
		t.Error("it does not wait, or too long")
	}
	if !p.see(PromptLooked{Turn: turn, Said: Said{Prompt: words("go")}}).News || p.see(PromptSought{Turn: turn}).Wait {
		t.Error("it waits on")
	}
}

// Notices are the answer if the harness says nothing else.
func TestNoticesSaid(t *testing.T) {
	p := newStage(t)
	p.start()
	steps["new"](p)
	steps["prompt"](p)
	turn := p.see(PromptJudged{ID: []byte(p.id), Key: "a"}).Turn
	p.see(NoticeCame{Turn: turn, Raw: []byte("slow")})
	p.see(NoticeCame{Turn: turn, Raw: []byte(strings.Repeat("x", 20<<10))})
	if said := p.see(PromptAnswered{Request: p.see(Answered{Key: "a"}).Request}).Say; len(said) != 16<<10 ||
		!strings.HasPrefix(string(said), "slowx") {
		t.Errorf("%d bytes are said", len(said))
	}
}

// Commands that the harness names may hold a slash, and may be named with the sign in front of them.
func TestSlashCommand(t *testing.T) {
	c := New(Options{Commands: []string{"/", "$"}})
	s := &Session{}
	s.exists.commands = map[string]bool{"review/all": true, "/compact": true, "$skill": true}
	for text, want := range map[string]string{
		"/help":                     "help",
		"/help me":                  "help",
		" \t\n/help":                "help",
		"\u00a0\ufeff/help":         "help",
		"/review/all of it":         "review/all",
		"/home/x is broken":         "",
		"/compact":                  "compact",
		"/compact\nkeep the plan":   "compact",
		"/":                         "",
		"/ help":                    "",
		"help /me":                  "",
		"":                          "",
		"//":                        "",
		"/tmp is full":              "tmp", // it waits a turn
		"$skill do":                 "skill",
		"look at $skill":            "",
		strings.Repeat(" ", 100000): "",
	} {
		if got := c.slashCommand(s, text); got != want {
			t.Errorf("%.40q is %q, want %q", text, got, want)
		}
	}
}
