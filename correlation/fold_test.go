package correlation_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// What each kind of event does to the database, behind a session that is opened (1) and one that was forgotten (2).
func TestFolds(t *testing.T) {
	const all = "SELECT group_concat(v, ' ') FROM "
	on := func(e Event) []Event {
		return []Event{TurnBegan{Session: 1, Turn: 1, Key: "k"}, e}
	}
	call := func(id string) ToolCall { return ToolCall{ID: id, Title: "CANARY"} }
	unclaimed := Unclaimed{Session: 1, From: Armed, Injection: Injection{Kind: "identity", Text: "CANARY"}}
	for name, tt := range map[string]struct {
		events      []Event
		query, want string
	}{
		"a key in between is started":   {[]Event{Rekeyed{1, "new", "spent"}}, all + "(SELECT iif(n = 1, 'first', key) || iif(started > 0, '!', '') v FROM session_keys ORDER BY n)", "first spent! new"},
		"the last key is the session's": {[]Event{Rekeyed{1, "new", ""}}, "SELECT key || (SELECT count(*) FROM session_keys) FROM sessions", "new2"},
		"a record":                      {[]Event{RecordKnown{1, "r"}}, "SELECT record FROM sessions", "r"},
		"a parent":                      {[]Event{ParentKnown{1, "p"}}, "SELECT parent_key FROM sessions", "p"},
		"a title":                       {[]Event{Titled{1, "CANARY"}}, "SELECT title FROM sessions", "CANARY"},
		"an identity":                   {[]Event{Injected{Session: 1, Injection: Injection{Kind: "system", Text: "CANARY"}}}, "SELECT kind || session || text FROM injections", "system1CANARY"},
		"a claim that was not had":      {[]Event{unclaimed, Stepped{Session: 1, Step: Step{Name: Answered}}}, all + "(SELECT state || (SELECT kind || text || outcome FROM injections) v FROM sessions)", "doneidentityCANARYkept"},
		"one that another process has":  {[]Event{Stepped{Session: 1, Step: Step{Name: NothingToTell}}, unclaimed, Stepped{Session: 1, Step: Step{Name: Failed}}}, all + "(SELECT state || (SELECT kind || outcome FROM injections) v FROM sessions)", "doneidentitykept"},
		"a context":                     {[]Event{ContextStored{1, "k", time.UnixMilli(7), []byte(`"CANARY"`)}}, "SELECT context_key || context_at || CAST(context AS TEXT) FROM sessions", `k7"CANARY"`},
		"a context that is used":        {[]Event{ContextStored{1, "k", time.Now(), []byte("1")}, ContextDropped{1}}, "SELECT count(*) FROM sessions WHERE context IS NOT NULL", "0"},
		"a summary is owed":             {[]Event{Summarised{1, "CANARY"}}, "SELECT kind || session || payload FROM debts WHERE kind = 'compaction'", "compaction1CANARY"},
		"a state that was left":         {[]Event{Stepped{Session: 1, From: []State{Doubt}, Step: Step{Name: NothingToTell}}, RecordKnown{1, "r"}}, "SELECT state || record FROM sessions", "armedr"},
		"a step":                        {[]Event{Stepped{Session: 1, Step: Step{Name: NothingToTell}}}, "SELECT state FROM sessions", "done"},
		"a turn of a delegation":        {[]Event{TurnBegan{Session: 1, Turn: 1, Key: "k", Delegation: "d"}}, "SELECT key || delegation || process FROM turns", "kdp"},
		"a prompt with a part missing":  {on(UserSaid{1, "CANARY", true}), "SELECT user || truncated FROM turns", "CANARY1"},
		"an answer with a part missing": {on(AssistantSaid{1, "CANARY", 3}), "SELECT (assistant LIKE '%3 bytes left out%CANARY') || truncated FROM turns", "11"},
		"an end":                        {on(TurnEnded{Turn: 1, Stop: "end_turn", Code: 4}), "SELECT (ended > 0) || stop || code || truncated FROM turns", "1end_turn40"},
		"an end with a part missing":    {on(TurnEnded{Turn: 1, Lost: 1}), "SELECT truncated FROM turns", "1"},
		"usage of a turn":               {on(UsageReported{1, 1, Usage{Reporter: "x"}}), "SELECT session || ' ' || turn || reporter FROM usage", "1 1x"},
		"usage of none":                 {[]Event{UsageReported{1, 0, Usage{Reporter: "x"}}}, "SELECT session || (turn IS NULL) || reporter FROM usage", "11x"},
		"usage of one that is gone":     {[]Event{UsageReported{1, 9, Usage{Reporter: "x"}}}, "SELECT session || (turn IS NULL) || reporter FROM usage", "11x"},
		"a key of nobody":               {[]Event{KeyStarted{"k", "a"}}, "SELECT key || process || agent_id FROM session_keys WHERE session IS NULL", "kpa"},
		"a daemon":                      {[]Event{DaemonAnswered{"/p", "u", "v"}}, "SELECT name || value FROM noted", `/p{"url":"u","version":"v"}`},
		"the end of the process":        {[]Event{ProcessEnded{"eof"}}, "SELECT reason FROM processes WHERE ended > 0", "eof"},
		"a session that is closed":      {[]Event{Closed{1, "closed"}}, "SELECT count(*) FROM attachments WHERE closed = 0", "0"},
		"of a forgotten session":        {[]Event{RecordKnown{2, "r"}, TurnBegan{Session: 2, Turn: 1}, UserSaid{1, "x", false}}, "SELECT (SELECT count(*) FROM turns) || count(*) FROM sessions", "01"},
		"what is noted of a session":    {[]Event{Compacting{1}, Warned{1, "CANARX"}}, all + "(SELECT kind || session || (turn IS NULL) v FROM events ORDER BY id)", "session_opened11 compacting11 daemon_warned11"},
		"what is noted of a turn":       {append(on(Noted{1, "n"}), ToolUsed{1, call("a")}), all + "(SELECT kind || session || turn v FROM events WHERE turn > 0 ORDER BY id)", "turn_began11 noted11 tool_used11"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.register(ProcessInfo{ID: "p", Memory: "daemon"})
			opened := Opened{Session: 1, Open: OpenSession{Harness: "h", ACPID: "s", New: true}}
			for _, e := range append([]Event{opened}, tt.events...) {
				err := b.happen("p", e)
				if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrStateChanged) {
					t.Fatal(err)
				}
			}
			var got sql.NullString
			if err := b.db.QueryRowContext(t.Context(), tt.query).Scan(&got); err != nil || got.String != tt.want {
				t.Errorf("%q, want %q (%v)", got.String, tt.want, err)
			}
			if n := b.count("SELECT count(*) FROM events WHERE data LIKE '%CANARY%' AND kind <> 'tool_used'"); n != 0 {
				t.Error("the table of events has text of the conversation")
			}
		})
	}
}

