package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

func block(text, kind string) *Injection {
	return &Injection{Injection: correlation.Injection{Text: text, Kind: kind}}
}

// A session's blocks are those that its harness has seen: what it continues was another's, and a fork has what its
// parent had then.
func TestBlocksOfAncestors(t *testing.T) {
	then := time.Unix(1000, 0)
	known := correlation.Session{ID: 3, Started: then}
	in := func(session int64, text string, outcome correlation.Outcome, after time.Duration) correlation.Injection {
		return correlation.Injection{Session: session, Text: text, Outcome: outcome, At: then.Add(after),
			Items: []string{text}}
	}
	ledger := []correlation.Injection{ // newest first
		in(1, "later", "kept", time.Minute), in(3, "own", "kept", time.Second),
		in(3, "own", correlation.WasRefused, time.Second),
		in(3, "no", correlation.WasRefused, time.Second), in(1, "parent's", "kept", -time.Minute),
	}
	for _, tt := range []struct {
		fork         int64
		blocks, seen []string
	}{
		{0, []string{"no", "own"}, []string{"own"}},
		{1, []string{"parent's", "no", "own"}, []string{"parent's", "own"}},
	} {
		var h history
		known.ForkOf = tt.fork
		h.load(ledger, known)
		if !slices.Equal(h.texts(), tt.blocks) || !slices.Equal(h.given(), tt.seen) {
			t.Errorf("fork of %d: %q, %q", tt.fork, h.texts(), h.given())
		}
	}
}

// What a refused prompt carried may go with the next one.
func TestTakeBack(t *testing.T) {
	onStage(t, func(p *stage) {
		p.start()
		steps["new"](p)
		if steps["refused"](p); p.rows[p.id].stored == nil {
			p.Error("the next process does not get what was refused")
		}
		h := &p.session().history
		if len(h.blocks) != 1 || len(h.blocks[0].Items) == 0 || len(h.given()) != 0 {
			p.Errorf("of %+v it was given %q", h.blocks, h.given())
		}
	})
}

// A fork was given what its parent was, and sends nothing of that itself. Its history may be shown before the response
// that names its id.
func TestForkedHistory(t *testing.T) {
	onStage(t, func(p *stage) {
		p.start()
		steps["new"](p)
		steps["prompt"](p)
		said := p.kept[p.id][0]
		p.asks("a", Opening{Kind: OpensFork, Target: p.id})
		s, cut, text := p.shows("child", "", said)
		if said[cut:] != plain || text != 1 {
			p.Errorf("%d bytes are cut of text %d", cut, text)
		}
		if h := s.history; !slices.Equal(h.given(), []string{"m1"}) || len(h.blocks) != 1 || h.blocks[0].sentHere {
			p.Errorf("%q, %+v", h.given(), h.blocks)
		}
	})
}

// What a harness shows of the user's words: how much of it is ours, and what that says.
func TestMatch(t *testing.T) {
	const ours = OpenMark + " id=\"1\">\nYou are Alto.\n" + closeMark + "\n\n"
	const others = OpenMark + " id=\"2\">\nYou are Bass.\n" + closeMark
	for _, tt := range []struct {
		name   string
		blocks []*Injection
		open   bool
		shown  []string
		cut    []int
		want   shown
	}{
		{"ours", []*Injection{block(ours, KindContext)}, true, []string{ours + "hello"}, []int{len(ours)}, shownOurs},
		{"live", []*Injection{block(ours, KindContext)}, false, []string{ours + "hello"}, []int{len(ours)}, shownNothing},
		{"twice", []*Injection{block(ours, KindContext)}, true, []string{ours, ours}, []int{len(ours), 0}, shownOurs},
		{"glued by a space", []*Injection{block(ours, KindContext)}, true, []string{strings.TrimSpace(ours) + " hello"},
			[]int{len(strings.TrimSpace(ours)) + 1}, shownOurs},
		{"not in front", []*Injection{block(ours, KindContext)}, true, []string{"hello " + ours}, []int{0}, shownNothing},
		{"an older one", []*Injection{block(ours, KindContext), block("newer", kindIdentity)}, true, []string{ours},
			[]int{len(ours)}, shownNothing},
		{"before recall", []*Injection{block(ours, KindContext), block("newer", kindRecall)}, true, []string{ours},
			[]int{len(ours)}, shownOurs},
		{"another's", []*Injection{block(ours, KindContext)}, true, []string{others + "hello"}, []int{0}, shownStrange},
		{"another's, live", nil, false, []string{others}, []int{0}, shownNothing},
		{"a mark alone", nil, true, []string{OpenMark}, []int{0}, shownNothing},
	} {
		h := history{blocks: tt.blocks}
		if tt.open {
			h.replay.step = replayOpen
		}
		for i, text := range tt.shown {
			if n := h.match(text); n != tt.cut[i] {
				t.Errorf("%s: %d bytes are cut of %q", tt.name, n, text)
			}
		}
		if h.replay.shown != tt.want {
			t.Errorf("%s: %d is shown", tt.name, h.replay.shown)
		}
		if h.expectReplay(); h.match(tt.shown[0]) != tt.cut[0] {
			t.Errorf("%s: the next replay is another", tt.name)
		}
	}
}

