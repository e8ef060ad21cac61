package embedded

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/stated"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Did it help? What a block told is used if the agent then touched the file, or repeated words that it cannot have from
// the user. It may be used without a trace, and repeated by chance.

const (
	usesOfTurn  = 60       // items of one session that are looked at
	readForUse  = 64 << 10 // bytes of an answer
	tellingTerm = 8        // bytes of a single word that cannot be there by chance
)

// usesOf says what became, in one turn, of all that its session was told: the turn touched files, and said notes.
func (s *Store) usesOf(ctx context.Context, t correlation.Said, files []rank.Touch,
	notes []stated.Statement) ([]correlation.Use, error) {
	var uses []correlation.Use
	var repeated language.Set
	for _, item := range t.Items[:min(len(t.Items), usesOfTurn)] {
		u := correlation.Use{Session: t.Session, Item: item, Kind: correlation.UseWords, At: sqlite.Unstamp(t.Started)}
		path, isFile := memory.FileOf(item)
		if isFile {
			u.Kind = correlation.UseFile
			if slices.ContainsFunc(files, func(f rank.Touch) bool { return f.Path == path }) {
				u.State = correlation.Used
			}
			uses = append(uses, u)
			continue
		}
		m, err := Memory{Content: item}, error(nil) // named by its text
		if !strings.Contains(item, " ") {
			m, err = memoryOf(ctx, s.db, item)
		}
		if errors.Is(err, ErrNotFound) { // it is gone, or the daemon's
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.isRule() {
			u.Kind = correlation.UseRule
			terms := language.Terms(m.Content)
			if slices.ContainsFunc(notes, func(n stated.Statement) bool {
				return stated.Same(terms, language.Terms(n.Text))
			}) {
				u.State = correlation.SaidAgain
			}
			uses = append(uses, u)
			continue
		}
		if repeated == nil {
			if repeated, err = s.ownTerms(ctx, t); err != nil {
				return nil, err
			}
		}
		if tells(repeated, m.Content) {
			u.State = correlation.Used
		}
		uses = append(uses, u)
	}
	return uses, nil
}

func (m Memory) isRule() bool {
	return slices.Contains([]string{"rule", "preference"}, m.Type) && (m.Who == memory.Typed || m.Who == memory.Pin)
}

// ownTerms returns the terms of an agent's answer and tool calls but those that its user had said.
func (s *Store) ownTerms(ctx context.Context, t correlation.Said) (language.Set, error) {
	user, err := correlation.UserWords(ctx, s.db, t.Session, t.Turn)
	if err != nil {
		return nil, err
	}
	text := chars.Cut(t.Assistant, readForUse)
	for _, tool := range t.Tools {
		text += "\n" + tool.Title + "\n" + strings.Join(tool.Locations, "\n")
	}
	own := language.SetOf(language.Terms(text))
	for _, term := range language.Terms(user) {
		delete(own, term)
	}
	return own, nil
}

// tells reports whether an agent's terms have enough of a text's: a long identifier, two short ones or numbers, one
// with a name, or three names, for many words begin with a capital letter.
func tells(own language.Set, text string) bool {
	met := 0
	for _, t := range language.Ask(text).Terms {
		if !t.Identifier && !t.Name || t.Part || t.Common || !own[t.Forms[0]] {
			continue
		}
		met++
		if t.Identifier {
			met++
		}
		if met > 2 || t.Identifier && len(t.Forms[0]) >= tellingTerm {
			return true
		}
	}
	return false
}

// What an item's record changes: the number by which its score is multiplied.
const (
	enoughTold = 5 // times that an item is told before it counts that it was never used
	unused     = .75
	useful     = 1.02 // first among equals
)

// worth is that number.
func worth(r correlation.Record) float64 {
	switch {
	case r.Used > 0:
		return useful
	case r.Told >= enoughTold:
		return unused
	}
	return 1
}

// preferUsed ranks passages once more by what became of them when they were told.
func (s *Store) preferUsed(ctx context.Context, ranked []*rank.Passage) error {
	uids, err := sqlite.Pairs[int64, string](ctx, s.db, `SELECT p.id, coalesce(m.uid, p.uid)
		FROM json_each(?) j CROSS JOIN passages p ON p.id = j.value LEFT JOIN memories m ON m.id = p.memory
		WHERE EXISTS (SELECT 1 FROM uses WHERE item = coalesce(m.uid, p.uid))`,
		sqlite.List(idsOf(ranked[:min(len(ranked), seeds)])))
	if err != nil || len(uids) == 0 {
		return err
	}
	records, err := correlation.Records(ctx, s.db, "", slices.Collect(maps.Values(uids)))
	worths := map[int64]float64{}
	for id, uid := range uids {
		worths[id] = worth(records[uid])
	}
	rank.Prefer(ranked, worths)
	return err
}
