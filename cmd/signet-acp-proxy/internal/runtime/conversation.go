package runtime

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Roles of entries.
const (
	User      = "user"
	Assistant = "assistant"
	Tool      = "tool"
	Context   = "context" // inserted by us
)

// An Entry is a piece of a conversation. The names of its fields are a promise to scripts.
type Entry struct {
	Role string    `json:"role"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
	Turn int       `json:"turn"` // from 1 on

	*AskedFields
	*ToolFields
	*ContextFields
	*EndFields
}

// AskedFields are the fields of a prompt that an agent said, not the user.
type AskedFields struct {
	Delegation string `json:"delegation"`
	By         string `json:"by"` // the agent
}

// ToolFields are the fields of a tool's entry, whose text is its title.
type ToolFields struct {
	Kind      string   `json:"kind"`
	Status    string   `json:"status"`
	Locations []string `json:"locations"` // paths
}

// ContextFields are the fields of a context that we inserted.
type ContextFields struct {
	BlockID string `json:"blockId"`
	Source  string `json:"source"`
	Outcome string `json:"outcome"`
}

// EndFields are the fields of an answer.
type EndFields struct {
	Stop      string `json:"stop"`                // why the turn ended; "" if it goes on, died, or failed
	Code      int    `json:"code,omitempty"`      // of the error that it failed with
	Ended     bool   `json:"ended"`               // false: the turn is under way
	Truncated bool   `json:"truncated,omitempty"` // it was longer than what is kept
}

// asked says which agent a prompt in a delegation is of; nil for a person's.
func (d *Data) asked(ctx context.Context, id string) *AskedFields {
	if id == "" {
		return nil
	}
	one, err := Ledger(d.Config, d.DB).Get(ctx, id)
	switch {
	case err != nil: // it is gone
		return &AskedFields{id, "another agent"}
	case one.By() == "":
		return nil
	}
	return &AskedFields{id, one.By()}
}

// Conversation returns what was said in a session and in those that it continues, in order.
func (d *Data) Conversation(ctx context.Context, session int64) ([]Entry, error) {
	turns, err := d.Sessions.Book().Turns(ctx, session)
	if err != nil {
		return nil, err
	}
	inserted, err := d.Sessions.Injections(ctx, session)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(inserted, func(a, b correlation.Injection) int {
		return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli())
	})
	all := []Entry{}
	for i, t := range turns {
		n := i + 1
		last := n == len(turns)
		for len(inserted) > 0 && (last || t.Ended.IsZero() || !inserted[0].At.After(t.Ended)) {
			all = append(all, contextEntry(inserted[0], n))
			inserted = inserted[1:]
		}
		all = append(all, Entry{Role: User, Text: t.User, At: t.Started.UTC(), Turn: n,
			AskedFields: d.asked(ctx, t.Delegation)})
		for _, tool := range t.Tools {
			all = append(all, Entry{Role: Tool, Text: tool.Title, At: t.Started.UTC(), Turn: n,
				ToolFields: &ToolFields{tool.Kind, tool.Status, append([]string{}, tool.Locations...)}})
		}
		if t.Assistant != "" || !t.Ended.IsZero() {
			at := t.Ended
			if at.IsZero() {
				at = t.Started
			}
			end := &EndFields{t.Stop, t.Code, !t.Ended.IsZero(), t.Truncated}
			all = append(all, Entry{Role: Assistant, Text: t.Assistant, At: at.UTC(), Turn: n, EndFields: end})
		}
	}
	for _, in := range inserted { // into a session in which nothing was said
		all = append(all, contextEntry(in, 1))
	}
	return all, nil
}

func contextEntry(in correlation.Injection, turn int) Entry {
	return Entry{Role: Context, Text: in.Text, At: in.At.UTC(), Turn: turn,
		ContextFields: &ContextFields{in.BlockID, in.Source, string(in.Outcome)}}
}
