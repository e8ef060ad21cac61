package view

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// How much of the conversations a page holds: the newest, and of a long text its beginning. The rest is counted.
const (
	mostTurns  = 10_000
	mostText   = 16 << 10 // bytes of one side of a turn
	mostBlock  = 32 << 10 // of a block that was inserted
	mostTexts  = 24 << 20 // of all turns
	mostBlocks = 8 << 20  // of all blocks
	mostTitle  = 80       // characters
)

// A Session is a conversation as the page shows it.
type Session struct {
	ID                  int64
	ACPID, Key          string
	Title, Harness      string
	Client              string
	Project, Cwd        string
	Started, LastActive time.Time
	Live                bool
	Turns               []*Turn // the newest, as far as the page has room
	Older               int     // turns that it has no room for
	Used                string  // tokens and cost in words
	Continues           *Session
	ContinuedBy         []*Session
	Caller              *Session   // the session that called it
	Called              []*Session // sessions that it called; they stand below it
	For                 *Asked     // what it was asked by another agent, or with the command delegate
	Asked               []*Asked   // what it asked of other agents, the newest first
	AtWork              int        // agents that are at that now
	Folded              bool       // its turns are made elements only when somebody opens it

	parentKey  string
	continueOf int64
	input, out *int64
	cost       map[string]float64
}

// A Turn is what a person said and what came of it.
type Turn struct {
	N           int
	At          time.Time
	Took        time.Duration
	User, Agent Text
	Note        string // how it ended, where that is not as usual
	Told        []Told
	Tools       []correlation.ToolCall
	Used        string // tokens in words

	id    int64
	ended time.Time
}

// A Text is what was said, or its beginning.
type Text struct {
	Body string
	More string // how much is left out; "" for nothing
}

// Told is a block that was inserted.
type Told struct {
	What    string // 3 memories, 1.1 KB
	Source  string
	Waited  string // how long it took
	Outcome string // what became of it
	Block   Text
	Items   []Item

	at time.Time
}

// An Item is a memory, or a passage of a conversation, that stood in a block.
type Item struct {
	ID, Text string
	Used     bool // an answer came back to it
	Shown    bool // it stands among the page's memories
}

// A Day has the sessions that began on it, by project.
type Day struct {
	ID       string // on the page
	Date     time.Time
	Projects []Group
}

// A Group is the sessions of a project, the newest first.
type Group struct {
	Project  string
	Sessions []*Session
}

// conversations reads what a page shows of sessions; only, where not 0, is the one to read.
func (p *Page) conversations(ctx context.Context, src Source, books *telemetry.Books, only int64) error {
	turns, err := p.readTurns(ctx, src.DB, only)
	if err != nil {
		return err
	}
	p.oldest = time.Now()
	if len(turns) > 0 {
		p.oldest = turns[0].At
	}
	if err := p.readSessions(ctx, src, only); err != nil {
		return err
	}
	for _, t := range turns {
		if s := p.sessions[t.session]; s != nil {
			s.Turns = append(s.Turns, t.Turn)
		}
	}
	p.account(books)
	if err := p.readTold(ctx, src.DB, only); err != nil {
		return err
	}
	if err := p.readKeys(ctx, src.DB, only); err != nil {
		return err
	}
	p.relate()
	return p.readAsked(ctx, src)
}

// readKeys finds the sessions of the page by the Signet keys that they have, or had.
func (p *Page) readKeys(ctx context.Context, db *sql.DB, only int64) error {
	p.byKey = map[string]*Session{}
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var key string
		var id int64
		if err = row.Scan(&key, &id); err == nil && p.sessions[id] != nil {
			p.byKey[key] = p.sessions[id]
		}
		return struct{}{}, err
	}, `SELECT key, session FROM session_keys WHERE `+pageSessions, only, sqlite.Stamp(p.oldest))
	return sqlite.While("reading keys", err)
}

type turnOf struct {
	*Turn
	session int64
}

