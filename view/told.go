package view

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// How much of what was inserted a page holds.
const (
	mostBlock  = 32 << 10 // bytes of a block that was inserted
	mostBlocks = 8 << 20  // of all blocks
)

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

// outcomes says what became of a block.
var outcomes = map[correlation.Outcome]string{
	correlation.Kept: "the agent has it", correlation.WasRefused: "the agent refused the prompt",
	correlation.InDoubt: "sent, perhaps lost", correlation.Sending: "on its way",
}

// useOf names a memory that a session was told.
type useOf struct {
	session int64
	item    string
}

// usedItems gives what sessions were told, and that an answer came back to.
func usedItems(ctx context.Context, db *sql.DB, in scope) (map[useOf]bool, error) {
	used := map[useOf]bool{}
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var u useOf
		err = row.Scan(&u.session, &u.item)
		used[u] = true
		return struct{}{}, err
	}, `SELECT session, item FROM passages_told WHERE used AND `+inScope, in.args()...)
	return used, sqlite.While("reading what was used", err)
}

// itemTexts gives the beginnings of what was inserted and is still known, by id.
func itemTexts(ctx context.Context, db *sql.DB, in scope) (map[string]string, error) {
	texts := map[string]string{}
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var id, text string
		err = row.Scan(&id, &text)
		texts[id] = text
		return struct{}{}, err
	}, `WITH items AS MATERIALIZED (SELECT DISTINCT value FROM injections, json_each(items) WHERE `+inScope+`)
		SELECT uid, substr(content, 1, ?3) FROM items JOIN memories ON uid = value UNION ALL
		SELECT uid, substr(content, 1, ?3) FROM items JOIN passages ON uid = value WHERE given > 0 AND memory IS NULL`,
		in.args(8*mostTitle)...)
	return texts, sqlite.While("reading memories", err)
}

// A toldOf is a block and the session that it is of.
type toldOf struct {
	Told
	session int64
}

// readTold reads what was inserted, oldest first.
func readTold(ctx context.Context, db *sql.DB, in scope) ([]toldOf, error) {
	used, err := usedItems(ctx, db, in)
	if err != nil {
		return nil, err
	}
	texts, err := itemTexts(ctx, db, in)
	if err != nil {
		return nil, err
	}
	room := mostBlocks
	all, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (t toldOf, err error) {
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
		WHERE `+inScope+` ORDER BY id DESC`, in.args(mostBlock)...)
	slices.Reverse(all)
	return all, sqlite.While("reading what was inserted", err)
}
