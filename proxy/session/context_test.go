package session

import (
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A prompt of a session that has its identity waits for memories that may still come, but only once it is patient.
func TestLate(t *testing.T) {
	for name, tt := range map[string]struct {
		x    context
		want bool
	}{
		"none was begun":     {context{patient: true}, true},
		"missed":             {context{fetch: &Fetch{missed: true}, patient: true}, true},
		"missed, and failed": {context{fetch: &Fetch{step: fetched, missed: true, err: memory.ErrUnavailable}, patient: true}, true},
		"missed, and there":  {context{fetch: &Fetch{step: fetched, missed: true}}, false},
		"on its way":         {context{fetch: &Fetch{}}, true},
		"waited for":         {context{fetch: &Fetch{}, patient: true}, false},
		"there":              {context{fetch: &Fetch{step: fetched}}, false},
		"there, and used":    {context{fetch: &Fetch{step: used}}, false},
		"there, patiently":   {context{fetch: &Fetch{step: fetched}, patient: true}, false},
	} {
		if got := tt.x.late(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What a compaction takes comes again: all of it, or the local files alone.
func TestForget(t *testing.T) {
	for _, tt := range []struct {
		state                  correlation.State
		local, whole           bool
		wantLocal, wantPatient bool
	}{
		{correlation.Armed, false, true, false, false},
		{correlation.Armed, false, false, true, false},
		{correlation.Armed, true, true, true, false},
		{correlation.IdentityGiven, false, true, false, true},
	} {
		x := context{state: tt.state, local: tt.local, fetch: &Fetch{}, patient: tt.state == correlation.Armed}
		x.forget(tt.whole)
		if x.fetch != nil || x.local != tt.wantLocal || x.patient != tt.wantPatient {
			t.Errorf("%+v: local %v, patient %v", tt, x.local, x.patient)
		}
	}
}

// Sessions are stored under the agent's own name, and numbered from 1 in the file of events.
func TestNewSession(t *testing.T) {
	c := New(Options{Harness: "started-as"})
	if c.traits().KeepsFailed {
		t.Error("something is known of a harness that nobody knows")
	}
	if s := c.newSession("/w"); s.Number != 1 || s.exists.open.Harness != "started-as" {
		t.Errorf("%d of %q", s.Number, s.exists.open.Harness)
	}
	c.agent = Program{Name: "itself"}
	if s := c.newSession("/w"); s.Number != 2 || s.exists.open.Harness != "itself" {
		t.Errorf("%d of %q", s.Number, s.exists.open.Harness)
	}
}