// What a process learns of what its events have changed.
func TestChanges(t *testing.T) {
	opened := func(n int) Event { return Opened{Session: n, Open: OpenSession{Harness: "h", ACPID: fmt.Sprint(n)}} }
	began := TurnBegan{Session: 1, Turn: 1}
	for name, tt := range map[string]struct {
		events []Event
		want   Changes
	}{
		"a prompt alone":            {[]Event{opened(1), began, UserSaid{1, "x", false}}, Changes{Opened: []int{1}}},
		"an answer":                 {[]Event{opened(1), began, AssistantSaid{1, "x", 0}}, Changes{Spoke: true, Opened: []int{1}}},
		"an end":                    {[]Event{opened(1), began, TurnEnded{Turn: 1}}, Changes{Spoke: true, Ended: true, Opened: []int{1}}},
		"gone":                      {[]Event{RecordKnown{2, "r"}, TurnBegan{Session: 3, Turn: 1}}, Changes{Gone: map[int]bool{2: true, 3: true}}},
		"gone and opened again":     {[]Event{RecordKnown{1, "r"}, opened(1)}, Changes{Opened: []int{1}}},
		"continues one that is not": {[]Event{Opened{Session: 1, Open: OpenSession{Harness: "h"}, Continues: 2, Fork: 3}}, Changes{Opened: []int{1}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.register(ProcessInfo{ID: "p"})
			var got Changes
			check(t, b.Batch(t.Context(), "p", func(batch *Batch) error {
				for _, e := range tt.events {
					if err := batch.Apply(e); err != nil && !errors.Is(err, ErrNotFound) {
						return err
					}
				}
				got = batch.Changes
				return nil
			}))
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
