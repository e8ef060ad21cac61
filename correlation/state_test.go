package correlation_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// The columns are the states; in flight stands once for each state that a block can be sent in. A cell is the state
// that follows and what became of the block; "." leaves everything as it is, "-" cannot happen.
var columns = []struct {
	state, from State
}{
	{Armed, ""}, {IdentityGiven, ""}, {InFlight, Armed}, {InFlight, IdentityGiven}, {InFlight, Doubt}, {InFlight, Done}, {Doubt, ""}, {Done, ""}, {Off, ""},
}

const cells = `
                         armed           | identity given  | of armed             | of identity given       | of doubt             | of done              | doubt                   | done            | off
sent                   : in flight, sent | in flight, sent | -                    | -                       | -                    | -                    | in flight, sent         | in flight, sent | -
answered               : -               | -               | done, kept           | done, kept              | done, kept           | done, kept           | -                       | -               | .
answered partly        : -               | -               | identity given, kept | identity given, kept    | identity given, kept | identity given, kept | -                       | -               | .
refused                : -               | -               | armed, refused       | identity given, refused | doubt, doubt         | done, refused        | -                       | -               | .
failed                 : -               | -               | doubt, doubt         | doubt, doubt            | doubt, doubt         | done, doubt          | -                       | -               | .
cancelled              : -               | -               | doubt, cancelled     | doubt, cancelled        | doubt, cancelled     | done, cancelled      | -                       | -               | .
died                   : .               | .               | doubt, doubt         | doubt, doubt            | doubt, doubt         | done, doubt          | .                       | .               | .
replay marked          : .               | .               | .                    | .                       | .                    | .                    | done, kept              | .               | .
replay marked partly   : .               | .               | .                    | .                       | .                    | .                    | identity given, kept    | .               | .
replay marked stranger : done            | .               | .                    | .                       | .                    | .                    | done, kept              | .               | .
replay clean           : .               | .               | .                    | .                       | .                    | .                    | armed, refused          | .               | .
replay clean placed    : .               | .               | .                    | .                       | .                    | .                    | identity given, refused | .               | .
assumed kept           : .               | .               | .                    | .                       | .                    | .                    | done, kept              | .               | .
assumed kept partly    : .               | .               | .                    | .                       | .                    | .                    | identity given, kept    | .               | .
assumed kept stranger  : .               | .               | .                    | .                       | .                    | .                    | done, kept              | .               | .
compacted              : .               | armed           | .                    | .                       | .                    | .                    | .                       | armed           | .
compacted whole        : .               | armed           | .                    | .                       | .                    | .                    | .                       | armed           | .
compacted placed       : .               | .               | .                    | .                       | .                    | .                    | .                       | .               | .
compacted placed whole : .               | .               | .                    | .                       | .                    | .                    | .                       | identity given  | .
cleared                : .               | armed           | .                    | .                       | .                    | .                    | armed, refused          | armed           | .
cleared placed         : .               | .               | .                    | .                       | .                    | .                    | identity given, refused | identity given  | .
nothing to tell        : done            | done            | -                    | -                       | -                    | -                    | -                       | .               | .
placed                 : identity given  | .               | -                    | -                       | -                    | -                    | -                       | -               | .
forked                 : .               | .               | done                 | done                    | done                 | done                 | .                       | .               | .
switched off           : off             | off             | off, doubt           | off, doubt              | off, doubt           | off, doubt           | off                     | off             | .
`

// row returns a row's event and its cells.
func row(t *testing.T, line string) (Step, []string) {
	t.Helper()
	name, rest, _ := strings.Cut(line, ":")
	var e Step
	for known := true; known; { // the last words are flags
		name, known = strings.TrimSpace(name), false
		for _, flag := range []struct {
			word string
			set  *bool
		}{{" partly", &e.Partly}, {" placed", &e.Placed}, {" whole", &e.Whole}, {" stranger", &e.Unknown}} {
			if short, ok := strings.CutSuffix(name, flag.word); ok {
				name, known, *flag.set = short, true, true
			}
		}
	}
	e.Name = StepName(name)
	if !slices.Contains(StepNames, e.Name) {
		t.Fatalf("no event is called %q", name)
	}
	return e, strings.Split(rest, "|")
}

