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

// Limits of what a page holds of inserted blocks.
const (
	mostBlock  = 32 << 10 // bytes of one block
	mostBlocks = 8 << 20  // of all blocks
)

// Insertion is a block that was inserted.
type Insertion struct {
	What    string // such as "3 memories, 1.1 KB"
	Source  string
	Waited  string // how long it took, in words
	Outcome string // what became of it, in words
	Block   Text
	Items   []Item

	at time.Time
}

// An Item is a memory, or a passage of a conversation, in a block.
type Item struct {
	ID, Text string
	Used     bool // an answer used it
	Shown    bool // it is among the page's memories
}

// outcomes gives in words what became of a block.
var outcomes = map[correlation.Outcome]string{
	correlation.Kept: "the agent has it", correlation.WasRefused: "the agent refused the prompt",
	correlation.InDoubt: "sent, perhaps lost", correlation.Sending: "on its way",
	correlation.WasCancelled: "cancelled, perhaps lost",
}

// itemUse names a memory that a session was told.
type itemUse struct {
	session int64
	item    string
}

// usedItems gives the items that an answer used of those that sessions were told.
func usedItems(ctx context.Context, db *sql.DB, in pageScope) (map[itemUse]bool, error) {
	used := map[itemUse]bool{}
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var u itemUse
		err = row.Scan(&u.session, &u.item)
		used[u] = true
		return struct{}{}, err
	}, `SELECT session, item FROM passages_told WHERE used AND `+inScope, in.args()...)
	return used, sqlite.While("reading what was used", err)
}

// itemTexts gives the beginnings of the items that are still known, by id.
func itemTexts(ctx context.Context, db *sql.DB, in pageScope) (map[string]string, error) {
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

// An insertionOf is an insertion and the session that it belongs to.
type insertionOf struct {
	Insertion
	session int64
}

// readInsertions reads the insertions, oldest first.
func readInsertions(ctx context.Context, db *sql.DB, in pageScope) ([]insertionOf, error) {
	used, err := usedItems(ctx, db, in)
	if err != nil {
		return nil, err
	}
	texts, err := itemTexts(ctx, db, in)
	if err != nil {
		return nil, err
	}
	room := mostBlocks
	all, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (t insertionOf, err error) {
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
				Used: used[itemUse{t.session, id}]})
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
