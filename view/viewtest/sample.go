// Package viewtest fills a database with made-up content for the page, for tests and pictures.
package viewtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Hostile is text that would break a page that does not escape it.
const Hostile = `<img src=x onerror="document.title='broken'"></script><script>document.title='broken'</script> ` +
	`${x} {{.}} 'q' &amp; אבג ` + "\u202egnp \U0001F6A9"

// A Sample says how much there is to be.
type Sample struct {
	Turns, Memories int
	Now             time.Time
}

// exchanges are what was said: about a boat, a kiln and an orchard.
var exchanges = []struct{ user, agent, memory, kind string }{
	{"How long is the mast of the Curlew?", "The mast of the Curlew is 11.42 metres long, from deck to truck.\n\nThe spare one in the shed is a little shorter.", "The mast of the Curlew is 11.42 metres long.", "fact"},
	{"Please rename the module to tidewater and run the tests.", "Done. I renamed `go.mod` and all imports:\n\n```\nok  example.com/tidewater/chart 0.412s\nok  example.com/tidewater/log   0.087s\n```", "We renamed the module to tidewater.", "decision"},
	{"I always want errors in lower case, and no full stop.", "Understood: errors begin in lower case and end without a full stop.", "I always want errors in lower case, and no full stop.", "preference"},
	{"From now on we fire the kiln at 1240 degrees instead of 1220.", "Noted. I changed `schedule.yaml`, and the cone table with it.", "From now on we fire the kiln at 1240 degrees instead of 1220.", "decision"},
	{"Who keeps the code of the orchard gate?", "The miller keeps it, as you said in spring.", "The miller keeps the code of the orchard gate.", "fact"},
	{"Why does chart.go panic on an empty log?\n\n```go\nfunc (c *Chart) Last() Point {\n\treturn c.points[len(c.points)-1]\n}\n```\n", answerWithCode, "chart.Last panics on an empty log.", "fact"},
	{"请解释一下潮汐表的格式，并给出一个例子。", "潮汐表每行有三个字段：**时间**、*高度*、港口。\n\n| 时间 | 高度 | 港口 |\n|---|---:|---|\n| 04:12 | 3.8 m | 宁波 |\n| 10:31 | 0.9 m | 宁波 |\n\n```\n04:12 3.8 宁波\n```\n", "潮汐表每行有时间、高度和港口。", "fact"},
	{"كم درجة حرارة الفرن؟ اكتبها في `schedule.yaml` من فضلك.", "درجة حرارة الفرن **1240** درجة. كتبتها في `schedule.yaml`:\n\n1. الرفع ببطء\n2. الثبات عشر دقائق\n3. التبريد\n", "درجة حرارة الفرن 1240 درجة.", "fact"},
}

// answerWithCode has what answers have: a heading, a list, a table, links and more code than is shown at once.
var answerWithCode = "## What happens\n\n`Last` takes the element before the first where the log is empty:\n\n" +
	"- `len(c.points)-1` is **-1**\n- [the specification](https://go.dev/ref/spec#Index_expressions) says that this " +
	"panics\n\n| Log | Before | After |\n|:--|:-:|--:|\n| empty | panic | `false` |\n| one point | it | it |\n\n" +
	"```go\n// Last is the newest point; ok is false where there is none.\n" +
	"func (c *Chart) Last() (p Point, ok bool) {\n" +
	"\tif len(c.points) == 0 {\n\t\treturn p, false\n\t}\n\treturn c.points[len(c.points)-1], true\n}\n```\n\n" +
	"The test that shows it:\n\n```go\nfunc TestLast(t *testing.T) {\n" +
	strings.Repeat("\tcheck(t, 3.8, \"04:12\")\n", 40) + "}\n```\n"

var places = []struct{ project, harness string }{
	{"/home/sample/src/curlew", "@agentclientprotocol/claude-agent-acp"}, {"/home/sample/src/curlew", "codex"},
	{"/home/sample/src/kiln", "opencode"}, {"/home/sample/orchard", "qwen-code"}, {"", "gemini-cli"},
	{"/home/sample/src/tide-tables", "opencode"}, {"/home/sample/文档/航海", "codex"},
}

