package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// A SessionFilter says which sessions to list; the zero value lists all.
type SessionFilter struct {
	Here    string // a folder: only sessions of its project or, where it has none, of the folder itself
	Harness string
	Since   time.Time // only those last active then or later
	Words   []string  // only those where each was said, or is in the title or folder
	Limit   int       // at most so many, the newest; 0: all
}

// A Listed session is a session with what people recognise it by.
type Listed struct {
	correlation.Session
	Title       string // what its harness calls it, else its first words
	Short       string // the beginning of its id that no other session has
	Continues   string // the ACP id of the session that it continues
	ContinuedBy string // and of the last one that continues it
	Parent      string // the ACP id of the session that it works for, or that session's key
	Usage       *rowUsage
	Jobs        []correlation.Job
}

// List returns sessions, the last active first, and how many more there are past the filter's limit.
func (d *Data) List(ctx context.Context, f SessionFilter) (found []Listed, more int, err error) {
	ids, err := d.matching(ctx, f)
	if err != nil {
		return nil, 0, err
	}
	if f.Limit > 0 && len(ids) > f.Limit {
		ids, more = ids[:f.Limit], len(ids)-f.Limit
	}
	found, err = d.Listed(ctx, ids)
	return found, more, err
}

// matching returns the rows of the sessions that a filter lets pass, the last active first.
func (d *Data) matching(ctx context.Context, f SessionFilter) ([]int64, error) {
	l := correlation.Listing{Since: f.Since}
	if f.Here != "" {
		project := memory.Project(f.Here)
		if l.Project = &project; project == "" {
			l.Cwd = f.Here
		}
	}
	if f.Harness != "" {
		kinds, err := d.Sessions.Book().Kinds(ctx)
		if err != nil {
			return nil, err
		}
		l.Harnesses = []string{}
		for _, k := range kinds {
			if isHarness(k.Harness, f.Harness) {
				l.Harnesses = append(l.Harnesses, k.Harness)
			}
		}
	}
	ids, err := d.Sessions.Book().List(ctx, l)
	if err != nil || len(f.Words) == 0 {
		return ids, err
	}
	said := make([]map[int64]bool, len(f.Words))
	for i, word := range f.Words {
		if said[i], err = d.Sessions.Book().Mentioning(ctx, word, false); err != nil {
			return nil, err
		}
	}
	all, err := d.Sessions.Book().SessionsIn(ctx, correlation.Scope{})
	if err != nil {
		return nil, err
	}
	rows := map[int64]correlation.Session{}
	for _, s := range all {
		rows[s.ID] = s
	}
	return slices.DeleteFunc(ids, func(id int64) bool {
		return !saidAll(rows, rows[id], f.Words, said)
	}), nil
}

