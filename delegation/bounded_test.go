package delegation

import (
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
)

// Where the system bounds nothing, only who keeps himself to the folder is asked, unless a person has it otherwise.
func TestUnbounded(t *testing.T) {
	agents := []Agent{{ID: "bounded", Bounds: BySystem}, {ID: "sandboxed", Bounds: ByItself},
		{ID: "reader", Bounds: ByMode}, {ID: "free", Bounds: ByNothing}}
	s := &Service{Canonical: func(name string) string { return name }}
	for _, tt := range []struct {
		name       string
		read, edit bool
	}{{"bounded", true, true}, {"sandboxed", true, true}, {"reader", true, false}, {"free", false, false}} {
		for mode, want := range map[Mode]bool{Read: tt.read, Edit: tt.edit} {
			for _, s.Unbounded = range []bool{false, true} {
				_, err := s.choose(agents, Request{Agent: tt.name, Mode: mode}, "")
				if want := want || s.Unbounded; (err == nil) != want {
					t.Errorf("%s to %s, unbounded %v: %v", tt.name, mode, s.Unbounded, err)
				}
				if err != nil && !strings.Contains(err.Error(), "delegation_unbounded: true") {
					t.Errorf("it does not say what to do: %v", err)
				}
			}
		}
	}
	s.Unbounded = false
	if got, err := s.choose(agents[3:], Request{Mode: Read}, ""); err == nil {
		t.Errorf("%s was chosen", got)
	}
	if got, err := s.choose(agents[2:], Request{Mode: Read}, ""); got != "reader" {
		t.Errorf("chosen: %q, %v", got, err)
	}
}

// An agent that only its mode keeps from writing does not begin where its session lacks that mode.
func TestReadMode(t *testing.T) {
	for _, tt := range []struct {
		mode                             Mode
		readMode                         string
		has, inPlace, bySystem, byNobody bool
		set                              bool
		refused                          string
	}{
		{mode: Read, readMode: "plan", has: true, set: true},
		{mode: Read, readMode: "plan", has: true, set: true, inPlace: true},
		{mode: Read, readMode: "plan", has: true, set: true, bySystem: true},
		{mode: Read, readMode: "plan", refused: "has no mode plan"},
		{mode: Read, readMode: "plan", inPlace: true, refused: "too large"},
		{mode: Read, readMode: "plan", inPlace: true, byNobody: true, refused: "too large"},
		{mode: Read, readMode: "plan", byNobody: true},
		{mode: Read, readMode: "plan", bySystem: true},
		{mode: Read, inPlace: true, bySystem: true},
		{mode: Read},
		{mode: Edit, readMode: "plan", has: true},
		{mode: Edit, readMode: "plan"},
	} {
		r := run{Runner: Runner{Unbounded: tt.byNobody}, d: Delegation{Request: Request{Mode: tt.mode}},
			readMode: tt.readMode, inPlace: tt.inPlace}
		if tt.bySystem {
			r.place = &bounds.Place{}
		}
		set, err := r.mustSetMode(tt.has)
		if set != tt.set || (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%+v: %v, %v", tt, set, err)
		}
	}
}