// Fill writes the sample into an empty database with the newest schema.
func (s Sample) Fill(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	f := &filler{ctx: ctx, tx: tx, now: s.Now}
	f.memories(s.Memories)
	f.sessions(s.Turns)
	if f.err != nil {
		return f.err
	}
	return tx.Commit()
}

type filler struct {
	ctx context.Context
	tx  *sql.Tx
	now time.Time
	ids []string // of the memories
	err error
}

func (f *filler) exec(statement string, args ...any) int64 {
	if f.err != nil {
		return 0
	}
	var r sql.Result
	var id int64
	if r, f.err = f.tx.ExecContext(f.ctx, statement, args...); f.err == nil {
		id, f.err = r.LastInsertId()
	}
	return id
}

func (f *filler) memories(n int) {
	for i := range n {
		e, p := exchanges[i%len(exchanges)], places[i%len(places)]
		text := e.memory
		if i >= len(exchanges) {
			text = fmt.Sprintf("Note %d: %s", i, text)
		}
		if i == 7 {
			text = Hostile
		}
		at := f.now.Add(-time.Duration(i) * 97 * time.Minute)
		id := strings.ToLower(ulid.MustNew(ulid.Timestamp(at), zero{}).String())
		id = fmt.Sprintf("%s%06d", id[:20], i)
		f.ids = append(f.ids, id)
		source := "turn"
		if i == 2 {
			source = "memory pin"
		}
		f.exec(`INSERT INTO memories (uid, type, project, personal, who, source, key, created, updated, digest,
			content) VALUES (?, ?, ?, ?, iif(?5 = 'turn', 'typed', 'pin'), ?5, ?, ?, ?, ?, ?)`,
			id, e.kind, p.project, i%len(exchanges) == 2,
			source, key(i), at.UnixMilli(), at.UnixMilli(), id, text)
	}
}

type zero struct{}

func (zero) Read(b []byte) (int, error) { return len(b), nil }

func key(session int) string { return fmt.Sprintf("acp-%08d", session) }

// perSession is how many turns a session has.
const perSession = 3

func (f *filler) sessions(turns int) {
	parent := ""
	for i := 0; i*perSession < turns; i++ {
		p := places[i%len(places)]
		at := f.now.Add(-time.Duration(i) * 97 * time.Minute)
		var continues any
		if i%7 == 4 {
			continues = i - 3
		}
		called := ""
		acpID := fmt.Sprintf("%08x-5a77-4f0e-9d51-%012x", i*2654435761%(1<<32), i)
		if i%9 == 2 {
			called = parent
			f.asked(i, parent, acpID, at)
		}
		parent = key(i)
		id := f.exec(`INSERT INTO sessions (harness, acp_id, key, cwd, project, client, client_version, parent_key,
			continue_of, state, started, last_active) VALUES (?, ?, ?, ?, ?, 'acpx', '0.19.1', ?, ?, 'done', ?, ?)`,
			p.harness, acpID, key(i), p.project, p.project, called, continues,
			at.UnixMilli(), at.Add(time.Hour).UnixMilli())
		f.exec(`INSERT INTO session_keys (key, session, n, created) VALUES (?, ?, 1, ?)`, key(i), id, at.UnixMilli())
		f.told(id, i, at)
		for n := range min(perSession, turns-i*perSession) {
			f.turn(id, i, n, p.harness, at.Add(time.Duration(n)*9*time.Minute))
		}
		if called != "" {
			f.exec(`UPDATE turns SET delegation = ? WHERE session = ?`, delegation(i), id)
		}
	}
}

func delegation(i int) string { return fmt.Sprintf("01k%022d", i) }

// asked inserts the delegation by which one session called another.
func (f *filler) asked(i int, caller, child string, at time.Time) {
	state, reason, ended := "done", "", at.Add(40*time.Minute).UnixMilli()
	if i%2 == 1 {
		state, reason = "stopped", "its budget of 20 turns is used up"
	}
	f.exec(`INSERT INTO delegations (id, caller, root, depth, key, agent, state, acp_id, created, started, ended,
		result, request) VALUES (?, ?, ?, 1, ?, 'claude', ?, ?, ?, ?, ?, json_object('reason', ?),
			'{"harness":"codex","kind":"review","mode":"read","task":"Read the tests of package chart.",
				"scope":"the tests of package chart","kept":"the release notes"}')`,
		delegation(i), caller, caller, child, state, child, at.UnixMilli(), at.UnixMilli(), ended, reason)
}

