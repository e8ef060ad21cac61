package runtime

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/notes"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// writesNotes reports whether agents are asked for notes after their sessions.
func writesNotes(c *config.Config) bool { return c.Notes == "agent" && notes.Refused() == nil }

// WriteNotes writes the notes that are due, where that is switched on. wrote is false where there are none, and where
// another process does it.
func WriteNotes(ctx context.Context, c *config.Config, db *sql.DB, log *logFile) (wrote bool, err error) {
	if !writesNotes(c) {
		return false, nil
	}
	StepBack()
	n, err := newNotesWriter(c, NewSessions(c, db, log), NewStore(c, db, log), log.Logger).WriteDue(ctx)
	if errors.Is(err, notes.ErrBusy) {
		err = nil
	}
	return n > 0, err
}

// NotesWriter returns the writer of notes, or why there is none here.
func (d *Data) NotesWriter() (notes.Writer, error) {
	return newNotesWriter(d.Config, d.Sessions, d.Memories, d.Log.Logger), notes.Refused()
}

func newNotesWriter(
	c *config.Config, store *correlation.Store, memories *embedded.Store, log zerolog.Logger,
) notes.Writer {
	self, err := os.Executable()
	if err != nil {
		log.Warn().Err(err).Msg("finding our own program")
	}
	return notes.Writer{
		Store: store, Memories: memories, Version: Version, Command: append([]string{self}, ownFlags(c)...),
		Folder: filepath.Join(c.Dir(), "notes"), Reads: readable(c), Memory: int64(c.DelegationMem),
		Model: c.NotesModel, Limit: c.NotesLimit, Log: log,
		Agent: func(s correlation.Session) (string, upstream.Profile, error) { return notesAgent(c, s) },
		Owed:  func(kept []embedded.Memory) []correlation.Debt { return owedNotes(c, kept) },
	}
}

// notesAgent returns the agent of a session, which is to note it.
func notesAgent(c *config.Config, s correlation.Session) (name string, p upstream.Profile, err error) {
	name = config.Canonical(s.Harness)
	p, known := c.Profile(name)
	switch {
	case s.Project == "":
		err = errors.New("it belongs to no project, so its notes would be recalled in all of them")
	case memory.Excluded(s.Cwd, c.Exclude):
		err = fmt.Errorf("%s is excluded from memory (.signet-ignore or exclude)", s.Cwd)
	case !known:
		err = fmt.Errorf("no command is known for its agent %s: set agents.%[1]s.command", name)
	case !c.Agent(name).Inject:
		err = fmt.Errorf("%s runs without memory (agents.%[1]s.inject)", name)
	}
	return name, p, err
}

// owedNotes is what on_session_end and the daemon get of notes.
func owedNotes(c *config.Config, kept []embedded.Memory) (owed []correlation.Debt) {
	if len(kept) == 0 {
		return nil
	}
	if len(c.OnSessionEnd) > 0 {
		text, _ := json.Marshal(kept) // texts and numbers
		owed = append(owed, correlation.Debt{Kind: correlation.KindHook, HookCommand: c.OnSessionEnd,
			Payload: string(text)})
	}
	if !c.NotesToDaemon || c.Memory != "auto" && c.Memory != "daemon" {
		return owed
	}
	for _, m := range kept {
		text, _ := json.Marshal(signet.Note{Content: m.Content, Tags: "notes," + m.Type + "," + m.Harness})
		owed = append(owed, correlation.Debt{Kind: correlation.KindMemory, URL: configured(c).URL,
			Payload: string(text)})
	}
	return owed
}

// A Noted is what notes run prints of a session.
type Noted struct {
	Session  string            `json:"session"` // the ACP id
	Agent    string            `json:"agent"`
	Model    string            `json:"model,omitempty"` // "": the agent's own
	Notes    []embedded.Memory `json:"notes"`
	Tokens   *int64            `json:"tokens"` // null, and of cost: not reported
	Cost     *float64          `json:"cost"`
	Currency string            `json:"currency,omitempty"`
	Error    string            `json:"error,omitempty"`
}

// Noted says what came of asking an agent. failed is why it was not asked; the error is the database's.
func (d *Data) Noted(ctx context.Context, session int64, got notes.Written, failed error) (Noted, error) {
	s, err := d.Sessions.Get(ctx, session)
	if err != nil {
		return Noted{}, err
	}
	n := Noted{Session: s.ACPID, Agent: got.Agent, Model: got.Model, Notes: append([]embedded.Memory{}, got.Kept...),
		Tokens: got.Tokens, Cost: got.Cost, Currency: got.Currency, Error: got.Error}
	if failed != nil {
		n.Error = failed.Error()
	}
	return n, nil
}
