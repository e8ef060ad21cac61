package report

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
)

// Agents prints the agents that can be asked.
func Agents(all []delegation.Agent, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{
		{Title: "AGENT"}, {Title: "STATUS"}, {Title: "GOOD AT", Least: 12, Spare: 3}, {Title: "RECORD", Least: 12, Spare: 2},
		{Title: "HELD BY", Spare: 4}, {Title: "", Least: 20, Spare: 1},
	}}
	for _, a := range all {
		var records []string
		for _, r := range a.Records {
			records = append(records, fmt.Sprintf("%s %d/%d (%+.1f)", r.Kind, r.Done, r.Count, r.Score))
		}
		note := a.Fix
		if a.Session != "" {
			note = "in " + a.Session
		}
		t.Add(a.ID, a.Status, strings.Join(a.Capabilities, ", "), strings.Join(records, ", "), a.Bounds, note)
	}
	return t.Print(s)
}

// Delegations prints delegations as a table.
func Delegations(all []delegation.Row, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{
		{Title: "DELEGATION"}, {Title: "AGENT"}, {Title: "STATE"}, {Title: "TASK", Least: 24},
		{Title: "STARTED", Spare: 3}, {Title: "MODE", Spare: 2}, {Title: "", Least: 16, Spare: 1},
	}}
	for _, d := range all {
		note := d.Reason
		if note == "" {
			note = d.Progress
		}
		t.Add(d.ID, d.Agent, string(d.State), strings.Join(strings.Fields(d.Task), " "), term.Local(d.Started),
			string(d.Mode), note)
	}
	return t.Print(s)
}

// Delegation prints all that is known of one delegation.
func Delegation(d delegation.Row, s term.Screen) {
	var l term.List
	l.Add("delegation", d.ID)
	l.Add("agent", fmt.Sprintf("%s, %s, %s", d.Agent, d.Mode, d.Kind))
	l.Add("state", string(d.State))
	l.Add("reason", d.Reason)
	l.Add("at", d.Progress)
	l.Add("asked by", d.Parent)
	l.Add("session", d.Session)
	l.Add("task", strings.Join(strings.Fields(d.Task), " "))
	l.Add("answers for", strings.Join(d.Scope, "; "))
	l.Add("leaves alone", strings.Join(d.Kept, "; "))
	l.Add("started", term.Local(d.Started))
	if d.Ended != nil {
		l.Add("ended", term.Local(*d.Ended))
	}
	used := fmt.Sprintf("%d turns of the model", d.Usage.Turns)
	if d.Usage.Tokens != nil {
		used += fmt.Sprintf(", %d tokens", *d.Usage.Tokens)
	}
	if d.Usage.Cost != nil {
		used += fmt.Sprintf(", %g %s", *d.Usage.Cost, d.Usage.Currency)
	}
	l.Add("used", used)
	l.Add("branch", d.Branch)
	l.Add("folder", d.Folder)
	l.Add("wrote", strings.Join(d.Paths, ", "))
	l.Add("refused", strings.Join(d.Refused, "; "))
	if d.Verdict != nil {
		l.Add("verdict", strings.TrimSpace(fmt.Sprintf("%+.1f %s", *d.Verdict, d.Note)))
	}
	l.Print(s)
	if d.Answer != "" {
		fmt.Fprintf(s.W, "\n%s\n", term.Visible(d.Answer))
	}
}

// Delegated prints the result of the command delegate: on stdout only the child's last message. It gives an error for a
// delegation that did not end well.
func Delegated(a runtime.Delegated, std term.Streams) error {
	if a.Repeated {
		std.Say("asked before, as %s; give another --key to ask again", a.ID)
	}
	if a.Running {
		fmt.Fprintln(std.Out, a.ID)
		return nil
	}
	if a.Answer != "" {
		answer := a.Answer
		if term.IsPerson(std.Out) {
			answer = term.Visible(answer)
		}
		fmt.Fprintln(std.Out, answer)
	}
	switch {
	case a.Branch != "":
		std.Say("changed on the branch %s of %s: %s", a.Branch, filepath.Join(a.Folder, "git"),
			chars.Cut(strings.Join(a.Paths, ", "), 400))
	case a.Folder != "":
		std.Say("what it has changed is in %s", a.Folder)
	case len(a.Paths) > 0:
		std.Say("it wrote, which was thrown away: %s", chars.Cut(strings.Join(a.Paths, ", "), 400))
	}
	for _, one := range a.Refused {
		std.Say("refused: %s", one)
	}
	if a.State != delegation.Done {
		return fmt.Errorf("%s: %s: %s", a.Agent, a.State, a.Reason)
	}
	return nil
}