// told inserts the block before a session's first prompt.
func (f *filler) told(session int64, i int, at time.Time) {
	if len(f.ids) == 0 || i%5 == 3 {
		return
	}
	var items []string
	text := "<signet-memory source=\"acp-proxy\" id=\"3f9c0a71d2be\">\n" +
		"Added by signet-acp-proxy from the user's own memory; not part of the user's message.\n## Memories\n"
	for n := range 1 + i%3 {
		at := (i*7 + n*3) % len(f.ids)
		items = append(items, f.ids[at])
		text += "- (2026-10-03) " + exchanges[at%len(exchanges)].memory + "\n"
	}
	if i%6 == 2 {
		items = append(items, "file:go.mod")
		text += "## Where\n- go.mod (2026-10-03: \"rename the module\")\n"
	}
	list, err := json.Marshal(items)
	if err != nil {
		f.err = err
	}
	text += "</signet-memory>\n\n"
	outcome := "kept"
	if i%11 == 5 {
		outcome = "doubt"
	}
	f.exec(`INSERT INTO injections (session, key, kind, block_id, source, bytes, fetch_ms, held_ms, at, outcome, items,
		text) VALUES (?, ?, 'context', '3f9c0a71d2be', 'embedded', ?, ?, ?, ?, ?, ?, ?)`, session, key(i), len(text),
		4+i%20, 6+i%30, at.UnixMilli(), outcome, string(list), text)
	f.exec(`INSERT INTO uses (session, item, kind, state, at) SELECT ?1, value,
		iif(value LIKE 'file:%', 'file', 'words'), ?2, ?3 FROM json_each(?4)`, session, i%2, at.UnixMilli(),
		string(list))
}

func (f *filler) turn(session int64, i, n int, harness string, at time.Time) {
	e := exchanges[(i+n)%len(exchanges)]
	user, agent, tools, stop := e.user, e.agent, `[]`, "end_turn"
	switch {
	case i == 1 && n == 0:
		user = Hostile
	case i == 2 && n == 0:
		user = strings.Repeat("A prompt of a megabyte. ", 1<<20/24)
	case n == 1:
		tools = `[{"title":"Read chart.go","kind":"read","status":"completed",` +
			`"locations":["/home/sample/src/curlew/chart.go"],"ms":12},` +
			`{"title":"Edit go.mod","kind":"edit","status":"completed",` +
			`"locations":["/home/sample/src/curlew/go.mod"]},` +
			`{"title":"go test ./...","kind":"execute","status":"failed","ms":4210}]`
	case n == 2 && i%4 == 1:
		stop, agent = "cancelled", "I would begin with"
	}
	ended := at.Add(4*time.Second + time.Duration(i%50)*100*time.Millisecond)
	id := f.exec(`INSERT INTO turns (session, key, process, started, ended, stop, learned, tools, user, assistant)
		VALUES (?, ?, 'p', ?, ?, ?, 0, ?, ?, ?)`, session, key(i), at.UnixMilli(), ended.UnixMilli(), stop, tools, user,
		agent)
	if n == 1 {
		f.exec(`INSERT INTO files (turn, session, project, path, kind, at) SELECT ?1, s.id, s.project, f.value ->> 0,
			f.value ->> 1, ?3 FROM sessions s, json_each('[["chart.go", 1], ["go.mod", 2]]') f WHERE s.id = ?2`, id,
			session, at.UnixMilli())
	}
	if harness == "qwen-code" {
		return
	}
	f.exec(`INSERT INTO usage (session, turn, at, reporter, input, output, raw) VALUES (?, ?, ?, 'result', ?, ?, '{}')`,
		session, id, at.UnixMilli(), 900+i%17*431, 120+i%13*57)
	if strings.Contains(harness, "claude") {
		f.exec(`INSERT INTO usage (session, at, reporter, cost, currency, raw) VALUES (?, ?, 'update', ?, 'USD', '{}')`,
			session, at.UnixMilli(), float64(n+1)*0.0314)
	}
}
