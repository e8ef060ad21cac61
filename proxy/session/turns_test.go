package session

import (
	"cmp"
	"context"
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
	}{
		{"nothing", turns{}, nil, nil},
		{"the last", turns{last: old}, old, nil},
		{"the oldest", turns{open: []*Turn{a, b}, last: old}, a, nil},
		{"behind others", turns{open: []*Turn{a, b, c}}, a, []*Turn{a, b}},
		{"held", turns{open: []*Turn{c, a}, last: old}, old, nil},
		{"behind a held one", turns{open: []*Turn{a, {}, c}}, a, []*Turn{a, {}}},
	} {
		if got := tt.w.current(); got != tt.now {
			t.Errorf("%s: the current turn is %p", tt.name, got)
		}
		if got := tt.w.before(c); len(got) != len(tt.before) {
			t.Errorf("%s: %d turns in front", tt.name, len(got))
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
			p.do(func(c *Connection) { c.ToolCalled(turn.Session, correlation.ToolCall{ID: "1"}, false) })
		},
		"words":         func(p *stage, turn *Turn) { p.do(func(c *Connection) { c.ChunkCame(turn, "") }) },
		"what was used": func(p *stage, turn *Turn) { p.do(func(c *Connection) { c.Used(turn.Session, Usage{}) }) },
		"steering": func(p *stage, turn *Turn) {
			p.do(func(c *Connection) { c.Steered(turn.Session, 2, words("go")) })
		},
		"the prompt": func(p *stage, turn *Turn) { p.reads(turn, saying("go")) },
		"the response of a later prompt": func(p *stage, _ *Turn) {
			p.judges("b")
			p.answers("b", PromptAnswer{})
		},
		"the response": func(p *stage, _ *Turn) { p.answers("a", PromptAnswer{}) },
		"its id again": func(p *stage, _ *Turn) { p.judges("a") },
		"a close":      func(p *stage, turn *Turn) { p.do(func(c *Connection) { c.Closed(turn.Session, "") }) },
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(p *stage) {
				p.start()
				steps["new"](p)
				steps["prompt"](p) // the next is not held
				p.events = nil
				_, turn := p.judges("a")
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
					p.Fatalf("the turn has not begun: %+v", p.events)
				}
				for _, e := range p.events {
					if e, ok := e.(correlation.UsageReported); ok && e.Turn != turn.Number {
						p.Errorf("what was used is of turn %d", e.Turn)
					}
				}
				p.reads(turn, saying("go"))
				if began() != 1 {
					p.Errorf("the turn began %d times", began())
				}
				due := p.due().Turns
				if i := slices.IndexFunc(due, func(d DueTurn) bool { return d.Turn == turn }); i < 0 || len(due[i].Prompts) == 0 {
					p.Errorf("due is %+v", due)
				}
			})
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
			onStage(t, func(p *stage) {
				p.start()
				steps["new"](p)
				steps["prompt"](p)
				p.events = nil
				for _, key := range []string{"a", "b"} {
					_, turn := p.judges(key)
					p.reads(turn, saying("go"))
				}
				for _, key := range tt.answers {
					key, failed := strings.CutSuffix(key, " error")
					turn, ended := p.answers(key, PromptAnswer{ID: key, Stop: StopEnd, Failed: failed, Code: -32603})
					if e, ok := ended.(correlation.TurnEnded); !ok || e.Request != key ||
						(e.Code == -32603) != failed || !turn.Read() {
						p.Errorf("the response waits for %+v", ended)
					}
				}
				if got := p.ended(); !slices.Equal(got, tt.ended) {
					p.Errorf("ended: %q", got)
				}
				if now := p.session().turns.current(); now.Number != tt.current {
					p.Errorf("words belong to turn %d", now.Number)
				}
			})
		})
	}
}

// ended are the turns that have ended, and how.
func (p *stage) ended() (ended []string) {
	for _, e := range p.events {
		if e, ok := e.(correlation.TurnEnded); ok {
			ended = append(ended, fmt.Sprint(e.Turn, " ", e.Stop))
		}
	}
	return ended
}

// A harness of version 2 ends all the turns that it has accepted at once, the last with what it says.
func TestIdle(t *testing.T) {
	onStage(t, func(p *stage) {
		p.start()
		steps["new"](p)
		steps["prompt"](p)
		p.session().exists.live, p.events = false, nil
		for _, key := range []string{"a", "b", "c"} {
			_, turn := p.judges(key)
			p.reads(turn, saying("go"))
			p.answers(key, PromptAnswer{Accepted: true})
		}
		if n := len(p.c.Talking()); n != 1 {
			p.Errorf("turns are under way in %d sessions", n)
		}
		last, _ := p.idle(PromptAnswer{Stop: "max_tokens"}).(correlation.TurnEnded)
		if ended := p.ended(); !slices.Equal(ended, []string{"2 end_turn", "3 end_turn", "4 max_tokens"}) || last.Turn != 4 {
			p.Errorf("ended: %q, the last %+v", ended, last)
		}
		if p.idle(PromptAnswer{}) != nil || len(p.c.Talking()) != 0 {
			p.Error("something is under way")
		}
	})
}

