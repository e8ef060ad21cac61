package embedded

import (
	"context"
	"database/sql"
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Note is what an agent noted of one of its sessions when it was asked.
type Note struct {
	Text, Question, Kind string
	Files, Replaces      []string // Replaces has ids of notes
	Turns                []int    `json:"-"` // that say what it names, by their places
}

// Note stores the notes of a session's turns, and that the noting has ended; owed is what is delivered of each one. The
// last turn takes them with it. What is known or was forgotten is left out. Errors: correlation.ErrNotFound, package
// sqlite's.
func (s *Store) Note(ctx context.Context, n correlation.Noting, harness string, turns []correlation.Said, notes []Note,
	owed func([]Memory) []correlation.Debt) (kept []Memory, err error) {
	last := turns[len(turns)-1]
	err = sqlite.Write(ctx, s.db, "storing notes", func(tx *sql.Tx) error {
		kept = nil
		gone, err := untaught(ctx, tx, turns)
		if err != nil {
			return err
		}
		for _, note := range notes {
			m := Memory{Content: note.Text, Context: note.Question, Type: note.Kind, Project: last.Project,
				Who: memory.Agent, Source: sourceNotes, Harness: harness, Session: last.Key, Turn: last.Turn,
				Created: sqlite.Unstamp(last.Started), noteParts: noteParts{Files: note.Files}}
			for _, at := range note.Turns {
				m.Turns = append(m.Turns, turns[at].N)
			}
			if err := m.prepare(s.opts.Now()); errors.Is(err, ErrEmpty) { // it was private, or a secret
				continue
			} else if err != nil {
				return err
			}
			if known, err := exists(ctx, tx, m, false); err != nil || known || gone[digest(m.Content)] {
				if err != nil {
					return err
				}
				continue
			}
			if err := s.insert(ctx, tx, m); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `UPDATE memories SET replaced_by = ?1 WHERE source = ?2 AND project = ?3
				AND uid <> ?1 AND uid IN (SELECT value FROM json_each(?4))`, m.ID, sourceNotes, m.Project,
				sqlite.List(note.Replaces)); err != nil {
				return err
			}
			m.Replaces = note.Replaces
			kept = append(kept, m)
		}
		n.Ended, n.Notes = s.opts.Now(), len(kept)
		if err := correlation.EndNoting(ctx, tx, n, owed(kept)); err != nil {
			return err
		}
		return refresh(ctx, tx, maxInline)
	})
	return kept, err
}

// untaught has the digests of what turns do not teach any more.
func untaught(ctx context.Context, tx *sql.Tx, turns []correlation.Said) (language.Set, error) {
	gone := language.Set{}
	for _, t := range turns {
		digests, err := correlation.Untaught(ctx, tx, t.Turn)
		if err != nil {
			return nil, err
		}
		for _, d := range digests {
			gone[d] = true
		}
	}
	return gone, nil
}

// NotesOf returns the notes of sessions, by the sessions' rows, in the order in which they were made.
func (s *Store) NotesOf(ctx context.Context, sessions []int64) (map[int64][]Memory, error) {
	found := map[int64][]Memory{}
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var session int64
		m, err := scanMemoryAnd(row, &session)
		found[session] = append(found[session], m)
		return err
	}, `SELECT `+memoryColumns+`, m.session FROM memories m WHERE m.source = '`+sourceNotes+`'
		AND m.session IN (SELECT value FROM json_each(?)) ORDER BY m.id`, sqlite.List(sessions))
	return found, sqlite.While("reading notes", err)
}
