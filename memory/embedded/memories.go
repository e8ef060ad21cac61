package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Limits of what is stored, in bytes. Something longer is refused, never silently cut.
const (
	MaxContent = 64 << 10
	maxField   = 1 << 10 // type, tags, project, …
)

// prepare checks what a caller gives and makes it fit to be stored: without private passages and secrets, and with
// defaults.
func (m *Memory) prepare(now time.Time) error {
	if len(m.Content) > MaxContent || len(m.Context) > MaxContent {
		return ErrTooLong
	}
	m.Content, _ = privacy.WithoutPrivate(strings.ToValidUTF8(m.Content, "\ufffd"))
	m.Content = privacy.Redact(strings.TrimSpace(strings.ReplaceAll(m.Content, "\x00", "")))
	if m.Content == "" {
		return ErrEmpty
	}
	m.Context, _ = privacy.WithoutPrivate(strings.ToValidUTF8(m.Context, "\ufffd"))
	m.Context = privacy.Redact(m.Context)
	for _, field := range []*string{&m.ID, &m.Type, &m.Project, &m.Source, &m.Harness, &m.Session, &m.Tags} {
		if *field = strings.ToValidUTF8(*field, "\ufffd"); len(*field) > maxField {
			return ErrTooLong
		}
	}
	for _, field := range []*string{&m.Type, &m.Tags} {
		*field, _ = privacy.WithoutPrivate(*field)
		*field = privacy.Redact(strings.TrimSpace(*field))
	}
	m.ID, m.Type = cmp.Or(m.ID, newID()), cmp.Or(m.Type, "fact")
	m.Source = cmp.Or(m.Source, "memory add")
	if !slices.Contains(memory.Whos, m.Who) {
		m.Who = whoOf(m.Origin, m.Source)
	}
	m.Origin = originOf(m.Who)
	if m.Importance == 0 && !m.ImportanceSet {
		m.Importance = 0.5
	}
	m.ImportanceSet = false
	if !(m.Importance >= 0 && m.Importance <= 1) {
		return errImportance
	}
	if m.Created.IsZero() {
		m.Created = now
	}
	if m.Updated.IsZero() {
		m.Updated = m.Created
	}
	return nil
}

// Add stores a memory: Content, and of the other fields those that are not zero (Importance also where ImportanceSet).
// If the project has the same text already, that memory is updated instead. It returns the memory as stored, and
// whether it is new; what a child says changes nothing that is there. Errors: ErrEmpty, ErrTooLong, one of
// importance, package sqlite's.
func (s *Store) Add(ctx context.Context, m Memory) (stored Memory, added bool, err error) {
	given := m
	m.ID = ""
	if err := m.prepare(s.opts.Now()); err != nil {
		return Memory{}, false, err
	}
	kind := m.Type
	if given.Type == "" {
		kind = ""
	}
	err = sqlite.Write(ctx, s.db, "storing a memory", func(tx *sql.Tx) error {
		var uid string
		err := tx.QueryRowContext(ctx, `SELECT uid FROM memories WHERE digest = ? AND project = ? ORDER BY id DESC
			LIMIT 1`, digest(m.Content), m.Project).Scan(&uid)
		if errors.Is(err, sql.ErrNoRows) {
			added = true
			uid = m.ID
			err = s.insert(ctx, tx, m)
		} else if err == nil && m.Who != memory.Child {
			// What was stored on purpose stays when the turn that said it first goes.
			_, err = tx.ExecContext(ctx, `UPDATE memories
				SET content = ?, updated = ?, type = coalesce(nullif(?, ''), type), tags = coalesce(nullif(?, ''),
				tags), importance = CASE WHEN ? THEN ? ELSE importance END, personal = max(personal, ?), source = ?,
				turn = NULL
				WHERE uid = ?`,
				m.Content, s.opts.Now().UnixMilli(), kind, m.Tags, given.ImportanceSet ||
					given.Importance != 0, m.Importance, m.Personal, m.Source, uid)
		}
		if err != nil {
			return err
		}
		if stored, err = memoryOf(ctx, tx, uid); err != nil {
			return err
		}
		return refresh(ctx, tx, maxInline)
	})
	return stored, added, err
}

