package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
)

// Agents prints the agents that can be asked.
func Agents(all []delegation.Agent, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{
		{Title: "AGENT"}, {Title: "STATUS"}, {Title: "GOOD AT", Least: 12, Spare: 3}, {Title: "CONFINED BY", Spare: 4}, {Title: "", Least: 20, Spare: 1},
	}}
	for _, a := range all {
		note := a.Fix
		if a.Session != "" {
			note = "in " + a.Session
		}
		t.Add(a.ID, a.Status, strings.Join(a.Capabilities, ", "), a.Bounds, note)
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
		note := delegation.ForUser(d.Reason)
		if note == "" {
			note = d.Progress
		}
		t.Add(d.ID, d.Agent, string(d.State), chars.OneLine(d.Task), term.Local(d.Started),
			string(d.Mode), note)
	}
	return t.Print(s)
}

// clear has a terminal forget what it shows.
const clear = "\x1b[H\x1b[2J"

// AtWork shows on a terminal what is being worked on, in place of what it showed before.
func AtWork(all []delegation.Row, now time.Time, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{
		{Title: "DELEGATION", Spare: 1}, {Title: "AGENT"}, {Title: "FOR", Spare: 2}, {Title: "TIME"},
		{Title: "TOKENS", Spare: 3}, {Title: "DOES", Least: 16}, {Title: "SAYS", Least: 16, Spare: 4},
	}}
	n := 0
	for _, d := range all {
		if d.State.Ended() {
			continue
		}
		n++
		tokens := "–"
		if d.Usage.Tokens != nil {
			tokens = fmt.Sprint(*d.Usage.Tokens)
		}
		took := now.Sub(d.Started).Truncate(time.Second)
		t.Add(d.ID[max(0, len(d.ID)-8):], d.Agent, cmp.Or(d.By, "you"), took.String(), tokens, d.Progress, d.Last)
	}
	if _, err := fmt.Fprint(s.W, clear); err != nil || n > 0 {
		return cmp.Or(err, t.Print(s))
	}
	_, err := fmt.Fprintln(s.W, "No agent is working. Press Ctrl-C to leave.")
	return err
}

// Doing prints in a line what a delegation does now, and what it has used.
func Doing(d delegation.Row, s term.Screen) error {
	note := d.Progress
	if d.Ended != nil {
		note = delegation.ForUser(d.Reason)
	}
	line := fmt.Sprintf("%s  %s  %s  %s  %s", time.Now().Format(time.TimeOnly), d.ID, d.Agent, d.State, Used(d.Usage))
	if note != "" {
		line += "  " + note
	}
	_, err := fmt.Fprintln(s.W, term.Wrap(chars.Printable(line), s.Width, 2))
	return err
}

// Used says what was used, in words.
func Used(u delegation.Usage) string {
	words := term.Count(u.Turns, "turn")
	if u.Tokens != nil {
		words += fmt.Sprintf(", %d tokens", *u.Tokens)
	}
	if u.Cost != nil {
		words += strings.TrimRight(fmt.Sprintf(", %g %s", *u.Cost, u.Currency), " ")
	}
	return words
}

// Delegation prints all that is known of one delegation.
func Delegation(d runtime.ShownDelegation, s term.Screen) {
	var l term.List
	l.Add("delegation", d.ID)
	l.Add("agent", strings.Join(slices.Compact([]string{d.Agent, string(d.Mode), d.Kind}), ", "))
	l.Add("state", string(d.State))
	l.Add("reason", delegation.ForUser(d.Reason))
	l.Add("at", d.Progress)
	l.Add("caller", d.Parent)
	l.Add("session", d.Session)
	l.Add("continues", d.Continues)
	l.Add("continued", d.ContinuedBy)
	l.Add("task", chars.OneLine(d.Task))
	l.Add("scope", strings.Join(d.Scope, "; "))
	l.Add("caller keeps", strings.Join(d.Kept, "; "))
	l.Add("started", term.Local(d.Started))
	if d.Ended != nil {
		l.Add("ended", term.Local(*d.Ended))
	}
	l.Add("used", Used(d.Usage))
	l.Add("branch", d.Branch)
	l.Add("folder", d.Folder)
	l.Add("wrote", strings.Join(d.Paths, ", "))
	if d.Check != nil {
		l.Add("check", d.Check.String())
	}
	l.Add("refused", strings.Join(d.Refused, "; "))
	if d.Verdict != nil {
		l.Add("verdict", strings.TrimSpace(fmt.Sprintf("%+.1f %s", *d.Verdict, d.Note)))
	}
	l.Print(s)
	if d.DiffStat != "" {
		title := "changes, not applied"
		if d.Applied {
			title = "changes, applied"
		}
		fmt.Fprintf(s.W, "\n%s\n%s\n", s.Paint(term.Bold, title), term.Visible(d.DiffStat))
	}
	if d.Check != nil && d.Check.Exit != 0 {
		fmt.Fprintf(s.W, "\n%s\n%s\n", s.Paint(term.Bold, "the last lines of the check"), term.Visible(d.Check.Last))
	}
	for _, text := range []string{d.Answer, d.Brief} {
		if text != "" {
			fmt.Fprintf(s.W, "\n%s\n", strings.TrimSpace(term.Visible(text)))
		}
	}
}

// Check prints how a check ended, below the last lines of its output.
func Check(c delegation.Check, s term.Screen) error {
	_, err := fmt.Fprintf(s.W, "%s\n%s\n", term.Visible(c.Last), term.Visible(c.String()))
	return err
}

// Delegated prints the result of the command delegate: on stdout only the child's last message. It returns an error for
// a delegation that did not end well.
func Delegated(a runtime.Delegated, std term.Streams) error {
	if a.Repeated {
		std.Say("already delegated as %s; use another --key to delegate again", a.ID)
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
		std.Say("its changes are in %s", a.Folder)
	case len(a.Paths) > 0:
		std.Say("its writes were discarded: %s", chars.Cut(strings.Join(a.Paths, ", "), 400))
	}
	if a.Branch != "" {
		std.Say("see signet-acp-proxy delegations diff %s; apply with delegations apply %s", a.ID, a.ID)
	}
	if a.Check != nil {
		std.Say("check: %s", a.Check)
	}
	for _, one := range a.Refused {
		std.Say("refused: %s", one)
	}
	if a.State != delegation.Done {
		return fmt.Errorf("%s: %s: %s", a.Agent, a.State, delegation.ForUser(a.Reason))
	}
	return nil
}
