package correlation

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What became of what a block told.

// Values of Use.Kind.
const (
	UseFile  = "file"
	UseWords = "words"
	UseRule  = "rule"
)

// Values of Use.State.
const (
	NotSeen   = iota // no use seen
	Used             // the agent touched the file, or repeated rare words
	SaidAgain        // the user had to say the rule again
)

// A Use is an item that a session was told.
type Use struct {
	Session    int64
	Item, Kind string
	State      int
	At         time.Time
}

// InWords is its state.
func (u Use) InWords() string {
	return map[int]string{NotSeen: "no use seen", Used: "used", SaidAgain: "repeated"}[u.State]
}

// SaveUses notes what one more turn says of items. What was seen once stays.
func SaveUses(ctx context.Context, tx *sql.Tx, uses []Use) error {
	for _, u := range uses {
		_, err := tx.ExecContext(ctx, `INSERT INTO uses (session, item, kind, state, at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET state = max(state, excluded.state)`, u.Session, u.Item, u.Kind, u.State,
			sqlite.Stamp(u.At))
		if err != nil {
			return err
		}
	}
	return nil
}

// Uses returns what the sessions in scope were told.
func (s Book) Uses(ctx context.Context, in Scope) ([]Use, error) {
	return collect(ctx, s.db, "reading what was used", func(row sqlite.Row) (u Use, err error) {
		var at int64
		err = row.Scan(&u.Session, &u.Item, &u.Kind, &u.State, &at)
		u.At = sqlite.Unstamp(at)
		return u, err
	}, `SELECT session, item, kind, state, at FROM uses WHERE `+in.where("session")+` AND at >= ?2
		ORDER BY session, item`, in.sessions(), sqlite.Stamp(in.Since))
}

// A Record is how often items were told, and what became of them as far as that can be seen.
type Record struct {
	Told  int `json:"told"`
	Used  int `json:"used"`
	Again int `json:"saidAgain,omitempty"` // rules
}

// With returns the record with an item more, by what became of it.
func (r Record) With(state int) Record {
	r.Told++
	switch state {
	case Used:
		r.Used++
	case SaidAgain:
		r.Again++
	}
	return r
}

// InWords is a record as a person reads it, "" for none.
func (r Record) InWords() string {
	switch {
	case r.Told == 0:
		return ""
	case r.Again > 0:
		return fmt.Sprintf("recalled %s, repeated %s", times(r.Told), times(r.Again))
	case r.Used == 0:
		return fmt.Sprintf("recalled %s, no use seen", times(r.Told))
	}
	return fmt.Sprintf("recalled %s, used %s", times(r.Told), times(r.Used))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Records returns those of some items in the sessions of a project; "" for all sessions.
func Records(ctx context.Context, q sqlite.Querier, project string, items []string) (map[string]Record, error) {
	records := map[string]Record{}
	err := sqlite.Each(ctx, q, func(row sqlite.Row) error {
		var item string
		var r Record
		err := row.Scan(&item, &r.Told, &r.Used, &r.Again)
		records[item] = r
		return err
	}, `SELECT u.item, count(*), sum(u.state = ?3), sum(u.state = ?4) FROM json_each(?1) j
		CROSS JOIN uses u ON u.item = j.value JOIN sessions s ON s.id = u.session
		WHERE ?2 IN ('', s.project) GROUP BY u.item`, sqlite.List(items), project, Used, SaidAgain)
	return records, err
}

// UserWords returns what the user said in a session up to a turn, and in that.
func UserWords(ctx context.Context, q sqlite.Querier, session, turn int64) (string, error) {
	return sqlite.One[string](q.QueryRowContext(ctx, `SELECT coalesce(group_concat(user, char(10)), '') FROM
		(SELECT user FROM turns WHERE session = ? AND id <= ? ORDER BY id DESC LIMIT 20)`, session, turn))
}
