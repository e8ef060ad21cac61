package migrations_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// elsewhere finds a row (fillEach) of a table that is no more, or has other columns now, where the upgrade has put it.
// "" is what nobody asks for any more.
var elsewhere = map[string]string{
	"memories_forgotten": `SELECT 1 FROM forgotten WHERE kind = 'memory' AND what = 'memories_forgotten.digest' AND turn = 1`,
	"sessions_forgotten": `SELECT 1 FROM forgotten WHERE kind = 'session' AND what = 'sessions_forgotten.acp_id'`,
	"turns_forgotten":    `SELECT 1 FROM forgotten WHERE kind = 'turn' AND what = x'01'`,
	"memories_stale":     `SELECT 1 FROM passages_index WHERE kind = 'memory' AND id = 1`,
	"passages_stale":     `SELECT 1 FROM passages_index WHERE kind = 'passage' AND id = 1`,
	"passages_total":     `SELECT 1 FROM passages_index p JOIN passages_index t WHERE p.kind = 'passages' AND t.kind = 'terms' AND p.n > 0 AND t.n > 0`,
	"passages_backlog":   `SELECT 1 FROM passages_index WHERE kind = 'backlog' AND n > 0`,
	"passages_told":      "",
	"notices":            `SELECT 1 FROM noted WHERE kind = 'told' AND name = 'notices.name' AND at = 1`,
	"daemon_seen":        `SELECT 1 FROM noted WHERE kind = 'daemon' AND name = 'daemon_seen.signet_path' AND at = 1 AND value = '{"url":"daemon_seen.url","version":"daemon_seen.version"}'`,
	"agents_seen":        `SELECT 1 FROM noted WHERE kind = 'agent' AND name = 'agents_seen.agent' AND at = 1 AND value ->> 'title' = 'agents_seen.title' AND value -> 'commands' = '[]' AND value -> 'reopens' IN ('null', 'true')`,
	"started_keys":       `SELECT 1 FROM session_keys WHERE key = 'started_keys.key' AND session IS NULL AND started = 1 AND process = 'started_keys.process' AND agent_id = 'started_keys.agent_id'`,
	"deliveries":         `SELECT 1 FROM debts WHERE id = 4242 AND key = 'deliveries.key' AND kind = 'deliveries.kind' AND state = 'deliveries.state' AND unanswered = 1 AND posted = 1 AND payload = 'deliveries.payload' AND waits = 0`,
	"delegations": `SELECT 1 FROM delegations WHERE id = 'delegations.id' AND caller = 'delegations.caller' AND state = 'delegations.state'
		AND request ->> 'task' = 'delegations.task' AND request -> 'budget' = '[]' AND work ->> 'progress' = 'delegations.progress'
		AND result ->> 'answer' = 'delegations.answer' AND result -> 'paths' = '[]' AND question IN ('', '{}', '{"allowed":true}')`,
	"event_files":    `SELECT 1 FROM processes WHERE id = 'processes.id' AND written = (1 << 40) + 1`,
	"event_sessions": `SELECT 1 FROM attachments WHERE process = 'event_sessions.process' AND n = 1 AND session = 1 AND closed = 1`,
	"event_turns":    `SELECT 1 FROM turns WHERE id = 1 AND n = 1 AND head = 1 AND left_out = 1`,
	"attachments":    `SELECT 1 FROM attachments WHERE process = 'attachments.process' AND session = 1 AND closed = (n > 0)`,
	"refused_events": `SELECT 1 FROM events WHERE kind = 'refused' AND at = 1 AND process = 'refused_events.process' AND session = 1
		AND data = '{"line":"refused_events.line","reason":"refused_events.reason"}'`,
	"stored_contexts": `SELECT 1 FROM sessions WHERE id = 1 AND context_key = 'stored_contexts.key' AND context_at = 1 AND context = x'01'`,
}

// A row is its values by column.
type row map[string]string

// left are the columns that an upgrade leaves behind: origin became who (TestUpgradeWho), hook_limit is no setting.
var left = map[string]bool{"given": true, "used": true, "origin": true, "hook_limit": true}

