package runtime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/backfill"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// A AgentNoteRow is a note of an agent's own (backfill.AgentNote), as scripts read it.
type AgentNoteRow struct {
	ID      string    `json:"id"`
	Content string    `json:"content"`
	Project string    `json:"project"` // "" for any
	Created time.Time `json:"created"` // when the file was written
	Source  string    `json:"source"`  // agent:NAME
	Agent   string    `json:"agent"`
	File    string    `json:"file"`
	Line    int       `json:"line"`
	Heading string    `json:"heading,omitempty"`
	Origin  string    `json:"origin"` // who wrote it: user or assistant
}

// AgentNotes returns the notes that agents keep for themselves, without those about folders that have opted out.
func (d *Data) AgentNotes() (rows []AgentNoteRow, skipped []backfill.Skip, err error) {
	all, skipped, err := d.agentNotes()
	rows = []AgentNoteRow{}
	for _, n := range all {
		origin := "user"
		if n.ByAgent {
			origin = "assistant"
		}
		rows = append(rows, AgentNoteRow{ID: n.ID, Content: n.Text, Project: memory.Project(n.Cwd), Created: n.Written,
			Source: embedded.AgentNotesSession(n.Agent), Agent: n.Agent, File: n.File, Line: n.Line, Heading: n.Heading,
			Origin: origin})
	}
	return rows, skipped, err
}

func (d *Data) agentNotes() (all []backfill.AgentNote, skipped []backfill.Skip, err error) {
	home, err := memory.Home()
	if err != nil {
		return nil, nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	found, skipped := backfill.AgentNotes(backfill.Place{Home: home, Getenv: os.Getenv}, here)
	for _, n := range found {
		if n.Cwd == "" || !memory.Excluded(n.Cwd, d.Config.Exclude) {
			all = append(all, n)
		}
	}
	return all, skipped, nil
}

// Promote stores a note of an agent's own as a memory for the other agents.
func (d *Data) Promote(ctx context.Context, id string) (m embedded.Memory, added bool, err error) {
	all, _, err := d.agentNotes()
	if err != nil {
		return m, false, err
	}
	n, ok := backfill.FindAgentNote(all, id)
	switch {
	case !ok:
		return m, false, fmt.Errorf("no line has the id %q: memory list --agents shows them", id)
	case n.CwdUnknown:
		return m, false, fmt.Errorf("%s is about an unknown folder: run this in that folder",
			filepath.Base(filepath.Dir(filepath.Dir(n.File))))
	}
	return d.Memories.Add(ctx, embedded.Memory{Content: n.Text, Project: memory.Project(n.Cwd), Who: memory.Agent,
		Source: "memory promote", Harness: n.Agent, Session: embedded.AgentNotesSession(n.Agent), Context: n.Heading})
}
