package delegation

import (
	"math"
	"slices"
	"strings"
	"time"
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
func recordsOf(agent string, past []Delegation, now time.Time) []Record {
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
			score = impliedScore(d, past[:at])
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
	scoreRedone  = -0.5 // its caller gave the same work to another agent
)

// impliedScore is the score of a result without a verdict; after are the delegations since.
func impliedScore(d Delegation, after []Delegation) float64 {
	if slices.ContainsFunc(after, func(other Delegation) bool {
		return d.Key != "" && other.Key == d.Key && other.Agent != d.Agent &&
			strings.EqualFold(strings.TrimSpace(other.Scope), strings.TrimSpace(d.Scope))
	}) {
		return scoreRedone
	}
	return scoreUnknown
}