// Which block of a replay is looked up: the first that is not known, of a session without blocks of its own, or of one
// that has others' because it has looked one up.
func TestSeeks(t *testing.T) {
	const first, next = "0123456789ab", "ba9876543210"
	shown := []string{OpenMark + ` id="` + first + `">` + "\nYours.", OpenMark + ` id="` + next + `">` + "\nMine."}
	other := []*Injection{block("x", KindContext)}
	for name, tt := range map[string]struct {
		blocks     []*Injection
		seen, deaf bool
		over       bool
		want       string
	}{
		"the first":                   {want: first},
		"the next":                    {seen: true, want: next},
		"with blocks that it brought": {blocks: other, seen: true, want: next},
		"with blocks of its own":      {blocks: other},
		"of a replay that has ended":  {over: true},
		"of one that is deaf":         {deaf: true},
	} {
		h := history{blocks: tt.blocks}
		if !tt.over {
			h.expectReplay()
		}
		h.replay.deaf = tt.deaf
		if tt.seen {
			h.replay.sought = map[string]bool{first: true}
		}
		if got := h.seeks(shown); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// A block that a session shows may be known under another id that the harness has listed in the same folder, on whatever
// page. Of very many sessions some are kept.
func TestSeeksAmongListed(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*existence)
		want   []string
	}{
		"as it is opened":          {func(*existence) {}, []string{"earlier", "s", "sibling"}},
		"not listed":               {func(e *existence) { e.Open.ACPID = "x" }, nil},
		"listed elsewhere":         {func(e *existence) { e.Open.Cwd = "/x" }, nil},
		"the ledger has it":        {func(e *existence) { e.ledger = known }, nil},
		"it is recorded":           {func(e *existence) { e.recorded = true }, nil},
		"it is open, and goes on":  {func(e *existence) { e.opening = false }, nil},
		"the ledger has not heard": {func(e *existence) { e.ledger = asked }, nil},
	} {
		c := newConnection(Options{Project: func(cwd string) string { return cwd }}, nil)
		c.Listed(map[string]string{"s": "/w", "earlier": "/w"})
		c.Listed(map[string]string{"sibling": "/w", "away": "/x"})
		s := c.newSession("/w")
		s.exists.Open.ACPID, s.exists.ledger, s.exists.opening = "s", unknown, true
		tt.change(&s.exists)
		q := c.seek(s, "b")
		if slices.Sort(q.Listed); !slices.Equal(q.Listed, tt.want) || q.ID != s.ID() || q.Cwd != s.exists.Open.Cwd {
			t.Errorf("%s: %+v, want %q", name, q, tt.want)
		}
	}
	c := newConnection(Options{}, nil)
	for n := range maxListed + 1 {
		c.Listed(map[string]string{fmt.Sprint(n): "/w"})
	}
	if len(c.listed) != maxListed {
		t.Errorf("%d listed sessions are kept", len(c.listed))
	}
}

// A title is made from our block alone where the harness looks at no more of a prompt than that.
func TestTitledFrom(t *testing.T) {
	sent := func(length int, kind string, here bool) *Injection {
		b := block(strings.Repeat("x", length), kind)
		b.sentHere = here
		return b
	}
	for _, tt := range []struct {
		name  string
		h     history
		most  int
		found bool
	}{
		{"a long block", history{blocks: []*Injection{sent(3921, KindContext, true)}}, 4000, true},
		{"nothing but the block", history{blocks: []*Injection{sent(1, KindContext, true)}}, 80, true},
		{"words behind it", history{blocks: []*Injection{sent(3920, KindContext, true)}}, 4000, false},
		{"by another process", history{blocks: []*Injection{sent(3921, KindContext, false)}}, 4000, false},
		{"in the system prompt", history{blocks: []*Injection{sent(3921, KindSystem, true)}}, 4000, false},
		{"a harness that looks at all", history{blocks: []*Injection{sent(3921, KindContext, true)}}, 0, false},
		{"the client's own", history{blocks: []*Injection{sent(3921, KindContext, true)}, named: true}, 4000, false},
	} {
		if got := tt.h.titledFrom(tt.most, "A title"); (got != nil) != tt.found {
			t.Errorf("%s: %v", tt.name, got)
		} else if got != nil && (got.Title != correlation.TitleHash("A title") || tt.h.titledFrom(tt.most, "B") != nil) {
			t.Errorf("%s: noted as %q, or twice", tt.name, got.Title)
		}
	}
}

