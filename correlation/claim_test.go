package correlation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// in brings a session into a state, in flight in the name of the process, as it comes about.
func (b *bench) in(s State, acpID, process string) Session {
	b.tb.Helper()
	v := b.open(OpenSession{ACPID: acpID, Process: process})
	switch s {
	case InFlight, Doubt:
		b.claim(v.ID, process, Armed)
		if s == Doubt {
			b.step(v.ID, process, Step{Name: Failed})
		}
	case IdentityGiven:
		b.step(v.ID, process, Step{Name: Placed})
	case Done:
		b.step(v.ID, process, Step{Name: NothingToTell})
	case Off:
		b.step(v.ID, process, Step{Name: SwitchedOff})
	}
	if got := b.state(v.ID); got != s {
		b.tb.Fatalf("state is %q, want %q", got, s)
	}
	return v
}

// step is an event of a process in a session.
func (b *bench) step(id int64, process string, e Step) {
	b.tb.Helper()
	check(b.tb, b.tryStep(id, process, nil, e))
}

func (b *bench) claim(id int64, process string, from ...State) int64 {
	b.tb.Helper()
	v := must(b.Get(b.ctx(), id))(b.tb)
	return must(b.Claim(b.ctx(), id, from, process,
		Injection{Key: v.Key, Kind: "context", BlockID: "b", Text: "text", Source: "daemon"}))(b.tb)
}

func (b *bench) outcomes(id int64) (all []string) {
	b.tb.Helper()
	for _, inj := range must(b.Injections(b.ctx(), id))(b.tb) {
		all = append([]string{string(inj.Outcome)}, all...)
	}
	return all
}

func isState(err error, want State) bool {
	return errors.Is(err, ErrStateChanged) && strings.Contains(err.Error(), fmt.Sprintf("it is %q", want))
}

