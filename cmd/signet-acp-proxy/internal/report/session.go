package report

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Session prints a session with all that belongs to it.
func Session(v runtime.Shown, s term.Screen) error {
	var l term.List
	l.Add("session", v.ACPXSessionID)
	l.Add("title", v.Title)
	l.Add("signet key", v.SignetSessionKey)
	if len(v.Keys) > 1 {
		l.Add("earlier keys", fmt.Sprint(v.Keys[:len(v.Keys)-1]))
	}
	l.Add("acpx record", v.ACPXRecordID)
	l.Add("harness", strings.TrimSpace(runtime.HarnessName(v.Harness)+" "+v.AgentVersion))
	if v.Client != "" {
		l.Add("client", strings.TrimSpace(v.Client+" "+v.ClientVersion))
	}
	l.Add("agent id", v.AgentID)
	l.Add("parent key", v.ParentSessionKey)
	if d := v.Delegation; d != nil {
		l.Add("works for", fmt.Sprintf("delegation %s, %s: %s", d.ID, d.State, strings.Join(d.Scope, "; ")))
	}
	l.Add("continues", v.Continues)
	l.Add("continued by", v.ContinuedBy)
	l.Add("folder", v.Cwd)
	l.Add("project", v.Project)
	l.Add("context", contextOf(correlation.State(v.State), v.Client, v.Live))
	l.Add("turns", strconv.Itoa(v.Turns))
	l.Add("started", term.Local(v.Started))
	l.Add("last active", term.Local(v.LastActive))
	l.Add("daemon warning", strings.Join(v.Warnings, "; "))
	l.Print(s)
	for _, section := range []struct {
		title, hint string
		size        int
		print       func(runtime.Shown, term.Screen) error
	}{
		{"Injected", " (--context prints the text)", len(v.Injections), injections},
		{"Recalled", "", len(v.Told), recalled},
		{"Notes", "", len(v.Notes), func(v runtime.Shown, s term.Screen) error { return listNotes(v.Notes, s) }},
		{"Files", "", len(v.Files), touched},
		{"Delegated", "", len(v.Delegated), func(v runtime.Shown, s term.Screen) error { return Delegations(v.Delegated, s) }},
		{"Delivered", "", len(v.Deliveries), deliveries},
	} {
		if section.size == 0 {
			continue
		}
		fmt.Fprintln(s.W, "\n"+s.Paint(term.Bold, section.title)+section.hint)
		if err := section.print(v, s); err != nil {
			return err
		}
	}
	return nil
}

func injections(v runtime.Shown, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{
		{Title: "AT"}, {Title: "KIND"}, {Title: "FROM"}, {Title: "OUTCOME"}, {Title: "BYTES"},
		{Title: "RECALLED", Spare: 3}, {Title: "SEARCH", Spare: 2}, {Title: "WAITED", Spare: 1},
	}}
	for _, in := range v.Injections {
		t.Add(term.Local(in.At), in.Kind, in.Source, string(in.Outcome), strconv.Itoa(in.Bytes),
			memory.InWords(in.Items), fmt.Sprint(in.FetchMS, " ms"), fmt.Sprint(in.HeldMS, " ms"))
	}
	if err := t.Print(s); err != nil {
		return err
	}
	for _, in := range v.Injections {
		if in.CutMS > 0 {
			fmt.Fprintf(s.W, "%s: the search was cut off after %d ms\n", term.Local(in.At), in.CutMS)
		}
	}
	return nil
}

func recalled(v runtime.Shown, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{{Title: "ITEM", Least: 20}, {Title: "KIND"}, {Title: "USE"}}}
	for _, one := range v.Told {
		name, isFile := memory.FileOf(one.Item)
		if !isFile {
			name = cmp.Or(one.Text, one.Item)
		}
		t.Add(name, one.Kind, one.Was)
	}
	return t.Print(s)
}

func touched(v runtime.Shown, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{{Title: "PATH", Least: 20}, {Title: "ACTION"}}}
	for _, one := range v.Files {
		t.Add(one.Path, one.Did)
	}
	return t.Print(s)
}

func deliveries(v runtime.Shown, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{
		{Title: "SINCE"}, {Title: "KIND"}, {Title: "STATE"}, {Title: "TURNS", Spare: 2}, {Title: "TRIES", Spare: 1},
		{Title: "ANSWER", Least: 12, Spare: 3},
	}}
	for _, one := range v.Deliveries {
		state := one.State
		if one.Error == delivery.KeptByDaemon { // taken in, though no summary is made of it
			state = "kept"
		}
		if one.Made != "" {
			state += ": " + one.Made
		}
		t.Add(term.Local(one.Owed), one.Kind, state, strconv.Itoa(one.Turns), strconv.Itoa(one.Attempts),
			cmp.Or(one.Error, one.Reply))
	}
	return t.Print(s)
}

// Injected prints the inserted texts, oldest first, byte for byte.
func Injected(inserted []correlation.Injection, s correlation.Session, std term.Streams) error {
	if len(inserted) == 0 {
		std.Say("nothing was inserted into %s", s.ACPID)
	}
	for _, in := range inserted {
		if _, err := io.WriteString(std.Out, in.Text); err != nil {
			return err
		}
	}
	return nil
}
