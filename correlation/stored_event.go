package correlation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A StoredEvent is a row of the table events: something that happened, without what was said.
type StoredEvent struct {
	ID            int64
	At            time.Time
	Kind          string // as kinds names it; one that it does not know is a newer version's
	Process       string
	Session, Turn int64 // rows, 0 for none
	// an object; session and turn in it are the process's own numbers
	Data json.RawMessage
}

// Events returns the events of a session and of those that it continues, in order, from after the event with an id (0:
// from the beginning), at most limit of them (0: all).
func (s Book) Events(ctx context.Context, session, after int64, limit int) ([]StoredEvent, error) {
	if limit == 0 {
		limit = -1
	}
	return collect(ctx, s.db, "reading events", func(row sqlite.Row) (e StoredEvent, err error) {
		var at int64
		var data string
		err = row.Scan(&e.ID, &at, &e.Kind, &e.Process, &e.Session, &e.Turn, &data)
		e.At, e.Data = sqlite.Unstamp(at), json.RawMessage(data)
		return e, err
	}, ancestors("continue_of")+` SELECT id, at, kind, process, coalesce(session, 0), coalesce(turn, 0), data
		FROM events WHERE session IN ancestors AND id > ? ORDER BY at, id LIMIT ?`, session, after, limit)
}

// Warnings returns the daemons' warnings about a session and those that it continues, oldest first, each once.
func (s Book) Warnings(ctx context.Context, session int64) ([]string, error) {
	return collect(ctx, s.db, "reading what the daemon warned of", sqlite.One[string], ancestors("continue_of")+`
		SELECT data ->> 'text' FROM events WHERE session IN ancestors AND kind = 'daemon_warned'
		GROUP BY 1 ORDER BY min(id)`, session)
}

// eventsAtOnce is how many are removed in one transaction.
const eventsAtOnce = 500

// expireEvents removes events and reports of usage from before a time. Those of turns are removed with their turns.
func (s *core) expireEvents(ctx context.Context, before time.Time) error {
	for _, table := range []string{"events", "usage"} {
		old := `SELECT id FROM ` + table + ` WHERE at < ? AND turn IS NULL LIMIT ?`
		for {
			began := time.Now()
			// to look takes no lock
			ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], old, sqlite.Stamp(before), 1)
			if err != nil || len(ids) == 0 {
				if err != nil {
					return sqlite.While("looking for old events", err)
				}
				break
			}
			err = s.change(ctx, "removing old events", `DELETE FROM `+table+` WHERE id IN (`+old+`)`,
				sqlite.Stamp(before), eventsAtOnce)
			if err != nil {
				return err
			}
			pace.Pause(ctx, began)
		}
	}
	return nil
}