// Every state, claimed from every state.
func TestClaim(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	for _, have := range States {
		for _, from := range States {
			t.Run(string(have)+" claimed from "+string(from), func(t *testing.T) {
				v := b.in(have, t.Name(), p.ID())
				before := len(b.outcomes(v.ID))
				_, err := b.Claim(t.Context(), v.ID, []State{from}, p.ID(), Injection{Text: "x"})
				illegal := have == from && (have == InFlight || have == Off)
				if have != from || illegal {
					if illegal != errors.Is(err, ErrIllegalStep) || !illegal && !isState(err, have) {
						t.Errorf("err = %v, want that the state is %q", err, have)
					}
					if got := b.state(v.ID); got != have {
						t.Errorf("state is %q after a claim that failed", got)
					}
					if n := len(b.outcomes(v.ID)); n != before {
						t.Error("a claim that failed is in the ledger")
					}
					return
				}
				check(t, err)
				if got := b.state(v.ID); got != InFlight {
					t.Errorf("state is %q, want in flight", got)
				}
			})
		}
	}
	if _, err := b.Claim(t.Context(), 1<<40, States, p.ID(), Injection{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("of no session: %v", err)
	}
	if _, err := b.Claim(t.Context(), 1, States, "", Injection{}); err == nil {
		t.Error("in nobody's name: no error")
	}
}

// Every way to settle a claim, and what the ledger says of it.
func TestSettle(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	for _, tt := range []struct {
		from    State
		event   Step
		to      State
		outcome string
	}{
		{Armed, Step{Name: Answered}, Done, "kept"},
		{Armed, Step{Name: Answered, Partly: true}, IdentityGiven, "kept"},
		{Armed, Step{Name: Refused}, Armed, "refused"},
		{Armed, Step{Name: Failed}, Doubt, "doubt"},
		{Armed, Step{Name: Cancelled}, Doubt, "cancelled"},
		{IdentityGiven, Step{Name: Answered}, Done, "kept"},
		{IdentityGiven, Step{Name: Refused}, IdentityGiven, "refused"},
		{IdentityGiven, Step{Name: Failed}, Doubt, "doubt"},
		{Doubt, Step{Name: Answered}, Done, "kept"},
		{Doubt, Step{Name: Refused}, Doubt, "doubt"},
		{Doubt, Step{Name: Failed}, Doubt, "doubt"},
		{Done, Step{Name: Answered}, Done, "kept"},
		{Done, Step{Name: Refused}, Done, "refused"},
		{Done, Step{Name: Failed}, Done, "doubt"},
	} {
		t.Run(string(tt.event.Name)+" "+string(tt.from)+" to "+string(tt.to), func(t *testing.T) {
			v := b.in(tt.from, t.Name(), p.ID())
			before := len(b.outcomes(v.ID))
			b.claim(v.ID, p.ID(), tt.from)
			if err := b.tryStep(v.ID, "another", nil, tt.event); !isState(err, InFlight) {
				t.Errorf("another process settled it: %v", err)
			}
			check(t, b.tryStep(v.ID, p.ID(), nil, tt.event))
			if got := b.state(v.ID); got != tt.to {
				t.Errorf("state is %q", got)
			}
			if got := b.outcomes(v.ID); len(got) != before+1 || got[before] != tt.outcome {
				t.Errorf("outcomes are %q, want %q", got, tt.outcome)
			}
			if err := b.tryStep(v.ID, p.ID(), nil, tt.event); !isState(err, tt.to) {
				t.Errorf("settled twice: %v", err)
			}
		})
	}
}

// A replay that settles doubt settles it in the ledger too.
func TestDoubtSettled(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	for name, want := range map[StepName]string{Marked: "kept", Clean: "refused"} {
		v := b.in(Doubt, "s "+want, p.ID())
		b.step(v.ID, p.ID(), Step{Name: name})
		if got := b.outcomes(v.ID); got[0] != want {
			t.Errorf("doubt settled by %q: the ledger says %q, want %q", name, got, want)
		}
	}
}

// The claim of a process that died is found out by whoever looks next.
func TestClaimOfTheDead(t *testing.T) {
	for _, tt := range []struct {
		name string
		from State
		look func(b *bench, v Session, p *Process) State
		want State
		kept bool // the ledger knows it, after all
	}{
		{"by a sweep", Armed, func(b *bench, v Session, _ *Process) State {
			check(b.tb, b.SweepDead(b.ctx(), nil))
			return b.state(v.ID)
		}, Doubt, false},
		{"by a look", Armed, func(b *bench, v Session, _ *Process) State {
			return must(b.State(b.ctx(), v.ID))(b.tb)
		}, Doubt, false},
		{"by a load", Armed, func(b *bench, v Session, _ *Process) State {
			return b.open(OpenSession{ACPID: v.ACPID}).State
		}, Doubt, false},
		{"by a claim", Armed, func(b *bench, v Session, p *Process) State {
			b.claim(v.ID, p.ID(), Doubt)
			return b.state(v.ID)
		}, InFlight, false},
		{"by a change", Armed, func(b *bench, v Session, p *Process) State {
			check(b.tb, b.tryStep(v.ID, p.ID(), []State{Doubt}, Step{Name: Marked}))
			return b.state(v.ID)
		}, Done, true},
		{"by a look, before what it had recorded", Armed, func(b *bench, v Session, _ *Process) State {
			must(b.State(b.ctx(), v.ID))(b.tb)
			dead := must(sqlite.One[string](b.db.QueryRowContext(b.ctx(), `SELECT claim_by FROM sessions WHERE id = ?`, v.ID)))(b.tb)
			check(b.tb, b.tryStep(v.ID, dead, nil, Step{Name: Answered}))
			return b.state(v.ID)
		}, Done, true},
		{"a recall in a session that is done", Done, func(b *bench, v Session, _ *Process) State {
			check(b.tb, b.SweepDead(b.ctx(), nil))
			return b.state(v.ID)
		}, Done, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			p := b.register(ProcessInfo{})
			b.open(OpenSession{ACPID: "one that nobody claims"})
			v := b.in(tt.from, "s", p.ID())
			dead, another := b.died(ProcessInfo{}), b.in(tt.from, "another", p.ID())
			b.claim(v.ID, dead, tt.from)
			b.claim(another.ID, dead, tt.from)
			if got := tt.look(b, v, p); got != tt.want {
				t.Errorf("state is %q, want %q", got, tt.want)
			}
			if got := b.outcomes(v.ID); (got[0] == "kept") != tt.kept || !tt.kept && got[0] != "doubt" {
				t.Errorf("the ledger says %q", got)
			}
			if check(t, b.SweepDead(t.Context(), nil)); b.state(another.ID) == InFlight {
				t.Error("another session that it had claimed is in flight")
			}
		})
	}
}

// Of many proxies on one session one injects.
func TestClaimRace(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	v := b.in(Armed, "s", p.ID())
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		other := b.another()
		q := other.register(ProcessInfo{})
		wg.Go(func() {
			_, errs[i] = other.Claim(context.Background(), v.ID, []State{Armed}, q.ID(), Injection{Text: "x"})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, ErrStateChanged):
			t.Error(err)
		}
	}
	if won != 1 || len(b.outcomes(v.ID)) != 1 {
		t.Errorf("%d claims won, %d are in the ledger", won, len(b.outcomes(v.ID)))
	}
}

// A prompt does not wait for the database longer than its context lets it, also while another process holds the lock;
// then it may try again. The clock is the test's.
func TestClaimWhileLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := b.register(ProcessInfo{})
		v := b.in(Armed, "s", p.ID())
		tx := must(b.another().db.BeginTx(t.Context(), nil))(t)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := b.Claim(ctx, v.ID, []State{Armed}, p.ID(), Injection{Text: "x"})
		if took := time.Since(began); took > 100*time.Millisecond ||
			!errors.Is(err, sqlite.ErrBusy) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v after %v, want busy or the deadline", err, took)
		}
		check(t, tx.Rollback())
		if got := b.state(v.ID); got != Armed {
			t.Errorf("state is %q, want armed", got)
		}
		b.claim(v.ID, p.ID(), Armed)
	})
}
