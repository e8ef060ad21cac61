package correlation

import (
	"context"
	"strconv"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Selection is the turns that are to be delivered.
type Selection struct {
	Turns []Turn    // oldest first, all ended; empty: nothing
	First bool      // nothing was taken under the key by an earlier delivery
	Wait  time.Time // not zero: not worth a job before then
	Last  int64     // the last row of all the turns that are to be delivered, also in a part of them
	Job   Job       // what a daemon that has taken them makes of them: key and id; zero: nothing
}

// Select returns the turns that are to be delivered: those that are new, so that each is delivered once. A
// delivery that was begun goes on with the turns that it had then, so that they can be cut into the same parts. Wait is
// set for a delivery to the daemon: the first under a key and the first end are worth a job at once, a later one from
// 500 characters and 5 turns on, or 24 hours after its oldest turn. Call Select once for a debt that was taken up.
// Whoever sends a transcript in parts makes Selections with some of the turns each.
func (s Debts) Select(ctx context.Context, d Debt) (Selection, error) {
	p, err := s.selectTurns(ctx, d)
	return p, sqlite.While("reading what is to be delivered", err)
}

func (s Debts) selectTurns(ctx context.Context, d Debt) (Selection, error) {
	if d.Payload != "" {
		return Selection{}, nil
	}
	// Turns of a delivery that was dropped were not accepted: they stay new. So do those of a dead one.
	own := "0"
	if d.begun() {
		own = strconv.FormatInt(d.ID, 10)
	}
	var chosen []int64
	p := Selection{First: true}
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var id int64
		var isNew bool
		err := row.Scan(&id, &isNew)
		switch {
		case !isNew:
			p.First = false
		case !d.begun() || id <= d.postedTo:
			chosen = append(chosen, id)
			p.Last = max(p.Last, id)
		}
		return err
	}, `SELECT t.id, t.`+d.column()+` IN (0, `+own+`) OR x.state IS 'dropped' FROM turns t
		LEFT JOIN debts x ON x.id = t.`+d.column()+`
		WHERE t.key = ? AND t.ended > 0 ORDER BY t.started, t.id`, d.Key)
	if err != nil || len(chosen) == 0 {
		return Selection{}, err
	}
	p.Turns, err = sqlite.Collect(ctx, s.db, scanTurn, `SELECT `+turnColumns+` FROM turns t WHERE t.id IN (SELECT value
		FROM json_each(?)) ORDER BY t.started, t.id`, sqlite.List(chosen))
	if err != nil || d.Kind != KindDaemon || p.First || d.begun() {
		return p, err
	}
	ended, err := s.endedBefore(ctx, d)
	if err == nil && ended {
		p.Wait = worthWaiting(p.Turns, s.now())
	}
	return p, err
}

// endedBefore reports whether an end of the session was delivered before. A delivery made while the session went on
// does not count: its first end may be the last thing that is ever said, so that its turns are not held back for more.
func (s Debts) endedBefore(ctx context.Context, d Debt) (before bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT ?1 = ?2 OR EXISTS (SELECT 1 FROM debts WHERE key = ?3 AND kind = ?4
		AND state IN (?5, ?6) AND reason <> ?2)`, d.Reason, SoFar, d.Key, d.Kind, Delivered, Unknown).Scan(&before)
	return before, err
}
