package delegation

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCheck(t *testing.T) {
	day := int(maxTime.Seconds())
	for name, tt := range map[string]struct {
		request Request
		refused string
	}{
		"the least":         {Request{Task: " x "}, ""},
		"no task":           {Request{Task: " \n"}, "task is empty"},
		"a task that fits":  {Request{Task: strings.Repeat("x", maxTask)}, ""},
		"one that does not": {Request{Task: strings.Repeat("x", maxTask+1)}, "name files, do not"},
		"to edit":           {Request{Task: "x", Mode: Edit}, ""},
		"another mode":      {Request{Task: "x", Mode: "write"}, `mode must be read or edit, not "write"`},
		"turns below zero":  {Request{Task: "x", Budget: Budget{Turns: -1}}, "not be negative"},
		"tokens below zero": {Request{Task: "x", Budget: Budget{Tokens: -1}}, "not be negative"},
		"cost below zero":   {Request{Task: "x", Budget: Budget{Cost: -1}}, "not be negative"},
		"a cost of nothing": {Request{Task: "x", Budget: Budget{Cost: math.NaN()}}, "not be negative"},
		"time below zero":   {Request{Task: "x", Budget: Budget{Seconds: -1}}, "not be negative"},
		"a day":             {Request{Task: "x", Budget: Budget{Seconds: day}}, ""},
		"and a second":      {Request{Task: "x", Budget: Budget{Seconds: day + 1}}, "at most"},
	} {
		r := tt.request
		err := r.check()
		if (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "the least" && (r.Task != "x" || r.Mode != Read || r.Budget.Seconds != int(DefaultTime.Seconds())) {
			t.Errorf("%+v", r)
		}
	}
}

func TestBudget(t *testing.T) {
	got := Budget{Turns: 5, Tokens: 0, Cost: 2, Seconds: 9}.within(Budget{Turns: 3, Tokens: 7, Seconds: 9})
	if diff := cmp.Diff(Budget{Turns: 3, Tokens: 7, Cost: 2, Seconds: 9}, got); diff != "" {
		t.Errorf("within (-want +got):\n%s", diff)
	}
	n, cost := int64(10), 0.5
	u := Usage{Turns: 3, Tokens: &n, Cost: &cost}
	for name, tt := range map[string]struct {
		budget Budget
		used   Usage
		over   bool
	}{
		"no limit":         {Budget{}, u, false},
		"as many turns":    {Budget{Turns: 3}, u, false},
		"more":             {Budget{Turns: 2}, u, true},
		"all tokens":       {Budget{Tokens: 10}, u, true},
		"not all":          {Budget{Tokens: 11}, u, false},
		"tokens unknown":   {Budget{Tokens: 1}, Usage{}, false},
		"the whole cost":   {Budget{Cost: 0.5}, u, true},
		"not the whole":    {Budget{Cost: 0.6}, u, false},
		"cost not unknown": {Budget{Cost: 0.1}, Usage{}, false},
	} {
		if why := tt.budget.over(tt.used); (why != "") != tt.over {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// A row says who asked, and what there is of it.
func TestRow(t *testing.T) {
	now := time.Now()
	running := Delegation{State: Running, Caller: Caller{Key: "acp-1"}, Run: Run{Progress: "working"}, Created: now, Ended: now}
	if r := running.Row(); r.Parent != "acp-1" || r.Progress != "working" || r.Ended != nil || r.Paths == nil || r.Refused == nil {
		t.Errorf("%+v", r)
	}
	ended := Delegation{State: Done, Caller: Caller{Key: "acp-1", Inside: "01D"}, Run: Run{Progress: "working"}, Ended: now}
	if r := ended.Row(); r.Parent != "01D" || r.Progress != "" || !r.Ended.Equal(now) {
		t.Errorf("%+v", r)
	}
	for want, d := range map[string]Delegation{"": {}, "another agent": {Caller: Caller{Inside: "01D"}},
		"claude": {Caller: Caller{Key: "acp-1", Harness: "claude"}}} {
		if got := d.By(); got != want {
			t.Errorf("by %q, want %q", got, want)
		}
	}
}
