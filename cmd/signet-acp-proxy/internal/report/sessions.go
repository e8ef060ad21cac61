// Package report prints for people what commands have found: tables, lists and texts as wide as the screen. It looks up
// nothing but how short an id may be.
package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Sessions prints sessions, each below the one that it works for. On a screen ids are abbreviated.
func Sessions(all []runtime.Listed, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{
		{Title: "SESSION"}, {Title: "TITLE", Least: 24}, {Title: "HARNESS", Least: 6, Spare: 5},
		{Title: "LAST ACTIVE", Spare: 4}, {Title: "TURNS", Spare: 1}, {Title: "CONTEXT", Spare: 2},
		{Title: "FOLDER", Least: 12, Spare: 3, Left: true},
	}}
	for _, one := range tree(all) {
		id := one.ACPID
		if s.Width > 0 {
			id = one.Short
		}
		t.Add(id, one.Title, runtime.HarnessName(one.Harness), term.Local(one.LastActive), strconv.Itoa(one.Turns),
			contextOf(one.State, one.Client, one.Live), memory.HomeShort(one.Cwd))
	}
	return t.Print(s)
}

// tree puts sessions below the one that they work for, if that is listed, too, with their titles indented; otherwise it
// keeps their order.
func tree(all []runtime.Listed) (branches []runtime.Listed) {
	below, listed := map[string][]runtime.Listed{}, map[string]bool{}
	for _, one := range all {
		below[one.Parent] = append(below[one.Parent], one)
		listed[one.ACPID] = true
	}
	added := map[int64]bool{}
	var add func(one runtime.Listed, depth int)
	add = func(one runtime.Listed, depth int) {
		if added[one.ID] {
			return
		}
		added[one.ID] = true
		if depth > 0 {
			one.Title = strings.Repeat("  ", depth-1) + "└ " + one.Title
		}
		branches = append(branches, one)
		for _, called := range below[one.ACPID] {
			add(called, depth+1)
		}
	}
	for _, one := range all {
		if !listed[one.Parent] {
			add(one, 0)
		}
	}
	for _, one := range all { // sessions that work for each other, in a broken database
		add(one, 0)
	}
	return branches
}

// contextOf says in words what became of a session's context. An imported one never had a prompt to add it to.
func contextOf(state correlation.State, client string, live bool) string {
	if state == correlation.Armed && strings.HasPrefix(client, correlation.Backfill) {
		return "imported"
	}
	text := map[correlation.State]string{
		correlation.Armed:         "not added yet",
		correlation.IdentityGiven: "identity added",
		correlation.InFlight:      "being added",
		correlation.Doubt:         "perhaps lost",
		correlation.Done:          "added",
		correlation.Off:           "off",
	}[state]
	text = cmp.Or(text, string(state))
	if live {
		return text + ", live"
	}
	return text
}
