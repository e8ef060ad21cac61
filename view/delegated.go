package view

import (
	"context"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// maxDelegations is how many delegations a page shows, the newest.
const maxDelegations = 2000

// newDelegatedTask returns what the page shows of a delegation.
func newDelegatedTask(d delegation.Delegation) *delegatedTask {
	a := &delegatedTask{Delegation: d, Working: !d.State.Ended(), Why: delegation.ForUser(d.Reason)}
	if a.Working {
		a.Why = d.Progress
	}
	used := []string{count(d.Usage.Turns, "turn", "turns")}
	if d.Usage.Tokens != nil {
		used = append(used, telemetry.Figure(*d.Usage.Tokens)+" tokens")
	}
	if d.Usage.Cost != nil {
		used = append(used, telemetry.Prices(map[string]float64{d.Usage.Currency: *d.Usage.Cost}))
	}
	a.Used = strings.Join(used, ", ")
	switch {
	case d.Started.IsZero():
	case d.Ended.IsZero():
		a.Took = time.Since(d.Started)
	default:
		a.Took = d.Ended.Sub(d.Started)
	}
	return a
}

// addDelegations links delegations with the sessions that asked for them, and with those that work on them.
func (c *conversations) addDelegations(ctx context.Context, _ correlation.Scope) error {
	if c.src.Delegations == nil {
		return nil
	}
	all, err := c.src.Delegations.List(ctx, maxDelegations)
	if err != nil {
		return sqlite.While("reading delegations", err)
	}
	children := make(map[string]*session, len(c.byID))
	for _, s := range c.byID {
		children[s.ACPID] = s
	}
	by := map[string]string{}
	for _, d := range all {
		by[d.ID] = d.By()
		a := newDelegatedTask(d)
		a.By, a.Child = c.byKey[d.Caller.Key], children[d.ACPID]
		if a.Working {
			c.Working = append(c.Working, a)
		}
		if a.By != nil {
			a.By.Asked = append(a.By.Asked, a)
			if a.Working {
				a.By.AtWork++
			}
		}
		if a.Child != nil && a.Child.For == nil {
			a.Child.For = a
		}
	}
	for _, s := range c.byID {
		for _, t := range s.Turns {
			t.By = by[t.in]
		}
	}
	return nil
}
