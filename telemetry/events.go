package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// An Event is something that happened in a session (docs/events.md). Its JSON is one object: at, kind, turn and the
// fields of the kind.
type Event struct {
	At   time.Time                  `json:"at"`
	Kind string                     `json:"kind"`
	Turn int                        `json:"turn,omitempty"` // in the conversation, from 1 on; 0: of none
	Data map[string]json.RawMessage `json:"-"`
}

// MarshalJSON puts the fields of the kind beside the others.
func (e Event) MarshalJSON() ([]byte, error) {
	type head Event
	begin, err := marshal(head(e))
	if err != nil || len(e.Data) == 0 {
		return begin, err
	}
	fields, err := marshal(e.Data)
	if err != nil {
		return nil, err
	}
	return append(append(begin[:len(begin)-1], ','), fields[1:]...), nil
}

// marshal is json.Marshal, but leaves < and > as they are, for people who read it.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// An EventReader reads what happened in a session and in those that it continues.
type EventReader struct {
	store   correlation.Book
	session int64
	after   int64
	turns   map[int64]int // numbers in the conversation, by row
}

// NewEventReader reads from the beginning.
func NewEventReader(store correlation.Book, session int64) *EventReader {
	return &EventReader{store: store, session: session, turns: map[int64]int{}}
}

// Next returns the events since the last call, oldest first.
func (r *EventReader) Next(ctx context.Context) ([]Event, error) {
	rows, err := r.store.Events(ctx, r.session, r.after, 0)
	if err != nil {
		return nil, err
	}
	all := make([]Event, 0, len(rows))
	for _, row := range rows {
		r.after = max(r.after, row.ID)
		e := Event{At: row.At.UTC(), Kind: row.Kind}
		if err := json.Unmarshal(row.Data, &e.Data); err != nil {
			return nil, fmt.Errorf("reading event %d: %w", row.ID, err)
		}
		for _, ours := range []string{"at", "kind", "session", "turn"} { // the process's own numbers
			delete(e.Data, ours)
		}
		if row.Turn != 0 {
			if r.turns[row.Turn] == 0 {
				r.turns[row.Turn] = len(r.turns) + 1
			}
			e.Turn = r.turns[row.Turn]
		}
		all = append(all, e)
	}
	return all, nil
}