// isIn reports whether a row is another one but for columns that are new, or that an upgrade leaves behind.
func (r row) isIn(now row) bool {
	for column, value := range r {
		got, there := now[column]
		if !there && !left[column] || there && got != value {
			return false
		}
	}
	return true
}

// fillEach adds a row to each table that may have several: texts are the name of their column, numbers and references 1, lists empty.
func fillEach(t *testing.T, db *sql.DB) {
	t.Helper()
	for table, rows := range contents(t, db) {
		type column struct {
			name, kind string
			key, keys  int
		}
		columns, err := sqlite.Collect(t.Context(), db, func(row sqlite.Row) (c column, err error) {
			return c, row.Scan(&c.name, &c.kind, &c.key, &c.keys)
		}, `SELECT name, type, pk, (SELECT count(*) FROM pragma_table_info(?1) WHERE pk > 0)
			FROM pragma_table_info(?1)`, table)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) > 0 && !slices.ContainsFunc(columns, func(c column) bool { return c.key > 0 }) {
			continue // it has a row from the beginning
		}
		var names, values []string
		for _, c := range columns {
			value := "1"
			switch {
			case table == "event_files" && c.name == "process":
				value = "'processes.id'"
			case c.kind == "INTEGER" && c.key == 1 && c.keys == 1 && c.name == "id":
				value = "4242"
			case slices.Contains([]string{"items", "tools", "budget", "paths", "refused", "commands", "raw", "data"}, c.name):
				value = "'[]'"
			case c.name == "question":
				value = "'{}'"
			case c.kind == "TEXT":
				value = fmt.Sprintf("'%s.%s'", table, c.name)
			case c.kind == "BLOB" || c.kind == "ANY":
				value = "x'01'"
			}
			names, values = append(names, c.name), append(values, value)
		}
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf(`INSERT OR IGNORE INTO %s (%s) VALUES (%s)`, table,
			strings.Join(names, ", "), strings.Join(values, ", "))); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
}

// contents are the rows of all tables but those of the index, by table, column and number of the row.
func contents(t *testing.T, db *sql.DB) map[string][]row {
	t.Helper()
	tables, err := sqlite.Collect(t.Context(), db, sqlite.One[string], `SELECT name FROM pragma_table_list
		WHERE schema = 'main' AND type = 'table' AND name NOT IN ('migrations', 'sqlite_schema', 'sqlite_sequence')`)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]row{}
	for _, table := range tables {
		all[table] = nil
		rows, err := db.QueryContext(t.Context(), `SELECT * FROM `+table)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		for rows.Next() && err == nil {
			values, one := make([]sql.NullString, len(columns)), row{}
			dest := make([]any, len(columns))
			for i := range dest {
				dest[i] = &values[i]
			}
			err = rows.Scan(dest...)
			for i, c := range columns {
				one[c] = values[i].String
			}
			all[table] = append(all[table], one)
		}
		if err != nil || rows.Err() != nil {
			t.Fatal(err, rows.Err())
		}
	}
	return all
}

// carried checks that each row that was there is there after an upgrade, in its table or elsewhere.
func carried(t *testing.T, before, after map[string][]row, db *sql.DB) {
	t.Helper()
	for table, rows := range before {
		if table == "passages_index" { // it says what is to be indexed: all turns, once more
			continue
		}
		query, moved := elsewhere[table]
		if len(rows) > 0 && rows[0]["request"] != "" {
			moved = false // the upgrade had no more to do
		}
		now, stays := after[table]
		switch {
		case moved && query != "":
			var found int
			if err := db.QueryRowContext(t.Context(), query).Scan(&found); err != nil {
				t.Errorf("the row of %s: %v", table, err)
			}
		case !moved && !stays:
			t.Errorf("what has become of the rows of %s?", table)
		case !moved:
			for _, row := range rows {
				learnsAgain := row["kind"] == "backlog" // from the newest turn
				if !learnsAgain && !slices.ContainsFunc(now, row.isIn) {
					t.Errorf("%s: %v is not there", table, row)
				}
			}
		}
	}
}
