package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
)

// An Asked is a delegation that a person has named, and what can be done with it.
type Asked struct {
	delegation.Delegation
	*delegation.Service
	caller delegation.Caller
}

// ShownDelegation is what delegations show --json prints.
type ShownDelegation struct {
	delegation.Row
	DiffStat string `json:"diffstat,omitempty"` // of what it has handed back
	Applied  bool   `json:"applied"`            // that is in the caller's folder
}

// Asked finds a delegation by its id, or by a beginning or an end that no other has. Who works for a delegation finds
// only what was asked there.
func (d *Data) Asked(ctx context.Context, id string) (Asked, error) {
	a := Asked{Service: newDelegationService(d.Config, d.DB), caller: delegation.Caller{Person: true}}
	if a.caller.Inside = delegation.Inside(os.Getenv); a.caller.Inside == "" {
		a.caller.Inside = d.insideOf(ctx)
	}
	d.settleDelegations(ctx)
	var err error
	a.Delegation, err = a.Ledger.Get(ctx, strings.TrimSpace(id))
	if err == nil && a.caller.Inside != "" && a.Parent != a.caller.Inside {
		err = delegation.ErrNotFound
	}
	if errors.Is(err, delegation.ErrNotFound) {
		err = fmt.Errorf("%q: %w%s", id, err, d.similar(ctx, a.Ledger, id))
	}
	return a, err
}

// similar names a delegation whose id is like a wrong one.
func (d *Data) similar(ctx context.Context, l *delegation.Ledger, wrong string) string {
	all, err := l.List(ctx, "", 0)
	if err != nil {
		return ""
	}
	var ids []string
	for _, one := range all {
		ids = append(ids, one.ID, one.ID[max(0, len(one.ID)-len(wrong)):], one.ID[:min(len(one.ID), len(wrong))])
	}
	return config.DidYouMean(strings.ToUpper(wrong), ids)
}

// Show returns it with its changes.
func (a Asked) Show(ctx context.Context) (ShownDelegation, error) {
	stat, applied, err := a.Stat(ctx, a.Delegation)
	return ShownDelegation{a.Row(), stat, applied}, err
}

// End cancels it, and waits until it has ended.
func (a Asked) End(ctx context.Context) (delegation.Row, error) {
	d, err := a.Service.Cancel(ctx, a.caller, a.ID)
	if err == nil && !d.State.Ended() {
		err = errors.New("it was asked to end and has not ended yet")
	}
	return d.Row(), err
}

// Await waits until it has ended, at most for limit.
func (a Asked) Await(ctx context.Context, limit time.Duration, progress func(line string)) (Delegated, error) {
	d, err := a.Wait(ctx, a.ID, limit, func(now delegation.Delegation) { progress(now.Agent + ": " + now.Progress) })
	if err == nil && !d.State.Ended() {
		err = fmt.Errorf("%s has not ended yet: %s", d.ID, d.Progress)
	}
	return Delegated{Row: d.Row()}, err
}

// Verdict stores what a person thinks of the result.
func (a Asked) Verdict(ctx context.Context, verdict float64, note string) error {
	return a.Judge(ctx, a.caller, a.ID, verdict, note)
}

// Child returns the session that works on it.
func (a Asked) Child(ctx context.Context, d *Data) (Listed, error) {
	if a.ACPID == "" {
		return Listed{}, errors.New("it has no session: the child agent has not started")
	}
	id, err := d.Sessions.Worker(ctx, a.ACPID, a.Key)
	if err != nil {
		return Listed{}, err
	}
	all, _, err := d.List(ctx, SessionFilter{})
	for _, s := range all {
		if s.ID == id {
			return s, err
		}
	}
	return Listed{}, errors.Join(err, fmt.Errorf("its session: %w", correlation.ErrNotFound))
}
