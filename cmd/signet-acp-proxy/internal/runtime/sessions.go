package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
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
}

// List returns sessions, the last active first, and how many more there are past the filter's limit.
func (d *Data) List(ctx context.Context, f SessionFilter) (found []Listed, more int, err error) {
	all, err := d.listed(ctx)
	if err != nil {
		return nil, 0, err
	}
	said := make([]map[int64]bool, len(f.Words))
	for i, word := range f.Words {
		if said[i], err = d.Sessions.Mentioning(ctx, word, false); err != nil {
			return nil, 0, err
		}
	}
	rows := map[int64]correlation.Session{}
	for _, s := range all {
		rows[s.ID] = s.Session
	}
	here := memory.Project(f.Here)
	for _, s := range all {
		if f.matches(s, here) && saidAll(s, conversation(rows, s.Session), f.Words, said) {
			found = append(found, s)
		}
	}
	if f.Limit > 0 && len(found) > f.Limit {
		found, more = found[:f.Limit], len(found)-f.Limit
	}
	return found, more, nil
}

// listed returns all sessions, the last active first.
func (d *Data) listed(ctx context.Context) ([]Listed, error) {
	all, err := d.Sessions.Sessions(ctx, 0)
	if err != nil {
		return nil, err
	}
	words, err := d.Sessions.FirstWords(ctx, correlation.Scope{})
	if err != nil {
		return nil, err
	}
	sums, err := telemetry.SessionSums(ctx, d.Sessions)
	if err != nil {
		return nil, err
	}
	windows, err := d.Sessions.Windows(ctx)
	if err != nil {
		return nil, err
	}
	handed, err := d.Sessions.Handoffs(ctx)
	if err != nil {
		return nil, err
	}
	ids := map[int64]string{}   // ACP ids, by row
	after := map[int64]string{} // the ACP id of the last session that continues a row
	keys := map[string]string{} // ACP ids, by Signet key
	for _, s := range all {
		ids[s.ID] = s.ACPID
		if s.Key != "" {
			keys[s.Key] = s.ACPID
		}
		for _, before := range []int64{s.ContinueOf, handed[s.ID]} {
			if after[before] == "" {
				after[before] = s.ACPID
			}
		}
	}
	short := shortIDs(all)
	found := make([]Listed, len(all))
	for i, s := range all {
		found[i] = Listed{Session: s, Title: chars.Title(cmp.Or(s.Title, words[s.ID])), Short: short[s.ID],
			Continues: ids[cmp.Or(handed[s.ID], s.ContinueOf)], ContinuedBy: after[s.ID],
			Parent: cmp.Or(keys[s.ParentKey], s.ParentKey)}
		if sum, window := sums[s.ID], windows[s.ID]; sum.Reported || window.Used != nil {
			found[i].Usage = &rowUsage{InputTokens: sum.InputTokens, OutputTokens: sum.OutputTokens, Cost: sum.Cost,
				Currency: sum.Currency, ContextUsed: window.Used, ContextSize: window.Size}
		}
	}
	return found, nil
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
	return Row{
		Schema: sessionSchema, ACPXSessionID: s.ACPID, ACPXRecordID: s.Record, SignetSessionKey: s.Key, Title: s.Title,
		Harness: s.Harness,
		Client:  s.Client, ClientVersion: s.ClientVersion, Agent: s.Agent, AgentVersion: s.AgentVersion,
		AgentID: s.AgentID, ParentSessionKey: s.ParentKey, Parent: s.Parent, Continues: s.Continues,
		ContinuedBy: s.ContinuedBy, Cwd: s.Cwd, Project: s.Project, State: string(s.State), Live: s.Live,
		Turns: s.Turns, Started: s.Started.UTC(), LastActive: s.LastActive.UTC(), Usage: s.Usage,
	}
}

// Resolve returns the session that a person names. Where there is none the error names the one that is most alike, and
// says where to look.
func (d *Data) Resolve(ctx context.Context, name string) (correlation.Session, error) {
	s, err := d.Sessions.Resolve(ctx, name)
	if !errors.Is(err, correlation.ErrNotFound) {
		return s, err
	}
	newest, _ := d.Sessions.Sessions(ctx, suggested)
	var ids []string
	for _, one := range newest {
		ids = append(ids, chars.Cut(one.ACPID, max(len(name), shortID)))
	}
	return s, fmt.Errorf("session %q %w%s (signet-acp-proxy sessions lists them)", name, correlation.ErrNotFound,
		config.DidYouMean(name, ids))
}

