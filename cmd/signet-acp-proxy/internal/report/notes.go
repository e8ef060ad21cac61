package report

import (
	"fmt"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// AgentNotes prints the notes that agents keep for themselves, with their place.
func AgentNotes(rows []runtime.NoteRow, std term.Streams) error {
	if len(rows) == 0 {
		std.Say("nothing found: agents keep their notes in their own folders (docs/backfill.md)")
		return nil
	}
	t := &term.Table{Columns: []term.Column{
		{Title: "LINE"}, {Title: "AGENT", Spare: 2}, {Title: "PROJECT", Least: 8, Spare: 1},
		{Title: "CONTENT", Least: 28}, {Title: "FILE", Least: 12, Spare: 3, Left: true},
	}}
	for _, r := range rows {
		project := ""
		if r.Project != "" {
			project = filepath.Base(r.Project)
		}
		t.Add(r.ID, r.Agent, project, r.Content, fmt.Sprintf("%s:%d", runtime.HomeShort(r.File), r.Line))
	}
	return t.Print(term.On(std.Out))
}
