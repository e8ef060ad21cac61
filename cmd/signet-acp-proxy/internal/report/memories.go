package report

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// Memories prints memories, of which there is one at least, as a table.
func Memories(ctx context.Context, d *runtime.Data, std term.Streams, all []embedded.Memory) error {
	s := term.On(std.Out)
	rules := all[0].Said > 0 // what stands as a rule, and nothing else
	t := &term.Table{Columns: []term.Column{
		{Title: "ID"}, {Title: "CREATED", Spare: 3}, {Title: "TYPE", Least: 4, Spare: 2}, {Title: "FROM", Spare: 4},
		{Title: "PROJECT", Least: 8, Spare: 1}, {Title: "CONTENT", Least: 28},
	}}
	if rules {
		t.Columns[1].Title, t.Columns[2].Title = "LAST STATED", "SCOPE"
		t.Columns = slices.Delete(t.Columns, 3, 4)
		t.Columns = slices.Insert(t.Columns, 2, term.Column{Title: "TIMES"})
	}
	for _, m := range all {
		id, created := m.ID, term.Local(m.Created)
		if s.Width > 0 { // leave room for the text
			var err error
			if id, err = d.Memories.Short(ctx, m.ID); err != nil {
				return err
			}
			created = m.Created.Local().Format(time.DateOnly)
		}
		if rules {
			t.Add(id, created, strconv.Itoa(m.Said), m.Scope, projectName(m), m.Content)
			continue
		}
		t.Add(id, created, m.Type, string(m.Who), projectName(m), m.Content)
	}
	return t.Print(s)
}

// Files prints files with the sessions that touched them.
func Files(found []embedded.FileWork, s term.Screen) error {
	for _, f := range found {
		if _, err := fmt.Fprintln(s.W, s.Paint(term.Bold, chars.Printable(f.Path))); err != nil {
			return err
		}
		for _, v := range f.Sessions {
			line := fmt.Sprintf("  %s  %-6s  %s  %s", v.At.Local().Format(time.DateOnly), v.Did, v.Session,
				chars.Printable(v.Words))
			if s.Width > 0 {
				line = term.Cut(line, s.Width)
			}
			if _, err := fmt.Fprintln(s.W, strings.TrimRight(line, " ")); err != nil {
				return err
			}
		}
	}
	return nil
}

func projectName(m embedded.Memory) string {
	switch {
	case m.Personal:
		return "(all)"
	case m.Project == "":
		return ""
	}
	return filepath.Base(m.Project)
}

// Memory prints one memory, and those that it has replaced.
func Memory(
	ctx context.Context, d *runtime.Data, std term.Streams, m embedded.Memory, replaced []embedded.Memory,
) error {
	var l term.List
	l.Add("id", m.ID)
	l.Add("type", m.Type)
	l.Add("project", m.Project)
	l.Add("repository", m.Repository)
	if m.Personal {
		l.Add("scope", "applies everywhere")
	}
	l.Add("origin", m.Who.ForPeople())
	l.Add("source", m.Source)
	l.Add("harness", runtime.HarnessName(m.Harness))
	l.Add("signet key", m.Session)
	l.Add("tags", m.Tags)
	l.Add("about", m.Context)
	l.Add("files", strings.Join(m.Files, ", "))
	if len(m.Turns) > 0 {
		l.Add("turns", strings.Trim(fmt.Sprint(m.Turns), "[]"))
	}
	l.Add("replaced by", m.ReplacedBy)
	l.Add("importance", fmt.Sprintf("%.2g", m.Importance))
	if m.Ratings > 0 {
		l.Add("rating", fmt.Sprintf("%.2g (%d)", m.Rating, m.Ratings))
	}
	told, err := d.Sessions.Book().ToldTo(ctx, m.ID)
	if err != nil {
		return err
	}
	if told > 0 {
		l.Add("recalled", "in "+term.Count(told, "session"))
	}
	l.Add("created", term.Local(m.Created))
	l.Add("updated", term.Local(m.Updated))
	l.Print(term.On(std.Out))
	if _, err := fmt.Fprintln(std.Out, "\n"+term.Visible(m.Content)); err != nil || len(replaced) == 0 {
		return err
	}
	fmt.Fprintln(std.Out, "\nreplaces:")
	return Memories(ctx, d, std, replaced)
}

// AgentNotes prints the notes that agents keep for themselves, with their place.
func AgentNotes(rows []runtime.AgentNoteRow, std term.Streams) error {
	if len(rows) == 0 {
		std.Say("no notes found in the folders of Claude Code and Codex")
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
		t.Add(r.ID, r.Agent, project, r.Content, fmt.Sprintf("%s:%d", memory.HomeShort(r.File), r.Line))
	}
	return t.Print(term.On(std.Out))
}

// NewInProfile tells a person once what has come into their profile.
func NewInProfile(ctx context.Context, d *runtime.Data, std term.Streams) error {
	fresh, err := d.Memories.NewInProfile(ctx)
	if err != nil || len(fresh) == 0 {
		return err
	}
	const most = 3
	var lines []string
	for _, m := range fresh[:min(len(fresh), most)] {
		lines = append(lines, "“"+chars.Title(m.Content)+"”")
	}
	if more := len(fresh) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("%d more", more))
	}
	std.Say("%d new: %s. Agents recall these; memory profile list shows all.", len(fresh), strings.Join(lines, ", "))
	return nil
}