// Listed returns sessions with what people recognise them by, in the order of their rows' ids.
func (d *Data) Listed(ctx context.Context, ids []int64) ([]Listed, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	in := correlation.Scope{Sessions: ids}
	all, err := d.Sessions.Book().ConversationsIn(ctx, in)
	if err != nil {
		return nil, err
	}
	words, err := d.Sessions.Book().FirstWords(ctx, in)
	if err != nil {
		return nil, err
	}
	sums, err := telemetry.SessionSums(ctx, d.Sessions.Book(), in)
	if err != nil {
		return nil, err
	}
	windows, err := d.Sessions.Book().Windows(ctx, in)
	if err != nil {
		return nil, err
	}
	jobs, err := d.Sessions.Book().JobsIn(ctx, in)
	if err != nil {
		return nil, err
	}
	found := make([]Listed, len(all))
	for i, s := range all {
		found[i] = Listed{Session: s, Title: chars.Title(cmp.Or(s.Title, words[s.ID])), Jobs: jobs[s.ID]}
		beside, err := d.Sessions.Book().Neighbours(ctx, s.ACPID)
		if err != nil {
			return nil, err
		}
		found[i].Short = beginning(s.ACPID, beside)
		if sum, window := sums[s.ID], windows[s.ID]; sum.Reported || window.ContextUsed != nil {
			found[i].Usage = &rowUsage{InputTokens: sum.InputTokens, OutputTokens: sum.OutputTokens, Cost: sum.Cost,
				Currency: sum.Currency, ContextUsed: window.ContextUsed, ContextSize: window.ContextSize}
		}
	}
	at := make(map[int64]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	slices.SortFunc(found, func(a, b Listed) int { return cmp.Compare(at[a.ID], at[b.ID]) })
	return found, d.relate(ctx, found)
}

// relate says of sessions what they are to others: which they continue, which continue them, for which they work.
func (d *Data) relate(ctx context.Context, all []Listed) error {
	book := d.Sessions.Book()
	handed, err := book.Handoffs(ctx) // by a session the one that was handed to it
	if err != nil {
		return err
	}
	var rows, others []int64
	var parents []string
	for _, s := range all {
		rows, others = append(rows, s.ID), append(others, cmp.Or(handed[s.ID], s.ContinueOf))
		parents = append(parents, s.ParentKey)
	}
	keys, err := book.SessionsByKey(ctx, parents)
	if err != nil {
		return err
	}
	after, err := book.Continuing(ctx, rows)
	if err != nil {
		return err
	}
	others = slices.AppendSeq(slices.AppendSeq(others, maps.Values(keys)), maps.Keys(handed))
	names, err := book.Names(ctx, correlation.Scope{Sessions: others})
	ids := map[int64]string{}
	for _, n := range names {
		ids[n.ID] = n.ACPID
	}
	for to, from := range handed {
		after[from] = cmp.Or(after[from], ids[to])
	}
	for i := range all {
		s := &all[i]
		s.Continues, s.ContinuedBy = ids[cmp.Or(handed[s.ID], s.ContinueOf)], after[s.ID]
		s.Parent = cmp.Or(ids[keys[s.ParentKey]], s.ParentKey)
	}
	return err
}

// sessionSchema is the version of Row. Fields may be added without a new one, but not changed or removed.
const sessionSchema = "signet-acp.session.v1"

// A Row is a session as scripts and extraction hooks read it.
type Row struct {
	Schema           string `json:"schema"`
	ACPXSessionID    string `json:"acpxSessionId"` // the agent's session id
	ACPXRecordID     string `json:"acpxRecordId"`  // "" when acpx did not open it
	SignetSessionKey string `json:"signetSessionKey"`
	Title            string `json:"title"` // the harness's title for it, else its first words
	Harness          string `json:"harness"`
	Client           string `json:"client"`
	ClientVersion    string `json:"clientVersion"`
	Agent            string `json:"agent"`
	AgentVersion     string `json:"agentVersion"`
	AgentID          string `json:"agentId"` // Signet's
	ParentSessionKey string `json:"parentSessionKey"`
	// Parent is the agent's id of the session that it works for, or that session's key.
	Parent      string    `json:"parent"`
	Continues   string    `json:"continues"`   // the agent's id of the session that it continues
	ContinuedBy string    `json:"continuedBy"` // and of the last one that continues it
	Cwd         string    `json:"cwd"`
	Project     string    `json:"project"`
	State       string    `json:"state"`
	Live        bool      `json:"live"`
	Turns       int       `json:"turns"`
	Started     time.Time `json:"started"`
	LastActive  time.Time `json:"lastActive"`
	Usage       *rowUsage `json:"usage"` // null: nobody reported any
	// Parts are what the daemon has taken, and what it makes of each.
	Parts []rowPart `json:"parts"`
}

// rowPart is a part of a session that the daemon has taken.
type rowPart struct {
	Key   string `json:"signetSessionKey"` // that it was posted under
	Job   string `json:"job"`              // the daemon's id; "": it named none
	Turns int    `json:"turns"`
	State string `json:"state"` // pending, extracted, dead, empty or unknown
}

// rowUsage is what was used in a session, as `usage --by session` sums it up; null is not reported.
type rowUsage struct {
	InputTokens  *int64   `json:"inputTokens"`
	OutputTokens *int64   `json:"outputTokens"`
	Cost         *float64 `json:"cost"`
	Currency     *string  `json:"currency"`
	ContextUsed  *int64   `json:"contextUsed"` // of the model's window, in tokens, as last reported
	ContextSize  *int64   `json:"contextSize"`
}

// Row is the session as scripts read it.
func (s Listed) Row() Row {
	parts := []rowPart{}
	for _, j := range s.Jobs {
		parts = append(parts, rowPart{j.Key, j.ID, len(j.Turns), string(j.State)})
	}
	return Row{
		Schema: sessionSchema, ACPXSessionID: s.ACPID, ACPXRecordID: s.Record, SignetSessionKey: s.Key, Title: s.Title,
		Harness: s.Harness,
		Client:  s.Client, ClientVersion: s.ClientVersion, Agent: s.Agent, AgentVersion: s.AgentVersion,
		AgentID: s.AgentID, ParentSessionKey: s.ParentKey, Parent: s.Parent, Continues: s.Continues,
		ContinuedBy: s.ContinuedBy, Cwd: s.Cwd, Project: s.Project, State: string(s.State), Live: s.Live,
		Turns: s.Turns, Started: s.Started.UTC(), LastActive: s.LastActive.UTC(), Usage: s.Usage,
		Parts: parts,
	}
}

// Resolve returns the session that a person names. Where there is none the error names the one that is most alike, and
// says where to look.
func (d *Data) Resolve(ctx context.Context, name string) (correlation.Session, error) {
	s, err := d.Sessions.Book().Resolve(ctx, name)
	if !errors.Is(err, correlation.ErrNotFound) {
		return s, err
	}
	newest, _ := d.Sessions.Book().Sessions(ctx, suggested)
	var ids []string
	for _, one := range newest {
		ids = append(ids, chars.Cut(one.ACPID, max(len(name), suggestedID)))
	}
	return s, fmt.Errorf("session %q %w%s (signet-acp-proxy sessions lists them)", name, correlation.ErrNotFound,
		config.DidYouMean(name, ids))
}

// Memory returns the memory or passage that a person names by its id or the beginning of it. Where there is none, or
// more than one, the error says what to type.
func (d *Data) Memory(ctx context.Context, name string) (embedded.Memory, error) {
	m, err := d.Memories.Get(ctx, name)
	switch {
	case errors.Is(err, embedded.ErrNotFound):
		err = fmt.Errorf("memory %q not found (signet-acp-proxy memory list shows ids)", name)
	case errors.Is(err, embedded.ErrAmbiguous):
		err = fmt.Errorf("%s %w; type more of the id", name, embedded.ErrAmbiguous)
	}
	return m, err
}

const (
	suggested   = 200 // sessions that a misspelt one may mean, the newest
	suggestedID = 8   // bytes of an id by which one is suggested
)

// Find is Resolve, with what the list of sessions has.
func (d *Data) Find(ctx context.Context, name string) (Listed, error) {
	s, err := d.Resolve(ctx, name)
	if err != nil {
		return Listed{}, err
	}
	all, err := d.Listed(ctx, []int64{s.ID})
	if len(all) == 0 {
		return Listed{Session: s}, err
	}
	return all[0], err
}

// isHarness reports whether a harness, by its own name or the one that it was started as, is the one that a person
// names.
func isHarness(harness, name string) bool {
	return strings.EqualFold(harness, name) || config.Canonical(harness) == config.Canonical(name)
}

// HarnessName is the name that people type for a harness, by its own name; that itself where it is not known.
func HarnessName(harness string) string { return cmp.Or(knownHarness(harness), harness) }

// knownHarness is HarnessName, but "" for one that is not known.
func knownHarness(harness string) string {
	p, _ := upstream.Lookup(harness)
	return p.Name
}

// saidAll reports whether each word was said in a session or those that it continues, or stands in its title or folder.
func saidAll(
	rows map[int64]correlation.Session, s correlation.Session, words []string, said []map[int64]bool,
) bool {
	chain := []int64{s.ID}
	for before := s.ContinueOf; before != 0 && !slices.Contains(chain, before); before = rows[before].ContinueOf {
		chain = append(chain, before)
	}
	about := strings.ToLower(s.Title + " " + s.Cwd)
	for i, word := range words {
		if !slices.ContainsFunc(chain, func(id int64) bool { return said[i][id] }) &&
			!strings.Contains(about, strings.ToLower(word)) {
			return false
		}
	}
	return true
}

// minID is the shortest abbreviation of an id, in characters.
const minID = 8

// beginning returns the shortest beginning of a name, of at least minID characters, that none of its neighbours has, so
// that Resolve still understands it.
func beginning(name string, neighbours []string) string {
	runes := []rune(name)
	need := min(minID, len(runes))
	for _, other := range neighbours {
		for need < len(runes) && strings.HasPrefix(other, string(runes[:need])) {
			need++
		}
	}
	return string(runes[:need])
}
