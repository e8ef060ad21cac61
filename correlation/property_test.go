package correlation_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
)

// A model of one session's state: what the compare-and-sets of any number of processes must amount to.
type model struct {
	state        State
	from         State // that the claim was made in
	claimant     *Process
	ledger       []string
	alive        map[*Process]bool
	last         int  // the ledger's entry of the last claim
	claimantDied bool // its process was found dead
}

// look settles the claim of a dead process, as every operation that depends on the state does first.
func (m *model) look() State {
	if m.state == InFlight && !m.alive[m.claimant] {
		m.foundDead(m.claimant)
	}
	return m.state
}

func (m *model) foundDead(p *Process) {
	m.alive[p] = false
	if m.state != InFlight || m.claimant != p {
		return
	}
	m.ledger[m.last], m.claimantDied = "doubt", true
	if m.state = Doubt; m.from == Done {
		m.state = Done
	}
}

func (m *model) claim(p *Process, from []State) bool {
	have := m.look()
	if !slices.Contains(from, have) || have == InFlight || have == Off {
		return false
	}
	m.last = len(m.ledger)
	m.state, m.from, m.claimant, m.ledger = InFlight, have, p, append(m.ledger, "in flight")
	return true
}

// settle says what becomes of a claim, in words of its own: the ledger asks the table of states.
func (m *model) settle(p *Process, name EventName) bool {
	// it was taken for dead, and had written it down
	if m.state == Doubt && m.claimant == p && m.ledger[m.last] == "doubt" && m.claimantDied {
		m.state = InFlight
	}
	if m.state != InFlight || m.claimant != p {
		m.look()
		return false
	}
	m.claimantDied = false
	outcomes := map[EventName]string{Answered: "kept", Refused: "refused", Failed: "doubt", Cancelled: "cancelled"}
	m.ledger[m.last] = outcomes[name]
	switch {
	case m.from == Done:
		m.state = Done
	case name == Answered:
		m.state = Done
	case name == Refused && m.from != Doubt:
		m.state = m.from
	case name == Cancelled:
		m.state = Doubt
	default:
		m.state, m.ledger[m.last] = Doubt, "doubt"
	}
	return true
}

// happen says what becomes of a session by an event that sends and settles nothing.
func (m *model) happen(from []State, name EventName) bool {
	have := m.look()
	if !slices.Contains(from, have) {
		return false
	}
	next, became, legal := have.On(Event{Name: name, From: m.from})
	if !legal {
		return false
	}
	if became != Unsettled {
		m.ledger[m.last] = string(became)
	}
	if m.state = next; next != InFlight {
		m.claimantDied = false
	}
	return true
}

// Whatever several processes on two connections do in whatever order, some of them dying: the state and the ledger are
// what the model says, and no claim is granted while another living process has one.
func TestStateProperty(t *testing.T) {
	states := rapid.SampledFrom(States)
	some := rapid.SliceOfNDistinct(states, 0, len(States), rapid.ID[State])
	b := newBench(t)
	stores := []*bench{b, b.another()}
	rapid.Check(t, func(r *rapid.T) {
		ctx := context.Background()
		v, err := correlationtest.Session(ctx, b.Store, OpenSession{Harness: "h", ACPID: "s", New: true})
		check(t, err)
		m := &model{state: Armed, alive: make(map[*Process]bool)}
		var processes []*Process
		defer func() {
			for _, p := range processes {
				check(t, p.End(ctx, "test"))
			}
		}()
		store := func(r *rapid.T) *bench { return rapid.SampledFrom(stores).Draw(r, "store") }
		living := func(r *rapid.T) *Process {
			var all []*Process
			for _, p := range processes {
				if m.alive[p] {
					all = append(all, p)
				}
			}
			if len(all) == 0 {
				p, err := store(r).Register(ctx, ProcessInfo{Kind: Relay})
				check(t, err)
				processes, all, m.alive[p] = append(processes, p), []*Process{p}, true
			}
			return rapid.SampledFrom(all).Draw(r, "process")
		}
		agree := func(r *rapid.T, doing string, err error, want bool) {
			if (err == nil) != want || err != nil && !errors.Is(err, ErrStateChanged) &&
				!errors.Is(err, ErrIllegalStep) {
				r.Fatalf("%s: %v, the model says %t", doing, err, want)
			}
		}
		r.Repeat(map[string]func(*rapid.T){
			"start": func(r *rapid.T) {
				p, err := store(r).Register(ctx, ProcessInfo{Kind: Relay})
				check(t, err)
				processes, m.alive[p] = append(processes, p), true
			},
			"claim": func(r *rapid.T) {
				p, from := living(r), some.Draw(r, "from")
				_, err := store(r).Claim(ctx, v.ID, from, p.ID(), Injection{Text: "x"})
				agree(r, "claim", err, m.claim(p, from))
			},
			"settle": func(r *rapid.T) {
				p, name := living(r), rapid.SampledFrom([]EventName{Answered, Refused, Failed}).Draw(r, "event")
				err := store(r).tryStep(v.ID, p.ID(), nil, Event{Name: name})
				agree(r, "settle", err, m.settle(p, name))
			},
			"happen": func(r *rapid.T) {
				p, from := living(r), some.Draw(r, "from")
				name := rapid.SampledFrom([]EventName{
					NothingToTell, Placed, Compacted, Cleared, Marked, Clean, AssumedKept, Forked, SwitchedOff,
				}).Draw(r, "event")
				err := store(r).tryStep(v.ID, p.ID(), from, Event{Name: name})
				agree(r, "happen", err, m.happen(from, name))
			},
			"load": func(r *rapid.T) {
				got, err := correlationtest.Session(ctx, store(r).Store, OpenSession{Harness: "h", ACPID: "s"})
				check(t, err)
				if want := m.look(); got.State != want {
					r.Fatalf("loaded as %q, want %q", got.State, want)
				}
			},
			"die": func(r *rapid.T) { // its lock is gone
				p := living(r)
				check(t, os.Remove(filepath.Join(b.dir, "acp", "live", p.ID()+".lock")))
				m.alive[p] = false
			},
			"end": func(r *rapid.T) {
				p := living(r)
				check(t, p.End(ctx, "eof"))
				m.foundDead(p)
			},
			"sweep": func(r *rapid.T) {
				_, err := store(r).SweepDead(ctx, nil)
				check(t, err)
				m.look()
			},
			"": func(r *rapid.T) {
				for _, s := range stores {
					got, err := s.Get(ctx, v.ID)
					check(t, err)
					if got.State != m.state {
						r.Fatalf("state is %q, want %q", got.State, m.state)
					}
				}
				if diff := cmp.Diff(m.ledger, b.outcomes(v.ID)); diff != "" {
					r.Fatal(diff)
				}
			},
		})
	})
}
