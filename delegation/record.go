package delegation

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Record is how an agent's delegations of one kind of work went.
type Record struct {
	Kind  string  `json:"kind"`
	Count int     `json:"count"`
	Done  int     `json:"done"`
	Score float64 `json:"score"` // -1 to 1; a hint, no more
}

// halfLife is how old a result is when it counts half.
const halfLife = 90 * 24 * time.Hour

// records sums up an agent's past, the newest first: a verdict counts as it was given, a result without one by what its
// caller did with it, a failure of the agent's as bad; what others ended says nothing.
func records(agent string, past []Delegation, used map[string]bool, now time.Time) []Record {
	all := []Record{}
	weights := map[string]float64{}
	for at, d := range past {
		if d.Agent != agent || !d.State.Ended() || d.State == Cancelled || d.State == Lost {
			continue
		}
		i := slices.IndexFunc(all, func(r Record) bool { return r.Kind == d.Kind })
		if i < 0 {
			i = len(all)
			all = append(all, Record{Kind: d.Kind})
		}
		score := -1.0
		switch {
		case d.Verdict != nil:
			score = *d.Verdict
		case d.State == Done:
			score = worth(d, past[:at], used)
		}
		w := math.Exp2(-float64(now.Sub(d.Ended)) / float64(halfLife))
		all[i].Count++
		if d.State == Done {
			all[i].Done++
		}
		all[i].Score += w * score
		weights[d.Kind] += w
	}
	for i := range all {
		// as if one more had gone neither well nor badly: one result is no record
		all[i].Score = math.Round(all[i].Score/(weights[all[i].Kind]+1)*100) / 100
	}
	slices.SortFunc(all, func(a, b Record) int { return strings.Compare(a.Kind, b.Kind) })
	return all
}

// What a result without a verdict counts.
const (
	scoreUnknown = 0.5
	scoreSaid    = 0.7 // its caller went on to say it
	scoreUnsaid  = 0.3 // its caller spoke of something else
	scoreRedone  = -0.5
)

// worth is what a result counts that nobody gave a verdict on; after are the delegations since.
func worth(d Delegation, after []Delegation, used map[string]bool) float64 {
	again := func(other Delegation) bool {
		return d.Key != "" && other.Key == d.Key && other.Agent != d.Agent &&
			strings.EqualFold(strings.TrimSpace(other.Scope), strings.TrimSpace(d.Scope))
	}
	if slices.ContainsFunc(after, again) {
		return scoreRedone
	}
	switch said, known := used[d.ID]; {
	case !known:
		return scoreUnknown
	case said:
		return scoreSaid
	}
	return scoreUnsaid
}

const (
	lastUsed  = 50      // results that are looked at
	enoughOf  = 5       // words of an answer; half of them are enough, too
	wordsRead = 4 << 10 // bytes of a text
)

// used says of results whether the turn that asked goes on to say them: five of the answer's content words that were
// not in the task, or half of them. It looks at words and at nothing else.
func (l *Ledger) used(ctx context.Context) (map[string]bool, error) {
	found := map[string]bool{}
	_, err := sqlite.Collect(ctx, l.db, func(row sqlite.Row) (none struct{}, err error) {
		var id, task, answer, said string
		if err := row.Scan(&id, &task, &answer, &said); err != nil {
			return none, err
		}
		words := language.Content(task, answer, said)
		all, hits := map[string]bool{}, 0
		for _, w := range words[1] {
			if all[w] || slices.Contains(words[0], w) {
				continue
			}
			all[w] = true
			if slices.Contains(words[2], w) {
				hits++
			}
		}
		if len(all) > 0 {
			found[id] = hits >= enoughOf || 2*hits >= len(all)
		}
		return none, nil
	}, `SELECT d.id, d.task, substr(d.answer, 1, ?1), substr(t.assistant, 1, ?1) FROM delegations d
		JOIN turns t ON t.id = d.turn WHERE d.state = ?2 AND d.verdict IS NULL AND t.ended > 0 AND t.assistant <> ''
		ORDER BY d.id DESC LIMIT ?3`, wordsRead, Done, lastUsed)
	return found, sqlite.While("reading what became of results", err)
}
