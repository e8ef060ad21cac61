package proxy

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// Every way from one state to another: what happens, what the last prompt carries, and where that leads.
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
		// armed
		{toArmed, nil, "", correlation.Armed},
		{toArmed + ", prompt", nil, whole, correlation.Done},
		{toArmed + ", short", nil, whole, correlation.Done},
		{toArmed + ", cancelled", nil, whole, correlation.Doubt},
		{toArmed + ", cancelled, prompt", keeper, whole, correlation.Done},               // failed ones it keeps, but of these nobody knows
		{toArmed + ", cancelled, ends, resume, prompt", keeper, whole, correlation.Done}, // nor in the next process
		{toArmed + ", cancelled, ends, load", nil, "", correlation.Done},                 // it shows
		{toArmed + ", cancelled, prompt", cancels(session.CancelledKept), "", correlation.Done},
		{toArmed + ", cancelled, prompt", cancels(session.CancelledBegun), "", correlation.Done}, // it has said something
		{toArmed + ", cancelled", cancels(session.CancelledForgot), whole, correlation.Armed},
		{toArmed + ", cancelled, prompt", cancels(session.CancelledForgot), whole, correlation.Done},
		{toArmed + ", cancelled, ends, load, prompt", cancels(session.CancelledForgot), whole, correlation.Done},
		{toArmed + ", refused", nil, whole, correlation.Armed},
		{toArmed + ", refused, prompt", nil, whole, correlation.Done},
		{toArmed + ", fails", nil, whole, correlation.Doubt},
		{toArmed + ", hangs", nil, whole, correlation.InFlight},
		{toArmed + ", hangs, prompt", nil, "", correlation.Doubt},
		{toArmed + ", slash", nil, "", correlation.Armed},
		{toArmed + ", compact", nil, "", correlation.Armed},
		{toArmed + ", prompt, off", nil, "", correlation.Off},
		{toArmed + ", ends, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", ends, resume, prompt", nil, whole, correlation.Done},
		{toArmed + ", is killed, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", close, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", fork", nil, "", correlation.Armed},
		{toArmed + ", fork, prompt", nil, whole, correlation.Done},
		{toArmed + ", another proxy, load, prompt", nil, whole, correlation.Done},
		{toArmed + ", prompt", func(p *scenario) { p.mem.context = memory.Context{} }, "", correlation.Done},
		{toArmed + ", prompt", func(p *scenario) { p.mem.err = memory.ErrOwned }, "", correlation.Done},
		{toArmed + ", prompt", func(p *scenario) { p.mem.err = memory.ErrUnavailable }, "files", correlation.IdentityGiven},
		{toArmed + ", prompt", late, "files", correlation.IdentityGiven},

		// identity given
		{toIdentity + ", prompt", late, "", correlation.IdentityGiven},
		{toIdentity + ", memories come, prompt", late, "memories", correlation.Done},
		{toIdentity + ", memories come, slash", late, "", correlation.IdentityGiven},
		{toIdentity + ", memories come, refused", late, "memories", correlation.IdentityGiven},
		{toIdentity + ", memories come, refused, prompt", late, "memories", correlation.Done},
		{toIdentity + ", memories come, fails", late, "memories", correlation.Doubt},
		{toIdentity + ", memories come, fails, prompt", late, "memories", correlation.Done},
		{toIdentity + ", memories come, hangs", late, "memories", correlation.InFlight},
		{toIdentity + ", fork", late, "files", correlation.IdentityGiven},
		{toIdentity + ", compact", late, "", correlation.Armed},
		{toIdentity + ", clear, memories come, prompt", late, whole, correlation.Done},
		{toIdentity + ", prompt, off", late, "", correlation.Off},
		{toIdentity + ", no memories come, ends, load, memories here, prompt", late, "memories", correlation.Done},

		// in flight
		{toFlight + ", fork", nil, whole, correlation.Done},
		{toFlight + ", fork, prompt", nil, "", correlation.Done},
		{toFlight + ", another proxy, load, prompt", nil, "", correlation.InFlight},
		{toFlight + ", another proxy, load, fork, prompt", nil, "", correlation.Done},
		{toFlight + ", another proxy, load, prompt, the other dies, prompt", forgetful, whole, correlation.Done},
		{toFlight + ", another proxy, load, the other dies, prompt", keeper, "", correlation.Done},
		{toFlight + ", is killed, resume", forgetful, "", correlation.Doubt},
		{toFlight + ", ends, resume", forgetful, "", correlation.Doubt},

		// doubt
		{toDoubt + ", prompt", forgetful, whole, correlation.Done},
		{toDoubt + ", prompt", keeper, "", correlation.Done},
		{toDoubt + ", refused", forgetful, whole, correlation.Doubt},
		{toDoubt + ", fails", forgetful, whole, correlation.Doubt},
		{toDoubt + ", slash", forgetful, "", correlation.Doubt},
		{toDoubt + ", fork", forgetful, whole, correlation.Doubt},
		{toDoubt + ", clear", forgetful, "", correlation.Armed},
		{toDoubt + ", compact", forgetful, "", correlation.Doubt},
		{toDoubt + ", prompt, off", forgetful, "", correlation.Off},
		{toDoubt + ", ends, load", keeper, "", correlation.Done},
		{toDoubt + ", ends, load, prompt", keeper, "", correlation.Done},
		// nobody knows that it keeps, but it shows
		{toDoubt + ", ends, load", func(p *scenario) { p.model.keeps = true }, "", correlation.Done},
		// it shows nothing: there was no other turn
		{toDoubt + ", ends, load", forgetful, "", correlation.Doubt},
		{toDoubt + ", ends, load, prompt", forgetful, whole, correlation.Done},
		{"new, slash, fails, ends, load", forgetful, "", correlation.Armed},
		{"new, slash, fails, ends, load, prompt", forgetful, whole, correlation.Done},
		{"new, slash, fails, ends, load", silent, "", correlation.Doubt},
		{"new, slash, fails, ends, resume", forgetful, "", correlation.Doubt},
		{"new, slash, fails, is killed, load, prompt", forgetful, whole, correlation.Done},
		{"new, slash, hangs, is killed, load", forgetful, "", correlation.Armed},
		{"new, slash, hangs, is killed, load", keeper, "", correlation.Done},
		{"new, fails, load", forgetful, whole, correlation.Doubt},
		{"new, slash, fails, load", forgetful, whole, correlation.Armed},
		{"new, slash, load, fails, prompt", forgetful, whole, correlation.Done}, // what was shown before says nothing
		{"new, fails, another proxy, load, prompt", forgetful, whole, correlation.Done},

		// as above, by two
		{"new, slash, another proxy, load, there, fails, there, prompt", keeper, "", correlation.Done},
		{"new, slash, another proxy, load, there, fails, there, prompt", forgetful, whole, correlation.Done},
		{"new, another proxy, load, there, refused, there, prompt", nil, whole, correlation.Done},

		// done
		{toDone, nil, whole, correlation.Done},
		{toDone + ", prompt", nil, "", correlation.Done},
		{toDone + ", refused", nil, "", correlation.Done},
		{toDone + ", cancelled, prompt", nil, "", correlation.Done},
		{toDone + ", fails", nil, "", correlation.Done},
		{toDone + ", hangs", nil, "", correlation.Done},
		{toDone + ", hangs, is killed, load", nil, "", correlation.Done},
		{toDone + ", fork, prompt", nil, "", correlation.Done},
		{toDone + ", ends, load, prompt", nil, "", correlation.Done},
		{toDone + ", ends, resume, prompt", nil, "", correlation.Done},
		{toDone + ", ends, fork, prompt", nil, "", correlation.Done},
		{toDone + ", close, load, prompt", nil, "", correlation.Done},
		{toDone + ", prompt, off", nil, "", correlation.Off},
		{toDone + ", compact", nil, "", correlation.Armed},
		{toDone + ", compact, prompt", nil, "files", correlation.Done},
		{toDone + ", compact, ends, load, prompt", nil, "files", correlation.Done},
		{toDone + ", stopped compact", nil, "", correlation.Done},
		{toDone + ", not advertised", nil, "", correlation.Done},
		{toDone + ", compact, prompt", reinject(session.ReinjectAll), whole, correlation.Done},
		{toDone + ", compact", reinject(session.ReinjectNever), "", correlation.Done},
		{toDone + ", clear", nil, "", correlation.Armed},
		{toDone + ", clear, prompt", nil, whole, correlation.Done},
		{toDone + ", clear", reinject(session.ReinjectNever), "", correlation.Done},
		{toDone + ", compacts itself", nil, "", correlation.Armed},
		{toDone + ", compacts itself, prompt", nil, "files", correlation.Done},
		{toDone + ", compacts like claude, prompt", nil, "files", correlation.Done},
		{toDone + ", compacts slowly, prompt", nil, "files", correlation.Done},
		{toDone + ", runs a tool, prompt", nil, "", correlation.Done},
		{toDone + ", uses much, uses less, prompt", nil, "", correlation.Done},
		{toDone + ", uses much, uses little, prompt", nil, "files", correlation.Done},
		{toDone + ", summarize, prompt", nil, "", correlation.Done},
		{toDone + ", summarize, prompt", likeOpencode, "files", correlation.Done},
		{toDone + ", says a summary, prompt", likeOpencode, "files", correlation.Done},
		{"new, says a summary, prompt", likeOpencode, "files", correlation.Done},
		{toDone + ", takes much, takes little, prompt", nil, "files", correlation.Done},
		{toDone + ", takes much for tools, takes a third, prompt", nil, "", correlation.Done},
		{toDone + ", takes much, takes a third, prompt", nil, "files", correlation.Done},
		{toDone + ", uses a tool, prompt", likeOpencode, "", correlation.Done},
		{toDone + ", says a summary, prompt", nil, "", correlation.Done},
		{toDone + ", a long prompt, compacts itself, prompt", likeCodex, "files", correlation.Done},
		{toDone + ", compacts itself, prompt", likeCodex, "", correlation.Done},
		{toDone + ", uses much, uses little, prompt", likeCodex, "", correlation.Done},
		{toDone + ", clear, prompt", likeCodex, whole, correlation.Done},
		{toDone + ", fails to compact", nil, "", correlation.Done},
		{toArmed + ", compacts itself", nil, whole, correlation.Armed}, // what the prompt carried may be gone
		{toDone + ", ends, load, prompt", func(p *scenario) { p.model.old = true }, "", correlation.Done},
		{toDone + ", prompt", perPrompt, "", correlation.Done}, // it brings nothing new to mind
		{toDone + ", short", perPrompt, "", correlation.Done},
		{toDone + ", compacts itself, prompt", perPrompt, "files+recall", correlation.Done},

		// off
		{"new, off", nil, "", correlation.Off},
		{"new, off, prompt", nil, "", correlation.Off},
		{"new, off, ends, load, prompt", nil, "", correlation.Off},
		{"new, off, fork, prompt", nil, "", correlation.Off},
		{"new, off, clear, prompt", nil, "", correlation.Off},
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
			got := p.w.session("model", p.id)
			for end := time.Now().Add(patience); got.State != tt.to &&
				time.Now().Before(end); got = p.w.session("model", p.id) {
				time.Sleep(5 * time.Millisecond) // the ledger hears of it a little later
			}
			if got.State != tt.to {
				t.Errorf("in the end it is %q, want %q", got.State, tt.to)
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

func TestSteps(t *testing.T) {
	if got := parse("new, off, prompt"); !slices.Equal(got, []string{"new, off", "prompt"}) {
		t.Errorf("got %q", got)
	}
}
