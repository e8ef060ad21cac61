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

// A Record says how an agent's delegations of one kind of work went.
type Record struct {
	Kind  string  `json:"kind"`
	Count int     `json:"count"`
	Done  int     `json:"done"`
	Score float64 `json:"score"` // -1 to 1; a hint, no more
}

// halfLife is the age at which a result counts half.
const halfLife = 90 * 24 * time.Hour

// recordsOf sums up an agent's past, which is given newest first. A verdict counts as it was given, a result without
// one by what its caller did with it (impliedScore), a failure of the agent as -1. Delegations that somebody else ended
// do not count.
func recordsOf(agent string, past []Delegation, used map[string]bool, now time.Time) []Record {
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
			score = impliedScore(d, past[:at], used)
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
		// as if one more delegation had gone neither well nor badly, so that a single result does not decide
		all[i].Score = math.Round(all[i].Score/(weights[all[i].Kind]+1)*100) / 100
	}
	slices.SortFunc(all, func(a, b Record) int { return strings.Compare(a.Kind, b.Kind) })
	return all
}

// Scores of a result without a verdict, from -1 to 1.
const (
	scoreUnknown = 0.5
	scoreUsed    = 0.7  // its caller's answer says it
	scoreUnused  = 0.3  // its caller's answer does not
	scoreRedone  = -0.5 // its caller gave the same work to another agent
)

// impliedScore is the score of a result without a verdict; after are the delegations since.
func impliedScore(d Delegation, after []Delegation, used map[string]bool) float64 {
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
		return scoreUsed
	}
	return scoreUnused
}

const (
	lastUsed    = 50      // results that are checked, the newest
	wordsNeeded = 5       // different words of a result that its caller must use, or half of all
	wordsRead   = 4 << 10 // bytes of a text that are compared
)

// usedResults says of results whether the rest of the turn that asked for them uses them: whether it has enough of
// their content words that were not in the task.
func (l *Ledger) usedResults(ctx context.Context) (map[string]bool, error) {
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
			found[id] = hits >= wordsNeeded || 2*hits >= len(all)
		}
		return none, nil
	}, `SELECT d.id, d.task, substr(d.answer, 1, ?1), substr(t.assistant, 1, ?1) FROM delegations d
		JOIN turns t ON t.id = d.turn WHERE d.state = ?2 AND d.verdict IS NULL AND t.ended > 0 AND t.assistant <> ''
		ORDER BY d.id DESC LIMIT ?3`, wordsRead, Done, lastUsed)
	return found, sqlite.While("reading what became of results", err)
}
