package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Agents returns the agents that can be asked.
func (d *Data) Agents(ctx context.Context) ([]delegation.Agent, error) {
	return newDelegationService(d.Config, d.DB).Agents(ctx)
}

func (d *Data) ledger() *delegation.Ledger { return delegation.NewLedger(d.DB, d.Config.LiveDir()) }

// settleDelegations stores which have lost their runners. Reading a row corrects its state without that, too.
func (d *Data) settleDelegations(ctx context.Context) {
	if err := d.ledger().Settle(ctx); err != nil {
		d.Log.warn(err).Msg("settling delegations")
	}
}

// Delegations returns all delegations, the newest first.
func (d *Data) Delegations(ctx context.Context) ([]delegation.Row, error) {
	d.settleDelegations(ctx)
	all, err := d.ledger().List(ctx, "", 0)
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
			return Delegated{}, errors.New("use the tool delegate instead: in the bounds of a " +
				"delegation this command reaches nothing")
		}
	}
	if !d.Config.Delegation {
		return Delegated{}, errNoDelegation
	}
	who, err := d.caller(ctx)
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

// caller returns who asks: a person, or an agent in its shell.
func (d *Data) caller(ctx context.Context) (delegation.Caller, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return delegation.Caller{}, err
	}
	if memory.OptedOut(cwd, d.Config.Exclude) {
		return delegation.Caller{}, errors.New("this folder is left out of memory (.signet-ignore or exclude): " +
			"nothing is stored of it, so nothing can be delegated from it")
	}
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
		if s, err := d.Sessions.Resolve(ctx, key); key != "" && err == nil {
			who.Key, who.Harness = key, config.Canonical(s.Harness)
		}
	}
	return who, nil
}

// insideOf finds the delegation whose runner is our ancestor, where the system knows ancestors: dropping the
// environment variable does not free a child of its limits.
func (d *Data) insideOf(ctx context.Context) string {
	running, err := d.ledger().Runners(ctx)
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

// parentOf returns the parent of a process, where the system has /proc.
func parentOf(pid int) (int, bool) {
	fields := ProcessStat(fmt.Sprintf("/proc/%d", pid))
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

// ProcessStat returns the fields after the name in the stat file of a process or thread, by its folder in /proc: its
// state, its parent, its group, and so on (proc_pid_stat(5)). None if it has ended, or the system has no /proc.
func ProcessStat(folder string) [][]byte {
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return nil
	}
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the name, in parentheses, may hold anything
}
