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
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
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
	Usage       *RowUsage
}

// List returns sessions, the last active first, and how many more there are past the filter's limit.
func (d *Data) List(ctx context.Context, f SessionFilter) (found []Listed, more int, err error) {
	all, err := d.Sessions.Sessions(ctx, 0)
	if err != nil {
		return nil, 0, err
	}
	words, err := d.Sessions.FirstWords(ctx, correlation.Scope{})
	if err != nil {
		return nil, 0, err
	}
	sums, err := telemetry.SessionSums(ctx, d.Sessions)
	if err != nil {
		return nil, 0, err
	}
	windows, err := d.Sessions.Windows(ctx)
	if err != nil {
		return nil, 0, err
	}
	handed, err := d.Sessions.Handoffs(ctx)
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
	after := map[int64]string{}
	keys := map[string]string{}
	for _, s := range all {
		rows[s.ID], keys[s.Key] = s, s.ACPID
		for _, before := range []int64{s.ContinueOf, handed[s.ID]} {
			if before != 0 && after[before] == "" { // the last one counts
				after[before] = s.ACPID
			}
		}
	}
	short := shortIDs(all)
	here := memory.Project(f.Here)
	for _, s := range all {
		before := cmp.Or(handed[s.ID], s.ContinueOf)
		one := Listed{Session: s, Short: short[s.ID], Continues: rows[before].ACPID, ContinuedBy: after[s.ID],
			Parent: s.ParentKey}
		if id, known := keys[s.ParentKey]; known && s.ParentKey != "" {
			one.Parent = id
		}
		sum, window := sums[s.ID], windows[s.ID]
		if sum.Reported || window.Used != nil {
			one.Usage = &RowUsage{InputTokens: sum.InputTokens, OutputTokens: sum.OutputTokens, Cost: sum.Cost,
				Currency: sum.Currency, ContextUsed: window.Used, ContextSize: window.Size}
		}
		one.Title = title(cmp.Or(s.Title, words[s.ID]))
		if f.matches(one, here) && saidAll(one, conversation(rows, s), f.Words, said) {
			found = append(found, one)
		}
	}
	if f.Limit > 0 && len(found) > f.Limit {
		found, more = found[:f.Limit], len(found)-f.Limit
	}
	return found, more, nil
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
	all, _, err := d.List(ctx, SessionFilter{})
	if err != nil {
		return Listed{}, err
	}
	if i := slices.IndexFunc(all, func(one Listed) bool { return one.ID == s.ID }); i >= 0 {
		all[i].Session = s
		return all[i], nil
	}
	return Listed{Session: s}, nil
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
	if strings.EqualFold(harness, name) {
		return true
	}
	p, known := upstream.ByAgent(harness)
	return known && p.Name == config.Canonical(name)
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

// titleWidth is the length of a title in characters.
const titleWidth = 80

// title returns the first words of a text, on one line.
func title(text string) string {
	text = strings.Join(strings.Fields(term.Printable(text)), " ")
	if utf8.RuneCountInString(text) <= titleWidth {
		return text
	}
	return string([]rune(text)[:titleWidth-1]) + "…"
}

// shortIDs returns each session's id as short as Resolve still understands it.
func shortIDs(all []correlation.Session) map[int64]string {
	var names []Named
	for _, s := range all {
		for _, name := range []string{s.ACPID, s.Key, s.Record} {
			if name != "" {
				names = append(names, Named{s.ID, name})
			}
		}
	}
	begins := Beginnings(names)
	short := map[int64]string{}
	for _, s := range all {
		short[s.ID] = begins[Named{s.ID, s.ACPID}]
	}
	return short
}

// A Named is one of the names of a thing.
type Named struct {
	Thing int64
	Name  string
}

// leastID is the shortest abbreviation of an id, in characters.
const leastID = 8

// Beginnings returns for each name its shortest beginning, of at least leastID characters, that no name of another
// thing has.
func Beginnings(names []Named) map[Named]string {
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b Named) int { return strings.Compare(a.Name, b.Name) })
	found := make(map[Named]string, len(names))
	for i, one := range names {
		need := leastID
		for j := i - 1; j >= 0; j-- {
			if names[j].Thing != one.Thing {
				need = max(need, common(names[j].Name, one.Name)+1)
				break
			}
		}
		for j := i + 1; j < len(names); j++ {
			if names[j].Thing != one.Thing {
				need = max(need, common(names[j].Name, one.Name)+1)
				break
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
	if err != nil || home == "" {
		return path
	}
	if path == home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
		return filepath.Join("~", rest)
	}
	return path
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