const (
	suggested = 200 // sessions that a misspelt one may mean, the newest
	shortID   = 8   // bytes of an id by which one is suggested
)

// Find is Resolve, with what the list of sessions has.
func (d *Data) Find(ctx context.Context, name string) (Listed, error) {
	s, err := d.Resolve(ctx, name)
	if err != nil {
		return Listed{}, err
	}
	all, err := d.listed(ctx)
	if i := slices.IndexFunc(all, func(one Listed) bool { return one.ID == s.ID }); i >= 0 {
		all[i].Session = s
		return all[i], nil
	}
	return Listed{Session: s}, err
}

// conversation lists a session and those that it continues, the newest first.
func conversation(rows map[int64]correlation.Session, s correlation.Session) []int64 {
	ids := []int64{s.ID}
	for s.ContinueOf != 0 && !slices.Contains(ids, s.ContinueOf) {
		ids = append(ids, s.ContinueOf)
		s = rows[s.ContinueOf]
	}
	return ids
}

func (f SessionFilter) matches(s Listed, project string) bool {
	if f.Here != "" && !(project != "" && s.Project == project || s.Project == "" && s.Cwd == f.Here) {
		return false
	}
	return (f.Harness == "" || isHarness(s.Harness, f.Harness)) && !s.LastActive.Before(f.Since)
}

// isHarness reports whether a harness, by its own name or the one that it was started as, is the one that a person
// names.
func isHarness(harness, name string) bool {
	return strings.EqualFold(harness, name) || config.Canonical(harness) == config.Canonical(name)
}

// saidAll reports whether each word was said in the conversation, or stands in the session's title or folder.
func saidAll(s Listed, chain []int64, words []string, said []map[int64]bool) bool {
	about := strings.ToLower(s.Title + " " + s.Cwd)
	for i, word := range words {
		if !slices.ContainsFunc(chain, func(id int64) bool { return said[i][id] }) &&
			!strings.Contains(about, strings.ToLower(word)) {
			return false
		}
	}
	return true
}

// shortIDs returns each session's id as short as Resolve still understands it.
func shortIDs(all []correlation.Session) map[int64]string {
	var names []named
	for _, s := range all {
		for _, name := range []string{s.ACPID, s.Key, s.Record} {
			if name != "" {
				names = append(names, named{s.ID, name})
			}
		}
	}
	begins := beginnings(names)
	short := map[int64]string{}
	for _, s := range all {
		short[s.ID] = begins[named{s.ID, s.ACPID}]
	}
	return short
}

// A named is one of the names of a thing.
type named struct {
	Thing int64
	Name  string
}

// minID is the shortest abbreviation of an id, in characters.
const minID = 8

// beginnings returns for each name its shortest beginning, of at least minID characters, that no name of another
// thing has.
func beginnings(names []named) map[named]string {
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b named) int { return strings.Compare(a.Name, b.Name) })
	found := make(map[named]string, len(names))
	for i, one := range names {
		need := minID
		for _, step := range []int{-1, 1} { // the nearest name of another thing, on both sides
			j := i + step
			for 0 <= j && j < len(names) && names[j].Thing == one.Thing {
				j += step
			}
			if 0 <= j && j < len(names) {
				need = max(need, common(names[j].Name, one.Name)+1)
			}
		}
		runes := []rune(one.Name)
		found[one] = string(runes[:min(need, len(runes))])
	}
	return found
}

// common returns the length in characters of the common beginning of two texts.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return utf8.RuneCountInString(a[:n])
}

// HomeShort abbreviates the home folder in a path to ~.
func HomeShort(path string) string {
	home, err := memory.Home()
	rest, below := strings.CutPrefix(path, home)
	if err != nil || home == "" || !below || rest != "" && rest[0] != filepath.Separator {
		return path
	}
	return "~" + rest
}

// LearnedFrom counts what was learned from the sessions that a pruning would remove.
func (d *Data) LearnedFrom(ctx context.Context, o correlation.PruneOptions) (embedded.Learned, error) {
	o.DryRun = true
	p, err := d.Sessions.Prune(ctx, o)
	if err != nil {
		return embedded.Learned{}, err
	}
	ids := make([]int64, len(p.Sessions))
	for i, s := range p.Sessions {
		ids[i] = s.ID
	}
	return d.Memories.LearnedFrom(ctx, ids)
}