// Every cell of the table of states.
func TestStates(t *testing.T) {
	walked := map[StepName]bool{}
	n := 0
	for _, line := range strings.Split(strings.TrimSpace(cells), "\n")[1:] {
		e, want := row(t, line)
		walked[e.Name] = true
		if len(want) != len(columns) {
			t.Fatalf("%q has %d cells, want %d", line, len(want), len(columns))
		}
		for i, c := range columns {
			e.From = c.from
			next, became, ok := c.state.On(e)
			got := string(next)
			switch {
			case !ok && next == c.state && became == Unsettled:
				got = "-"
			case next == c.state && became == Unsettled:
				got = "."
			case became == Sending:
				got += ", sent"
			case became != Unsettled:
				got += ", " + string(became)
			}
			if !ok && got != "-" {
				got += ", which cannot happen"
			}
			if got != strings.TrimSpace(want[i]) {
				t.Errorf("%+v in %s (from %q): %q, want %q", e, c.state, c.from, got, strings.TrimSpace(want[i]))
			}
			n++
		}
	}
	for _, name := range StepNames {
		if !walked[name] {
			t.Errorf("no row walks %q", name)
		}
	}
	t.Logf("%d cells", n)
}

// What no caller may rely on: an event and a state that are not in the table change nothing.
func TestStatesUnknown(t *testing.T) {
	for _, s := range append(States, "", "elsewhere") {
		if next, became, ok := s.On(Step{Name: "eaten"}); ok || next != s || became != Unsettled {
			t.Errorf("an unknown event in %q: %q, %q, %t", s, next, became, ok)
		}
	}
	for _, from := range []State{InFlight, Off, "", "elsewhere"} { // nothing is sent in these
		if _, _, ok := InFlight.On(Step{Name: Answered, From: from}); ok {
			t.Errorf("a block was sent in state %q", from)
		}
	}
}

// The ledger asks the same table, and says so when a step is not in it.
func TestStep(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	for _, have := range States {
		for _, name := range StepNames {
			t.Run(fmt.Sprintf("%s in %s", name, have), func(t *testing.T) {
				v := b.in(have, t.Name(), p.ID())
				from := Armed // what b.in claims from
				want, outcome, legal := have.On(Step{Name: name, From: from})
				err := b.tryStep(v.ID, p.ID(), nil, Step{Name: name})
				settles := slices.Contains([]StepName{Answered, Refused, Failed, Cancelled, Died}, name)
				switch {
				case settles && have != InFlight: // of nobody's claim
					if !isState(err, have) {
						t.Errorf("err = %v, want that the state is %q", err, have)
					}
					want = have
				case name == Sent || !legal:
					if !errors.Is(err, ErrIllegalStep) {
						t.Errorf("err = %v, want an illegal step", err)
					}
					want = have
				default:
					check(t, err)
				}
				if got := b.state(v.ID); got != want {
					t.Errorf("the ledger has %q, want %q", got, want)
				}
				all := b.outcomes(v.ID)
				if have == InFlight && legal && outcome != Unsettled && all[len(all)-1] != string(outcome) {
					t.Errorf("the ledger says %q, want %q", all[0], outcome)
				}
			})
		}
	}
	v := b.in(InFlight, "another's", p.ID())
	if err := b.tryStep(v.ID, "another", nil, Step{Name: Answered}); !isState(err, InFlight) {
		t.Errorf("another process settled a claim: %v", err)
	}
	if err := b.tryStep(v.ID, p.ID(), []State{Armed}, Step{Name: SwitchedOff}); !isState(err, InFlight) {
		t.Errorf("from another state: %v", err)
	}
	if err := b.tryStep(1<<40, p.ID(), nil, Step{Name: SwitchedOff}); !errors.Is(err, ErrNotFound) {
		t.Errorf("of no session: %v", err)
	}
	if have, err := b.State(t.Context(), v.ID); err != nil || have != InFlight {
		t.Errorf("the state is %q, %v", have, err)
	}
	if _, err := b.State(t.Context(), 1<<40); !errors.Is(err, ErrNotFound) {
		t.Errorf("the state of no session: %v", err)
	}
}
