package runtime

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// Shown is what show --json prints: a session's row with its keys, injections, deliveries and delegations.
type Shown struct {
	Row
	Keys       []string         `json:"keys"` // Signet keys, the current one last
	Injections []shownInjection `json:"injections"`
	Deliveries []shownDelivery  `json:"deliveries"`
	Delegation *delegation.Row  `json:"delegation"`  // the one that it works for; null for none
	Delegated  []delegation.Row `json:"delegations"` // those that it asked for, oldest first
	Warnings   []string         `json:"warnings"`    // the daemon's

	Files []embedded.FileTouched `json:"files"`
	Told  []shownItem            `json:"told"` // what became of the items that were told
	Notes []embedded.Memory      `json:"notes"`
}

// A shownItem is what became of an item, as far as that can be seen.
type shownItem struct {
	Item string `json:"item"`
	Kind string `json:"kind"` // file, words or rule
	Was  string `json:"was"`  // used, no use seen, repeated
	Text string `json:"text,omitempty"`
}

const shownText = 200 // characters of an item

// shownInjection is one insertion.
type shownInjection struct {
	Kind    string    `json:"kind"`
	BlockID string    `json:"blockId"`
	Source  string    `json:"source"`
	Outcome string    `json:"outcome"`
	Key     string    `json:"signetSessionKey"`
	Bytes   int       `json:"bytes"`
	FetchMS int64     `json:"fetchMs"`
	HeldMS  int64     `json:"heldMs"`
	CutMS   int64     `json:"searchCutOffMs,omitempty"`
	Items   []string  `json:"items"` // ids of the memories inside
	At      time.Time `json:"at"`
	Text    string    `json:"text,omitempty"` // with --context
}

// shownDelivery is one delivery.
type shownDelivery struct {
	Kind     string     `json:"kind"`
	State    string     `json:"state"`
	Key      string     `json:"signetSessionKey"`
	Reason   string     `json:"reason"`
	Attempts int        `json:"attempts"`
	Turns    int        `json:"turns"`
	Owed     time.Time  `json:"owed"`
	Due      *time.Time `json:"due,omitempty"`  // open ones
	Done     *time.Time `json:"done,omitempty"` // the others
	Reply    string     `json:"reply,omitempty"`
	Error    string     `json:"error,omitempty"`
	Made     string     `json:"made,omitempty"` // what the daemon has made of it: of several parts, how many
}

// Show returns a session with all that belongs to it. inserted are its injections, oldest first; withText includes
// their texts.
func (d *Data) Show(ctx context.Context, s Listed, inserted []correlation.Injection, withText bool) (Shown, error) {
	keys, err := d.Sessions.Book().Keys(ctx, s.ID)
	if err != nil {
		return Shown{}, err
	}
	deliveries, err := d.Sessions.Book().DebtsOf(ctx, s.ID)
	if err != nil {
		return Shown{}, err
	}
	warnings, err := d.Sessions.Book().Warnings(ctx, s.ID)
	if err != nil {
		return Shown{}, err
	}
	asked, works, err := Ledger(d.Config, d.DB).Linked(ctx, s.ID)
	if err != nil {
		return Shown{}, err
	}
	shown := Shown{Row: s.Row(), Keys: []string{}, Injections: []shownInjection{}, Deliveries: []shownDelivery{},
		Delegated: []delegation.Row{}, Warnings: append([]string{}, warnings...)}
	if shown.Files, err = d.FilesOf(ctx, s); err != nil {
		return Shown{}, err
	}
	noted, err := d.Memories.NotesOf(ctx, []int64{s.ID})
	if err != nil {
		return Shown{}, err
	}
	shown.Notes = append([]embedded.Memory{}, noted[s.ID]...)
	if shown.Told, err = d.told(ctx, s.ID); err != nil {
		return Shown{}, err
	}
	for _, one := range asked {
		shown.Delegated = append(shown.Delegated, one.Row())
	}
	if n := len(works); n > 0 {
		row := works[n-1].Row()
		shown.Delegation = &row
	}
	shown.Keys = append(shown.Keys, keys...)
	for _, in := range inserted {
		one := shownInjection{
			Kind: in.Kind, BlockID: in.BlockID, Source: in.Source, Outcome: string(in.Outcome), Key: in.Key,
			Bytes: in.Bytes, FetchMS: in.FetchMS, HeldMS: in.HeldMS, CutMS: in.CutMS,
			Items: in.Items, At: in.At.UTC(),
		}
		if withText {
			one.Text = in.Text
		}
		shown.Injections = append(shown.Injections, one)
	}
	for _, v := range deliveries {
		at := v.Due.UTC()
		one := shownDelivery{Kind: v.Kind, State: string(v.State), Key: v.Key, Reason: v.Reason, Attempts: v.Attempts,
			Turns: v.Turns, Owed: v.Owed.UTC(), Due: &at, Reply: v.Reply, Error: v.Error, Made: made(v.Jobs)}
		if !v.Done.IsZero() {
			at = v.Done.UTC()
			one.Due, one.Done = nil, &at
		}
		shown.Deliveries = append(shown.Deliveries, one)
	}
	return shown, nil
}

// told returns what became of the items that a session was told.
func (d *Data) told(ctx context.Context, session int64) ([]shownItem, error) {
	uses, err := d.Sessions.Book().Uses(ctx, correlation.Scope{Sessions: []int64{session}})
	if err != nil {
		return nil, err
	}
	items := make([]string, len(uses))
	for i, u := range uses {
		items[i] = u.Item
	}
	texts, err := d.Memories.Beginnings(ctx, items, shownText)
	told := []shownItem{}
	for _, u := range uses {
		told = append(told, shownItem{u.Item, u.Kind, u.InWords(), chars.Title(texts[u.Item])})
	}
	return told, err
}

// FilesOf returns the files that a session touched, edited ones first.
func (d *Data) FilesOf(ctx context.Context, s Listed) ([]embedded.FileTouched, error) {
	files, err := d.Memories.FilesIn(ctx, []int64{s.ID})
	return append([]embedded.FileTouched{}, files[s.ID]...), err
}

// made says what has become of jobs, as in "pending" or "2 extracted, 1 dead".
func made(jobs []correlation.Job) string {
	var states []correlation.JobState
	n := map[correlation.JobState]int{}
	for _, j := range jobs {
		if n[j.State]++; n[j.State] == 1 {
			states = append(states, j.State)
		}
	}
	var each []string
	for _, state := range states {
		if len(jobs) == 1 {
			return string(state)
		}
		each = append(each, fmt.Sprint(n[state], " ", state))
	}
	return strings.Join(each, ", ")
}
