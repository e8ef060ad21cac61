package session

import (
	"reflect"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A prompt of a session that has its identity waits for memories that may still come, but only once it is patient.
func TestLate(t *testing.T) {
	for name, tt := range map[string]struct {
		fetch *Fetch
		want  bool
	}{
		"none was begun":     {&Fetch{patient: true}, true},
		"missed":             {&Fetch{step: fetching, missed: true, patient: true}, true},
		"missed, and failed": {&Fetch{step: fetched, missed: true, err: memory.ErrUnavailable, patient: true}, true},
		"missed, and there":  {&Fetch{step: fetched, missed: true}, false},
		"on its way":         {&Fetch{step: fetching}, true},
		"waited for":         {&Fetch{step: fetching, patient: true}, false},
		"there":              {&Fetch{step: fetched}, false},
		"there, and used":    {&Fetch{step: used}, false},
		"there, patiently":   {&Fetch{step: fetched, patient: true}, false},
	} {
		x := briefing{fetch: tt.fetch}
		if got := x.late(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What a compaction takes comes again: all of it, or the local files alone; under a key of its own, if the last one may
// have been used.
func TestForget(t *testing.T) {
	for _, tt := range []struct {
		state  correlation.State
		before *Fetch
		whole  bool
		want   Fetch
	}{
		{correlation.Armed, &Fetch{}, true, Fetch{}},
		{correlation.Armed, &Fetch{}, false, Fetch{local: true}},
		{correlation.Armed, &Fetch{step: used, keyed: true, patient: true}, true, Fetch{keyed: true}},
		{correlation.Armed, &Fetch{step: used, keyed: true, local: true}, true, Fetch{keyed: true}},
		{correlation.Armed, &Fetch{local: true}, true, Fetch{local: true}}, // it was not read yet
		{correlation.IdentityGiven, &Fetch{step: fetched}, true, Fetch{patient: true}},
	} {
		x := briefing{state: tt.state, fetch: tt.before}
		if x.forget(tt.whole); !reflect.DeepEqual(*x.fetch, tt.want) {
			t.Errorf("%+v: %+v", tt, *x.fetch)
		}
	}
}

// Sessions are stored under the agent's own name, and numbered from 1 in the file of events.
func TestNewSession(t *testing.T) {
	c := newConnection(Options{Harness: "started-as"}, nil)
	if c.traits.KeepsFailed {
		t.Error("something is known of a harness that nobody knows")
	}
	if s := c.newSession("/w"); s.Number != 1 || s.exists.Open.Harness != "started-as" {
		t.Errorf("%d of %q", s.Number, s.exists.Open.Harness)
	}
	c.agent = Program{Name: "itself"}
	if s := c.newSession("/w"); s.Number != 2 || s.exists.Open.Harness != "itself" {
		t.Errorf("%d of %q", s.Number, s.exists.Open.Harness)
	}
}
