package correlation

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// KindDelegation is the kind of events that package delegation notes (NoteEvent).
const KindDelegation = "delegation_changed"

// kindRefused is the kind of events that the database will never take, and of what is no event at all.
const kindRefused = "refused"

// Refuse keeps a line that the database will never take, and why. session is the number of its session, 0 for none, or
// turn that of its turn.
func (b *Batch) Refuse(line []byte, session, turn int, reason string) error {
	row, err := openedSession(b.ctx, b.tx, b.process, session)
	if errors.Is(err, ErrNotFound) {
		_, row, err = b.turn(turn)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	data, err := json.Marshal(map[string]string{"line": strings.ToValidUTF8(string(line), "\uFFFD"), "reason": reason})
	if err != nil {
		return err
	}
	return b.addEvent(kindRefused, row, 0, data)
}

// A Refusal sums up what the database has refused.
type Refusal struct {
	Lines  int
	Last   time.Time
	Reason string // of the last
}

// Refused returns what was refused and is still kept.
func (s Book) Refused(ctx context.Context) (r Refusal, err error) {
	var last int64
	var row any // the columns beside max are of its row
	err = s.db.QueryRowContext(ctx, `SELECT count(*), coalesce(at, 0), coalesce(data ->> 'reason', ''), max(id)
		FROM events WHERE kind = ?`, kindRefused).Scan(&r.Lines, &last, &r.Reason, &row)
	r.Last = sqlite.Unstamp(last)
	return r, sqlite.While("looking for what was refused", err)
}

// EmptyEvents removes the text of what was refused, and the fields of events of a newer version, which may hold text: a
// person had something forgotten that they may repeat.
func (s *Store) EmptyEvents(ctx context.Context) error {
	known := []string{KindDelegation}
	for kind := range kinds {
		known = append(known, kind)
	}
	return s.change(ctx, "emptying events", `UPDATE events
		SET data = iif(kind = ?, json_object('reason', data ->> 'reason'), '{}')
		WHERE kind NOT IN (SELECT value FROM json_each(?))`, kindRefused, sqlite.List(known))
}
