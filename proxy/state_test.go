package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Ways from one state to another, over frames and the database: what happens, what the last prompt carries, and where
// that leads. Package session has them all.
func TestStates(t *testing.T) {
	const ( // the ways into each state
		toArmed    = "new"
		toIdentity = "new, prompt"
		toFlight   = "new, hangs"
		toDoubt    = "new, fails"
		toDone     = "new, prompt"
	)
	tests := []struct {
		steps   string
		with    func(*scenario)
		carries string
		to      correlation.State
	}{
		{toArmed + ", prompt", nil, whole, correlation.Done},
		{toArmed + ", cancelled, ends, resume, prompt", keeper, whole, correlation.Done}, // nor in the next process
		{toArmed + ", ends, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", another proxy, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", prompt", late, "files", correlation.IdentityGiven},
		{toIdentity + ", no memories come, ends, load, memories here, prompt", late, "memories", correlation.Done},
		{toFlight + ", another proxy, load, fork, prompt", nil, "", correlation.Done},
		{toFlight + ", another proxy, load, prompt, the other dies, prompt", forgetful, whole, correlation.Done},
		{toFlight + ", is killed, resume", forgetful, "", correlation.Doubt},
		{toDoubt + ", ends, load, prompt", forgetful, whole, correlation.Done},
		{"new, slash, fails, ends, load, prompt", forgetful, whole, correlation.Done},
		{"new, slash, another proxy, load, there, fails, there, prompt", keeper, "", correlation.Done},
		{toDone + ", hangs, is killed, load", nil, "", correlation.Done},
		{toDone + ", ends, fork, prompt", nil, "", correlation.Done},
		{toDone + ", compact, ends, load, prompt", nil, "files", correlation.Done},
		{toDone + ", clear, prompt", nil, whole, correlation.Done},
		{toDone + ", compacts like claude, prompt", nil, "files", correlation.Done},
		{toDone + ", uses much, uses little, prompt", nil, "files", correlation.Done},
		{toDone + ", says a summary, prompt", likeOpencode, "files", correlation.Done},
		{toDone + ", takes much, takes a third, prompt", nil, "files", correlation.Done},
		{toDone + ", compacts itself, prompt", perPrompt, "files+recall", correlation.Done},
		{"new, off, ends, load, prompt", nil, "", correlation.Off},
		{"new, off, fork, prompt", nil, "", correlation.Off},
	}
	for _, tt := range tests {
		t.Run(tt.steps, func(t *testing.T) {
			t.Parallel()
			p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource(), change: func(*Options) {}}
			if tt.with != nil {
				tt.with(p)
			}
			p.start()
			for _, step := range parse(tt.steps) {
				steps[step](p)
			}
			if got := p.carried(); got != tt.carries {
				t.Errorf("the last prompt carries %q, want %q", got, tt.carries)
			}
			got, err := p.w.store.Find(t.Context(), "model", p.id)
			for end := time.Now().Add(patience); (err != nil || got.State != tt.to) && time.Now().Before(end); {
				time.Sleep(5 * time.Millisecond) // the ledger hears of it a little later
				got, err = p.w.store.Find(t.Context(), "model", p.id)
			}
			if got.State != tt.to {
				t.Errorf("in the end it is %q, want %q (%v)", got.State, tt.to, err)
			}
		})
	}
}

// parse splits steps; some names have a comma in them.
func parse(text string) []string {
	var all []string
	for _, name := range strings.Split(text, ", ") {
		if name == "off" {
			all[len(all)-1] += ", off"
			continue
		}
		all = append(all, name)
	}
	return all
}