// insert writes a prepared memory as a row.
func (s *Store) insert(ctx context.Context, tx *sql.Tx, m Memory) error {
	var from correlation.Said // zero: of no turn, or of one that is gone
	if m.Turn != 0 {
		var err error
		if from, err = correlation.SaidIn(ctx, tx, m.Turn); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	note, err := json.Marshal(m.noteParts)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO memories (uid, type, project, personal, who, source, harness, key,
		importance, rating, ratings, created, updated, digest, tags, context, position, content, turn, session, note)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, ?)`, m.ID, m.Type, m.Project,
		m.Personal, m.Who, m.Source, m.Harness, m.Session, m.Importance, m.Rating, m.Ratings,
		m.Created.UnixMilli(), m.Updated.UnixMilli(),
		digest(m.Content), m.Tags, m.Context, m.Position, m.Content, from.Turn, from.Session, string(note))
	return err
}

// Get returns the memory or passage with an id, or with the only id that begins so. Errors: ErrNotFound, ErrAmbiguous,
// package sqlite's.
func (s *Store) Get(ctx context.Context, id string) (Memory, error) {
	uid, err := resolve(ctx, s.db, id)
	if err != nil {
		return Memory{}, sqlite.While("looking for a memory", err)
	}
	m, err := memoryOf(ctx, s.db, uid)
	m.Repository = memory.Repository(m.Project)
	return m, sqlite.While("reading a memory", err)
}

// Sees reports whether a session of a project may see a memory: one of its own, one of no project, the person's own,
// or any where that is configured.
func (s *Store) Sees(project string, m Memory) bool {
	return s.opts.OtherProjects || m.Personal && !s.opts.NotPersonal || m.Project == "" || m.Project == project
}

// OtherProjects reports whether sessions may see the memories of other projects.
func (s *Store) OtherProjects() bool { return s.opts.OtherProjects }

// A Change says what becomes of a memory; nil leaves a field.
type Change struct {
	Content, Type, Tags *string
	Importance          *float64
	Source              string     // by which call; empty: "memory_modify"
	Who                 memory.Who // that changes it; empty: an agent, by a tool
}

// Modify changes a memory. What a turn taught is not learned again as it was; a passage of a conversation becomes a
// memory. Errors: ErrNotFound, ErrAmbiguous, ErrEmpty, ErrTooLong, one of importance, package sqlite's.
func (s *Store) Modify(ctx context.Context, id string, c Change) (Memory, error) {
	var m Memory
	err := sqlite.Write(ctx, s.db, "changing a memory", func(tx *sql.Tx) error {
		uid, err := resolve(ctx, tx, id)
		if err != nil {
			return err
		}
		if m, err = memoryOf(ctx, tx, uid); err != nil {
			return err
		}
		before := m
		if err := m.change(c, s.opts.Now()); err != nil {
			return err
		}
		if err := forgetInTurn(ctx, tx, uid); err != nil {
			return err
		}
		if c.Content != nil { // the rule says something else from now on, however it was said before
			if err := s.dropSayings(ctx, tx, before); err != nil {
				return err
			}
		}
		r, err := tx.ExecContext(ctx, `UPDATE memories
			SET content = ?, digest = ?, type = ?, tags = ?, importance = ?, source = ?, updated = ? WHERE uid = ?`,
			m.Content, digest(m.Content), m.Type, m.Tags, m.Importance, m.Source, m.Updated.UnixMilli(), uid)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil {
			return err
		} else if n == 0 { // a passage: from now on it is a memory
			m.Position, m.Session = nil, ""
			if m.Type == typeSaid {
				m.Type = "fact"
			}
			if err := s.insert(ctx, tx, m); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE memories SET announced = 1 WHERE uid = ? AND source = ?`, uid,
			sourceProfile) // who keeps a line has seen it
		if err != nil {
			return err
		}
		return refresh(ctx, tx, maxInline)
	})
	if err != nil {
		return Memory{}, err
	}
	return m, nil
}

// change makes a change, and what it makes fit to be stored.
func (m *Memory) change(c Change, now time.Time) error {
	for _, f := range []struct{ from, to *string }{{c.Content, &m.Content}, {c.Type, &m.Type}, {c.Tags, &m.Tags}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if c.Importance != nil {
		m.Importance = *c.Importance
	}
	m.ImportanceSet = true
	// What an agent has changed is not what the person said or pinned.
	by := cmp.Or(c.Who, memory.Tool)
	if c.Content != nil || c.Source == Pinned || !m.Who.ByPerson() {
		m.Who = by
	}
	if m.Source != Pinned || !by.ByPerson() {
		m.Source = cmp.Or(c.Source, "memory_modify")
	}
	m.Updated = now
	return m.prepare(now)
}

// Keep keeps a line of the profile, as text where that is not "": it goes before those that nobody has looked at.
// Errors as Modify's.
func (s *Store) Keep(ctx context.Context, id, text string) (Memory, error) {
	m, err := s.Get(ctx, id)
	if err != nil {
		return m, err
	}
	text = cmp.Or(text, m.Content)
	return s.Modify(ctx, m.ID, Change{Content: &text, Source: sourceProfile, Who: memory.Typed})
}

// Feedback notes how helpful memories were, -1 (harmful) to 1 (helpful). unknown are the ids that no memory and no
// passage has. Errors: a rating out of range, package sqlite's.
func (s *Store) Feedback(ctx context.Context, ratings map[string]float64) (unknown []string, err error) {
	err = sqlite.Write(ctx, s.db, "noting feedback", func(tx *sql.Tx) error {
		unknown = nil
		for id, rating := range ratings {
			if rating < -1 || rating > 1 || rating != rating {
				return fmt.Errorf("rating %v of %.40q: give a number from -1 to 1", rating, id)
			}
			r, err := tx.ExecContext(ctx, `UPDATE memories
				SET rating = (rating * ratings + ?) / (ratings + 1), ratings = ratings + 1 WHERE uid = ?`, rating, id)
			if err != nil {
				return err
			}
			n, err := r.RowsAffected()
			if err == nil {
				r, err = tx.ExecContext(ctx, `UPDATE passages
					SET rating = (rating * ratings + ?) / (ratings + 1), ratings = ratings + 1 WHERE uid = ? OR memory =
					(SELECT id
					FROM memories WHERE uid = ?2)`, rating, id)
			}
			if err == nil && n == 0 {
				n, err = r.RowsAffected()
			}
			if err != nil {
				return err
			} else if n == 0 {
				unknown = append(unknown, id)
			}
		}
		return nil
	})
	return unknown, err
}