// What a harness says of its compactions, and what becomes known by that.
func TestCompactions(t *testing.T) {
	type said struct{ begun, lost bool }
	update := func(id, status string, whole ...string) func(*history) (said, string) {
		return func(h *history) (said, string) {
			begun, lost, text := h.update(id, status, whole)
			return said{begun, lost}, text
		}
	}
	piece := func(id, text string) func(*history) (said, string) {
		return func(h *history) (said, string) { h.compaction.begin(id); h.compaction.add(text); return said{}, "" }
	}
	call := func(id string, begins, completed bool) func(*history) (said, string) {
		return func(h *history) (said, string) { b, l := h.call(id, begins, completed); return said{b, l}, "" }
	}
	use := func(tokens int64) func(*history) (said, string) {
		return func(h *history) (said, string) { return said{lost: h.use(tokens)}, "" }
	}
	replayed := func(h *history) (said, string) { h.replay.step = replayOpen; return said{}, "" }
	for name, tt := range map[string]struct {
		seen []func(*history) (said, string)
		last said
		text string
	}{
		"begun":                 {[]func(*history) (said, string){update("1", "in_progress")}, said{begun: true}, ""},
		"begun once":            {[]func(*history) (said, string){update("1", "in_progress"), update("1", "in_progress")}, said{}, ""},
		"another begins":        {[]func(*history) (said, string){update("1", "in_progress"), update("2", "in_progress")}, said{begun: true}, ""},
		"completed":             {[]func(*history) (said, string){update("1", "completed", "so", "far")}, said{lost: true}, "so\nfar"},
		"in pieces":             {[]func(*history) (said, string){piece("1", "so "), piece("1", "far"), update("1", "completed")}, said{lost: true}, "so far"},
		"pieces of another":     {[]func(*history) (said, string){piece("1", "so "), piece("2", "far"), update("2", "completed")}, said{lost: true}, "far"},
		"the whole counts":      {[]func(*history) (said, string){piece("1", "so "), update("1", "completed", "all")}, said{lost: true}, "all"},
		"failed":                {[]func(*history) (said, string){update("1", "failed")}, said{}, ""},
		"an old one":            {[]func(*history) (said, string){replayed, update("1", "completed", "so far")}, said{}, ""},
		"a tool begins":         {[]func(*history) (said, string){call("t", true, false)}, said{begun: true}, ""},
		"a tool, done":          {[]func(*history) (said, string){call("t", true, false), call("t", false, true)}, said{lost: true}, ""},
		"a tool, at once":       {[]func(*history) (said, string){call("t", true, true)}, said{lost: true}, ""},
		"another tool":          {[]func(*history) (said, string){call("t", true, false), call("u", false, true)}, said{}, ""},
		"an old tool":           {[]func(*history) (said, string){replayed, call("t", true, true)}, said{}, ""},
		"less than half":        {[]func(*history) (said, string){use(60_000), use(29_999)}, said{lost: true}, ""},
		"half":                  {[]func(*history) (said, string){use(60_000), use(30_000)}, said{}, ""},
		"little before":         {[]func(*history) (said, string){use(3_999), use(10)}, said{}, ""},
		"just enough before":    {[]func(*history) (said, string){use(4_000), use(10)}, said{lost: true}, ""},
		"a fall in the history": {[]func(*history) (said, string){use(60_000), replayed, use(10)}, said{}, ""},
	} {
		var h history
		var last said
		text := ""
		for _, f := range tt.seen {
			last, text = f(&h)
		}
		if last != tt.last || text != tt.text {
			t.Errorf("%s: %+v, %q", name, last, text)
		}
	}
	var m compaction
	m.add(strings.Repeat("x", 90<<10))
	m.add(strings.Repeat("x", 90<<10))
	if len(m.text) != 96<<10 {
		t.Errorf("%d bytes of a summary are kept", len(m.text))
	}
}