// What the user says in the middle of a turn is due with it, and at once if it is much.
func TestSteered(t *testing.T) {
	onStage(t, func(p *stage) {
		p.start()
		steps["new"](p)
		s := p.session()
		p.do(func(c *Connection) {
			c.Steered(s, 0, words("nobody listens"))
			c.ToolCalled(s, correlation.ToolCall{}, false)
		})
		steps["prompt"](p)
		s.turns.last.begun, p.effects = false, map[string][]string{}
		var turn *Turn
		p.do(func(c *Connection) { _, _, turn = c.JudgeUpdate([]byte(p.id), Thoughts) })
		begun := turn.begun
		if p.do(func(c *Connection) { c.ChunkCame(turn, "") }); !begun || p.effects["Later"] == nil {
			p.Error("what is thought begins no answer, or words are not due later")
		}
		for i, prompt := range []string{strings.Repeat("x", 192<<10), "", strings.Repeat("x", 192<<10+1)} {
			p.due()
			since := s.history.since
			p.effects = map[string][]string{}
			p.do(func(c *Connection) { c.Steered(s, 7, words(prompt)) })
			now, due := p.effects["Full"] != nil, p.due().Turns
			if is := len(due) == 1 && slices.Equal(said(due[0]), []string{prompt}); is != (prompt != "") ||
				now != (i == 2) || s.history.since != since+7 {
				p.Errorf("%d bytes: due %+v, at once %t", len(prompt), len(due), now)
			}
		}
	})
}

// A prompt that is held when the harness ends has been said all the same; so has one of a session whose load failed.
func TestSaidAllTheSame(t *testing.T) {
	for name, say := range map[string]func(*stage){
		"held": func(p *stage) {
			steps["new"](p)
			p.late = true
			p.hold(plain)
			p.do(func(c *Connection) { c.HarnessEnded() })
		},
		"of a load that failed": func(p *stage) {
			p.id, p.dumb = "x", true
			p.asks("a", Opening{Kind: OpensKnown, Target: p.id})
			p.opens("a", OpeningAnswer{Failed: true})
			steps["prompt"](p)
		},
	} {
		onStage(t, func(p *stage) {
			p.start()
			say(p)
			if i := slices.IndexFunc(p.events, func(e correlation.Event) bool { _, is := e.(correlation.TurnBegan); return is }); i < 1 {
				p.Errorf("%s: recorded %+v", name, p.events)
			}
			if due := p.due().Turns; len(due) != 1 || !slices.Equal(said(due[0]), []string{plain}) {
				p.Errorf("%s: due %+v", name, due)
			}
		})
	}
}

// The summary of a compaction is to be recorded soon, once; that it began, at once.
func TestSummaryDue(t *testing.T) {
	onStage(t, func(p *stage) {
		p.start()
		steps["new"](p)
		s := p.session()
		p.do(func(c *Connection) { c.Compaction(s, "1", "in_progress", nil) })
		p.effects = map[string][]string{}
		p.do(func(c *Connection) { c.Compaction(s, "1", "completed", []string{"so far"}) })
		soon, due := p.effects["Soon"] != nil, p.due().Summaries
		if _, begun := p.events[len(p.events)-1].(correlation.Compacting); !begun || !soon || len(due) != 1 || due[0].Text != "so far" {
			p.Errorf("soon %t, due %+v, recorded %+v", soon, due, p.events)
		}
		p.do(func(c *Connection) { c.Compaction(s, "2", "completed", []string{" \n"}) })
		if due := p.due().Summaries; len(due) != 0 {
			p.Errorf("due again: %+v", due)
		}
	})
}

// The response of a prompt that is still being read waits for that.
func TestResponseBeforeItsPromptIsRead(t *testing.T) {
	onStage(t, func(p *stage) {
		p.start()
		steps["new"](p)
		steps["prompt"](p)
		_, turn := p.judges("a")
		if t, ended := p.answers("a", PromptAnswer{}); t != turn || turn.Read() {
			p.Errorf("it waits for %+v", ended)
		}
		read := func(*Connection) bool { return turn.Read() }
		ctx, cancel := context.WithTimeout(p.Context(), time.Second)
		defer cancel()
		if p.Await(ctx, read) || len(p.c.waiters) > 0 {
			p.Error("it does not wait, or is waited for still")
		}
		waits := make(chan bool, 1)
		go func() { waits <- p.Await(p.Context(), read) }()
		if p.reads(turn, saying("go")); !<-waits || !p.Await(ctx, read) {
			p.Error("it waits on")
		}
	})
}

// Notices are the answer if the harness says nothing else.
func TestNoticesSaid(t *testing.T) {
	for words, want := range map[string]int{"": 16 << 10, "Hello": 5} {
		onStage(t, func(p *stage) {
			p.start()
			steps["new"](p)
			steps["prompt"](p)
			_, turn := p.judges("a")
			p.do(func(c *Connection) {
				c.NoticeCame(turn, []byte("slow"))
				c.NoticeCame(turn, []byte(strings.Repeat("x", 20<<10)))
			})
			if words != "" {
				turn.Answer.Add([]byte(words))
			}
			p.answers("a", PromptAnswer{})
			said := ""
			for _, part := range turn.Answer.Take() {
				said += part.Text
			}
			if len(said) != want || !strings.HasPrefix(said, cmp.Or(words, "slowx")) {
				p.Errorf("%d bytes are said", len(said))
			}
		})
	}
}

// Commands that the harness names may hold a slash, and may be named with the sign in front of them.
func TestSlashCommand(t *testing.T) {
	c := newConnection(Options{}, nil)
	s := &Session{}
	s.exists.commands = map[string]bool{"review/all": true, "/compact": true}
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
		"$skill do":                 "",
		"look at $skill":            "",
		strings.Repeat(" ", 100000): "",
	} {
		if got := c.slashCommand(s, text); got != want {
			t.Errorf("%.40q is %q, want %q", text, got, want)
		}
	}
}
