package runtime

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Agents gives the agents that can be asked.
func (d *Data) Agents(ctx context.Context) ([]delegation.Agent, error) {
	return NewDelegationService(d.Config, d.DB).Agents(ctx)
}

// Delegations gives what was asked, the newest first.
func (d *Data) Delegations(ctx context.Context) ([]delegation.Row, error) {
	ledger := NewDelegationService(d.Config, d.DB).Ledger
	if err := ledger.Settle(ctx); err != nil { // each row is read as it is all the same
		log := d.Log.Logger()
		log.Warn().Err(err).Msg("settling delegations")
	}
	all, err := ledger.List(ctx, "", 0)
	rows := []delegation.Row{}
	for _, one := range all {
		rows = append(rows, one.Row())
	}
	return rows, err
}

// Delegation gives one by its id, or a beginning of it that is the only one.
func (d *Data) Delegation(ctx context.Context, id string) (delegation.Row, error) {
	one, err := NewDelegationService(d.Config, d.DB).Ledger.Get(ctx, id)
	return one.Row(), err
}

// An Asked is what came of what a person, or an agent's shell, has asked.
type Asked struct {
	delegation.Row
	Again bool // it was asked before, and not again
	Left  bool // it goes on
}

// Delegate has an agent do something and waits for it, unless it is to go on by itself. It ends with ctx, or with us.
func (d *Data) Delegate(ctx context.Context, r delegation.Request, progress func(line string)) (Asked, error) {
	if !d.Config.Delegation {
		return Asked{}, ErrNoDelegation
	}
	who, err := d.caller(ctx)
	if err != nil {
		return Asked{}, err
	}
	lock, err := correlation.TakeLock(d.Config.LiveDir(), correlation.NewProcessID())
	if err != nil {
		return Asked{}, err
	}
	defer lock.Release()
	who.Process = lock.ID()
	service := NewDelegationService(d.Config, d.DB)
	asked, fresh, err := service.Delegate(ctx, who, r)
	if err != nil || r.Detach && !asked.State.Ended() {
		return Asked{asked.Row(), !fresh, true}, err
	}
	id := asked.ID
	asked, err = service.Wait(ctx, id, 2*time.Duration(asked.Budget.Seconds)*time.Second+time.Minute,
		func(now delegation.Delegation) { progress(now.Agent + ": " + now.Progress) })
	if err == nil && ctx.Err() != nil { // somebody ends us, and with us what we wait for
		asked, err = service.Cancel(context.WithoutCancel(ctx), who, id)
	}
	return Asked{asked.Row(), !fresh, false}, err
}

// caller says who asks: a person, or the shell of an agent.
func (d *Data) caller(ctx context.Context) (delegation.Caller, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return delegation.Caller{}, err
	}
	if memory.OptedOut(cwd, d.Config.Exclude) {
		return delegation.Caller{}, errors.New("this folder is left out of memory (.signet-ignore or exclude): " +
			"nothing is stored of it, so nothing can be delegated from it")
	}
	who := delegation.Caller{Cwd: cwd, Project: delegatedProject(d.Config)(cwd), Inside: delegation.Inside(os.Getenv)}
	if who.Inside == "" {
		who.Inside = d.insideOf(ctx)
	}
	if parent := os.Getenv(parentVariable); parent != "" {
		key, err := d.Sessions.Parent(ctx, parent, cwd)
		if err != nil && !errors.Is(err, correlation.ErrNotFound) {
			return who, err
		}
		if s, err := d.Sessions.Resolve(ctx, key); key != "" && err == nil {
			who.Key, who.Harness = key, config.Canonical(s.Harness)
		}
	}
	return who, nil
}

// insideOf finds the delegation whose runner started us, whatever became of the environment on the way: who drops the
// variable is that child all the same, where the system says who started whom.
func (d *Data) insideOf(ctx context.Context) string {
	running, err := NewDelegationService(d.Config, d.DB).Ledger.Runners(ctx)
	if err != nil || len(running) == 0 {
		return ""
	}
	for pid, ok := parentOf(os.Getpid()); ok && pid > 1; pid, ok = parentOf(pid) {
		if id := running[pid]; id != "" {
			return id
		}
	}
	return ""
}