// readTurns reads the newest turns, oldest first.
func (p *Page) readTurns(ctx context.Context, db *sql.DB, only int64) ([]turnOf, error) {
	if err := db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM turns), (SELECT count(*) FROM sessions)`).
		Scan(&p.AllTurns, &p.AllSessions); err != nil {
		return nil, sqlite.While("counting turns", err)
	}
	room := mostTexts
	full := false
	turns, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (t turnOf, err error) {
		t.Turn = &Turn{}
		var started, ended int64
		var code, user, agent int
		var truncated bool
		var stop, tools string
		err = row.Scan(&t.id, &t.session, &started, &ended, &stop, &code, &truncated, &tools,
			&t.User.Body, &user, &t.Agent.Body, &agent)
		if err != nil {
			return t, err
		}
		t.At, t.ended = sqlite.Unstamp(started), sqlite.Unstamp(ended)
		if ended > 0 {
			t.Took = t.ended.Sub(t.At)
		}
		t.User.cut(user, mostText)
		t.Agent.cut(agent, mostText)
		t.Note = howItEnded(ended > 0, stop, code, truncated)
		if room -= len(t.User.Body) + len(t.Agent.Body); room < 0 {
			full = true
		}
		if full {
			t.Turn = nil
			return t, nil
		}
		return t, json.Unmarshal([]byte(tools), &t.Tools)
	}, `SELECT id, session, started, ended, stop, code, truncated, tools, substr(user, 1, ?1), octet_length(user),
		substr(assistant, 1, ?1), octet_length(assistant) FROM turns WHERE ?2 = 0 OR session = ?2
		ORDER BY started DESC, id DESC LIMIT ?3`, mostText, only, mostTurns)
	if err != nil {
		return nil, sqlite.While("reading turns", err)
	}
	turns = slices.DeleteFunc(turns, func(t turnOf) bool { return t.Turn == nil })
	slices.Reverse(turns)
	p.Turns = len(turns)
	return turns, nil
}

// cut keeps the beginning of a text that has size bytes.
func (t *Text) cut(size, most int) {
	t.Body = chars.Cut(t.Body, most)
	if left := size - len(t.Body); left > 0 {
		t.More = telemetry.Bytes(int64(left))
	}
}

// howItEnded says of a turn what its text does not.
func howItEnded(ended bool, stop string, code int, truncated bool) string {
	var notes []string
	switch {
	case !ended:
		notes = append(notes, "still answering")
	case code != 0:
		notes = append(notes, fmt.Sprintf("failed with error %d", code))
	case stop == "":
		notes = append(notes, "ended without an answer to the prompt")
	case stop != "end_turn":
		notes = append(notes, strings.ReplaceAll(stop, "_", " "))
	}
	if truncated {
		notes = append(notes, "longer than what is kept")
	}
	return strings.Join(notes, "; ")
}

// readSessions reads those that have one of the turns.
func (p *Page) readSessions(ctx context.Context, src Source, only int64) error {
	all, err := sqlite.Collect(ctx, src.DB, func(row sqlite.Row) (*Session, error) {
		s := &Session{cost: map[string]float64{}}
		var version string
		var started, active int64
		err := row.Scan(&s.Title, &s.ID, &s.Harness, &s.ACPID, &s.Key, &s.Cwd, &s.Project, &s.Client, &version,
			&s.parentKey, &s.continueOf, &started, &active, &s.Older)
		s.Client = strings.TrimSpace(s.Client + " " + version)
		s.Started, s.LastActive = sqlite.Unstamp(started), sqlite.Unstamp(active)
		return s, err
	}, `SELECT title, id, harness, acp_id, key, cwd, project, client, client_version, parent_key,
		coalesce(continue_of, 0), started, last_active, (SELECT count(*) FROM turns WHERE session = s.id)
		FROM sessions s
		WHERE CASE ?1 WHEN 0 THEN id IN (SELECT session FROM turns WHERE started >= ?2) ELSE id = ?1 END`,
		only, sqlite.Stamp(p.oldest))
	if err != nil {
		return sqlite.While("reading sessions", err)
	}
	newest, err := src.Sessions.Sessions(ctx, mostLive)
	if err != nil {
		return err
	}
	p.sessions = make(map[int64]*Session, len(all))
	for _, s := range all {
		p.sessions[s.ID] = s
	}
	for _, one := range newest {
		if s := p.sessions[one.ID]; s != nil {
			s.Live = one.Live
		}
	}
	p.Sessions = len(all)
	return nil
}

// mostLive is among how many sessions, the last active, living ones are looked for.
const mostLive = 100

// account numbers the turns, and says what they used.
func (p *Page) account(books *telemetry.Books) {
	turns := map[int64]*Turn{}
	for _, s := range p.sessions {
		s.Older -= len(s.Turns)
		for i, t := range s.Turns {
			t.N = s.Older + i + 1
			turns[t.id] = t
		}
		if s.Title = titleOf(s.Title); s.Title == "" && len(s.Turns) > 0 {
			s.Title = titleOf(s.Turns[0].User.Body)
		}
	}
	for r := range books.All {
		if t := turns[r.Turn]; t != nil {
			t.Used = tokens(r.Input, r.Output)
		}
		if s := p.sessions[r.Session]; s != nil {
			s.input, s.out = telemetry.Plus(s.input, r.Input), telemetry.Plus(s.out, r.Output)
			if r.Cost != nil {
				s.cost[r.Currency] += *r.Cost
			}
		}
	}
	for _, s := range p.sessions {
		used := []string{tokens(s.input, s.out), telemetry.Prices(s.cost)}
		s.Used = strings.Join(slices.DeleteFunc(used, func(w string) bool { return w == "" }), ", ")
	}
}

// tokens is what a report says, in words.
func tokens(input, output *int64) string {
	switch {
	case input == nil && output == nil:
		return ""
	case input == nil:
		return telemetry.Figure(*output) + " tokens out"
	case output == nil:
		return telemetry.Figure(*input) + " tokens in"
	}
	return telemetry.Figure(*input) + " tokens in, " + telemetry.Figure(*output) + " out"
}

// titleOf is the first words of a text, in one line.
func titleOf(text string) string {
	text = strings.Join(strings.Fields(chars.Printable(chars.Cut(text, 8*mostTitle))), " ")
	if runes := []rune(text); len(runes) > mostTitle {
		return string(runes[:mostTitle-1]) + "…"
	}
	return text
}

// pageSessions is the condition on a column session that it is one of the page's: ?1, or all with a turn since ?2.
const pageSessions = `CASE ?1 WHEN 0 THEN session IN (SELECT session FROM turns WHERE started >= ?2)
	ELSE session = ?1 END`

// useOf names a memory that a session was told.
type useOf struct {
	session int64
	item    string
}

// usedItems gives what sessions were told, and that an answer came back to.
func (p *Page) usedItems(ctx context.Context, db *sql.DB, only int64) (map[useOf]bool, error) {
	used := map[useOf]bool{}
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var u useOf
		err = row.Scan(&u.session, &u.item)
		used[u] = true
		return struct{}{}, err
	}, `SELECT session, item FROM passages_told WHERE used AND `+pageSessions, only, sqlite.Stamp(p.oldest))
	return used, sqlite.While("reading what was used", err)
}

// itemTexts gives the beginnings of what was inserted and is still known, by id.
func (p *Page) itemTexts(ctx context.Context, db *sql.DB, only int64) (map[string]string, error) {
	texts := map[string]string{}
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var id, text string
		err = row.Scan(&id, &text)
		texts[id] = text
		return struct{}{}, err
	}, `WITH items AS MATERIALIZED (SELECT DISTINCT value FROM injections, json_each(items) WHERE `+pageSessions+`)
		SELECT uid, substr(content, 1, ?3) FROM items JOIN memories ON uid = value UNION ALL
		SELECT uid, substr(content, 1, ?3) FROM items JOIN passages ON uid = value WHERE given > 0 AND memory IS NULL`,
		only, sqlite.Stamp(p.oldest), 8*mostTitle)
	return texts, sqlite.While("reading memories", err)
}

// readTold puts what was inserted where it was.
func (p *Page) readTold(ctx context.Context, db *sql.DB, only int64) error {
	used, err := p.usedItems(ctx, db, only)
	if err != nil {
		return err
	}
	texts, err := p.itemTexts(ctx, db, only)
	if err != nil {
		return err
	}
	room := mostBlocks
	type told struct {
		Told
		session int64
	}
	all, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (t told, err error) {
		var kind, outcome, items string
		var bytes, fetch, held, at int64
		err = row.Scan(&t.session, &kind, &t.Source, &bytes, &fetch, &held, &at, &outcome, &items, &t.Block.Body)
		if err != nil {
			return t, err
		}
		t.at = sqlite.Unstamp(at)
		var ids []string
		if err := json.Unmarshal([]byte(items), &ids); err != nil {
			return t, err
		}
		for _, id := range ids {
			t.Items = append(t.Items, Item{ID: id, Text: titleOf(texts[id]), Shown: texts[id] != "",
				Used: used[useOf{t.session, id}]})
		}
		t.What = count(len(ids), "memory", "memories") + ", " + telemetry.Bytes(bytes)
		t.Waited = fmt.Sprintf("%d ms to find, the prompt waited %d ms", fetch, held)
		t.Outcome = outcomes[correlation.Outcome(outcome)]
		t.Block.cut(int(bytes), mostBlock)
		if room -= len(t.Block.Body); room < 0 {
			t.Block = Text{More: telemetry.Bytes(bytes)}
		}
		return t, nil
	}, `SELECT session, kind, source, bytes, fetch_ms, held_ms, at, outcome, items, substr(text, 1, ?3) FROM injections
		WHERE `+pageSessions+` ORDER BY id DESC`, only, sqlite.Stamp(p.oldest), mostBlock)
	if err != nil {
		return sqlite.While("reading what was inserted", err)
	}
	slices.Reverse(all)
	for _, t := range all {
		s := p.sessions[t.session]
		if s == nil || len(s.Turns) == 0 {
			continue
		}
		at := slices.IndexFunc(s.Turns, func(turn *Turn) bool { return turn.ended.IsZero() || !t.at.After(turn.ended) })
		if at < 0 {
			at = len(s.Turns) - 1
		}
		s.Turns[at].Told = append(s.Turns[at].Told, t.Told)
	}
	return nil
}

// outcomes says what became of a block.
var outcomes = map[correlation.Outcome]string{
	correlation.Kept: "the agent has it", correlation.WasRefused: "the agent refused the prompt",
	correlation.InDoubt: "sent, perhaps lost", correlation.Sending: "on its way",
}

// relate links sessions: which continues which, and which called which.
func (p *Page) relate() {
	for _, s := range p.sessions {
		if before := p.sessions[s.continueOf]; before != nil && before != s {
			s.Continues = before
			before.ContinuedBy = append(before.ContinuedBy, s)
		}
		if parent := p.byKey[s.parentKey]; parent != nil && !parent.below(s) {
			s.Caller = parent
			parent.Called = append(parent.Called, s)
		}
	}
	for _, s := range p.sessions {
		slices.SortFunc(s.Called, oldestFirst)
		slices.SortFunc(s.ContinuedBy, oldestFirst)
	}
}

// below reports whether a session is other, or was called by it, at whatever distance.
func (s *Session) below(other *Session) bool {
	for s != other {
		if s.Caller == nil {
			return false
		}
		s = s.Caller
	}
	return true
}

func oldestFirst(a, b *Session) int {
	return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
}

// days groups the sessions that nobody called, the newest day first.
func (p *Page) days() []Day {
	var roots []*Session
	for _, s := range p.sessions {
		if s.Caller == nil {
			roots = append(roots, s)
		}
	}
	slices.SortFunc(roots, func(a, b *Session) int { return oldestFirst(b, a) })
	for _, s := range roots[min(len(roots), mostUnfolded):] {
		s.fold()
	}
	var days []Day
	for _, s := range roots {
		if len(days) == 0 || !sameDay(days[len(days)-1].Date, s.Started) {
			days = append(days, Day{ID: dayID(s.Started), Date: s.Started})
		}
		day := &days[len(days)-1]
		at := slices.IndexFunc(day.Projects, func(g Group) bool { return g.Project == s.Project })
		if at < 0 {
			at = len(day.Projects)
			day.Projects = append(day.Projects, Group{Project: s.Project})
		}
		day.Projects[at].Sessions = append(day.Projects[at].Sessions, s)
	}
	return days
}

// mostUnfolded sessions, the newest, can be searched as any text of a page.
const mostUnfolded = 200

func (s *Session) fold() {
	s.Folded = true
	for _, called := range s.Called {
		called.fold()
	}
}

func sameDay(a, b time.Time) bool {
	return a.Local().Format(time.DateOnly) == b.Local().Format(time.DateOnly)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return telemetry.Figure(int64(n)) + " " + many
}
