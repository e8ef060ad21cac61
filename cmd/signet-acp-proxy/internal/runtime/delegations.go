package runtime

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/lineage"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// An Asked is a delegation that a person has named, and what can be done with it.
type Asked struct {
	delegation.Delegation
	*delegation.Service
	Who delegation.Caller // asks now
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
	cwd, err := os.Getwd()
	if err != nil {
		return Asked{}, err
	}
	a := Asked{Service: newDelegationService(d.Config, d.DB)}
	if a.Who, err = d.whoAsks(ctx, cwd); err != nil {
		return a, err
	}
	a.Who.Person = a.Who.Key == "" // an agent in its shell may end and tell its own
	d.settleDelegations(ctx)
	a.Delegation, err = a.Ledger.Get(ctx, strings.TrimSpace(id))
	if err == nil && a.Who.Inside != "" && a.Inside != a.Who.Inside {
		err = delegation.ErrNotFound
	}
	if errors.Is(err, delegation.ErrNotFound) {
		all, _ := a.Ledger.List(ctx, -1) // one that is like it
		var ids []string
		for _, one := range all {
			ids = append(ids, one.ID, one.ID[max(0, len(one.ID)-len(id)):], one.ID[:min(len(one.ID), len(id))])
		}
		err = fmt.Errorf("%q: %w%s", id, err, config.DidYouMean(strings.ToUpper(id), ids))
	}
	return a, err
}

// End cancels it, and waits until it has ended.
func (a Asked) End(ctx context.Context) (delegation.Row, error) {
	d, err := a.Service.Cancel(ctx, a.Who, a.ID)
	if err == nil && !d.State.Ended() {
		err = errors.New("it was asked to end and has not ended yet")
	}
	return d.Row(), err
}

// Check runs a command in its tree and bounds, and stores how that ended.
func (a Asked) Check(ctx context.Context, d *Data, command string) (delegation.Check, error) {
	runner, err := newRunner(d.Config, d.DB, d.Log)
	if err != nil {
		return delegation.Check{}, err
	}
	return runner.Check(ctx, a.Delegation, command)
}

// Child returns the session that works on it.
func (a Asked) Child(ctx context.Context, d *Data) (Listed, error) {
	if a.ACPID == "" {
		return Listed{}, errors.New("no session yet: the agent has not started")
	}
	id, err := d.Sessions.Book().Worker(ctx, a.ACPID, a.Key)
	if err != nil {
		return Listed{}, err
	}
	all, err := d.Listed(ctx, []int64{id})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("its session: %w", correlation.ErrNotFound)
	}
	if err != nil {
		return Listed{}, err
	}
	return all[0], nil
}

// Agents returns the agents that can be asked.
func (d *Data) Agents(ctx context.Context) ([]delegation.Agent, error) {
	return newDelegationService(d.Config, d.DB).Agents(ctx)
}

// Ledger returns the delegations in a database.
func Ledger(c *config.Config, db *sql.DB) *delegation.Ledger {
	return delegation.NewLedger(db, c.LiveDir(), DelegationFolders(c))
}

// settleDelegations stores which have lost their runners. Reading a row corrects its state without that, too.
func (d *Data) settleDelegations(ctx context.Context) {
	if err := Ledger(d.Config, d.DB).Settle(ctx); err != nil {
		d.Log.Warn().Err(err).Msg("settling delegations")
	}
}

// Delegations returns all delegations, the newest first.
func (d *Data) Delegations(ctx context.Context) ([]delegation.Row, error) {
	d.settleDelegations(ctx)
	all, err := Ledger(d.Config, d.DB).List(ctx, -1)
	rows := []delegation.Row{}
	for _, one := range all {
		rows = append(rows, one.Row())
	}
	return rows, err
}

// A Delegated is the result of Delegate.
type Delegated struct {
	delegation.Row
	Repeated bool // the same request was made before, and not again now
	Running  bool // it is still being worked on, detached
}

// Delegate has an agent do something and waits for it, unless it is to be detached. If ctx ends, so does the
// delegation.
func (d *Data) Delegate(ctx context.Context, r delegation.Request, progress func(line string)) (Delegated, error) {
	service := newDelegationService(d.Config, d.DB)
	if id := delegation.Inside(os.Getenv); id != "" {
		if _, err := service.Ledger.Get(ctx, id); errors.Is(err, delegation.ErrNotFound) {
			return Delegated{}, errors.New("use the delegate tool instead: " +
				"this command does not work inside a delegation")
		}
	}
	if !d.Config.Delegation {
		return Delegated{}, errNoDelegation
	}
	cwd, err := os.Getwd()
	if err != nil {
		return Delegated{}, err
	}
	if memory.Excluded(cwd, d.Config.Exclude) {
		return Delegated{}, errors.New("this folder is excluded from memory (.signet-ignore or exclude): " +
			"tasks cannot be delegated from it")
	}
	who, err := d.whoAsks(ctx, cwd)
	if err != nil {
		return Delegated{}, err
	}
	lock, err := correlation.TakeLock(d.Config.LiveDir(), correlation.NewProcessID())
	if err != nil {
		return Delegated{}, err
	}
	defer lock.Release()
	who.Process = lock.ID()
	asked, fresh, err := service.Delegate(ctx, who, r)
	if err != nil || r.Detach && !asked.State.Ended() {
		return Delegated{asked.Row(), !fresh, true}, err
	}
	id := asked.ID
	asked, err = service.Wait(ctx, id, 2*time.Duration(asked.Budget.Seconds)*time.Second+time.Minute,
		func(now delegation.Delegation) { progress(now.Agent + ": " + now.Progress) })
	if err == nil && ctx.Err() != nil { // we are told to end
		asked, err = service.Cancel(context.WithoutCancel(ctx), who, id)
	}
	return Delegated{asked.Row(), !fresh, false}, err
}

// whoAsks returns who asks in a folder: a person, or an agent in its shell.
func (d *Data) whoAsks(ctx context.Context, cwd string) (delegation.Caller, error) {
	who := delegation.Caller{Cwd: cwd, Project: delegatedProject(d.Config)(cwd), Inside: delegation.Inside(os.Getenv),
		Person: true}
	if who.Inside == "" {
		who.Inside = d.insideOf(ctx)
	}
	if parent := os.Getenv(parentVariable); parent != "" {
		key, err := d.Sessions.Parent(ctx, parent, cwd)
		if err != nil && !errors.Is(err, correlation.ErrNotFound) {
			return who, err
		}
		if s, err := d.Sessions.Book().Resolve(ctx, key); key != "" && err == nil {
			who.Key, who.Harness = key, config.Canonical(s.Harness)
		}
	}
	return who, nil
}

// insideOf finds the delegation whose runner is our ancestor, where the system knows ancestors: dropping the
// environment variable does not free a child of its limits.
func (d *Data) insideOf(ctx context.Context) string {
	running, err := Ledger(d.Config, d.DB).Runners(ctx)
	if err != nil || len(running) == 0 {
		return ""
	}
	above, _ := lineage.Of(os.Getppid()) // none where the system does not tell
	for _, p := range above {
		if id := running[p.ID]; id != "" && p.ID > 1 {
			return id
		}
	}
	return ""
}
