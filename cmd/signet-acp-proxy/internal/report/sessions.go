// Package report is how what commands have found looks to a person: tables, lists and texts as wide as the screen
// is. It looks nothing up, but for how short an id may be.
package report

import (
	"fmt"
	"strconv"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Sessions prints sessions. On a screen ids are as short as they can be.
func Sessions(all []runtime.Listed, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{
		{Title: "SESSION"}, {Title: "TITLE", Least: 24}, {Title: "HARNESS", Least: 6, Spare: 5},
		{Title: "LAST ACTIVE", Spare: 4}, {Title: "TURNS", Spare: 1}, {Title: "CONTEXT", Spare: 2},
		{Title: "FOLDER", Least: 12, Spare: 3, Left: true},
	}}
	for _, one := range all {
		id := one.ACPID
		if s.Width > 0 {
			id = one.Short
		}
		t.Add(id, one.Title, one.Harness, term.Local(one.LastActive), strconv.Itoa(one.Turns),
			contextOf(one.Session), runtime.HomeShort(one.Cwd))
	}
	return t.Print(s)
}

// contextOf says in words how far a session has come with its context.
func contextOf(s correlation.Session) string {
	text := map[correlation.State]string{
		correlation.Armed:         "not yet",
		correlation.IdentityGiven: "identity; memories follow",
		correlation.InFlight:      "on its way",
		correlation.Doubt:         "sent, perhaps lost",
		correlation.Done:          "given",
		correlation.Off:           "none wanted",
	}[s.State]
	if text == "" {
		text = string(s.State)
	}
	if s.Live {
		return fmt.Sprintf("%s, live", text)
	}
	return text
}
