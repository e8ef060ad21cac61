package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/stated"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Errors that callers tell apart.
var (
	ErrNotFound   = errors.New("no memory has this id")
	ErrAmbiguous  = errors.New("more than one memory has an id that begins so")
	ErrEmpty      = errors.New("there is nothing to keep")
	ErrTooLong    = errors.New("the text is too long: keep the part that matters")
	ErrImportance = errors.New("importance is a number from 0 to 1")
)

// Limits of what is stored, in bytes. Something longer is refused, never silently cut.
const (
	MaxContent = 64 << 10
	maxField   = 1 << 10 // type, tags, project, …
)

// A Memory is one thing that is known. Its JSON is what commands print and what export writes; the names are a promise.
type Memory struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	// preference, decision, fact, answer, request, or what the caller of Add said
	Type          string    `json:"type"`
	Project       string    `json:"project"`            // the git root that it was said in; "" for none
	Personal      bool      `json:"personal,omitempty"` // true of the person, whatever the project
	Origin        string    `json:"origin"`             // who said it: user or assistant
	Source        string    `json:"source"`             // how it was stored: turn, memory_store, memory add, …
	Harness       string    `json:"harness,omitempty"`
	Session       string    `json:"session,omitempty"`  // the Signet key; of an import any text
	Position      *float64  `json:"position,omitempty"` // its place in the session, by which neighbours are found
	Turn          int64     `json:"-"`                  // for Add: the row of the turn that it goes with, 0 for none
	Importance    float64   `json:"importance"`         // 0 to 1
	ImportanceSet bool      `json:"-"`                  // for Add: Importance is given, also where it is 0
	Rating        float64   `json:"rating,omitempty"`   // the mean of the feedback, -1 to 1
	Ratings       int       `json:"ratings,omitempty"`  // how many
	Tags          string    `json:"tags,omitempty"`     // comma-separated
	Context       string    `json:"context,omitempty"`  // what it was said about; searched, not shown
	Created       time.Time `json:"created"`
	Updated       time.Time `json:"updated"`
	Score         float64   `json:"score,omitempty"` // of a search, 0 to 1
	// Replaces has the ids of older memories that are no longer true since this one; set where one memory is shown.
	Replaces []string `json:"replaces,omitempty"`
	Scope    string   `json:"scope,omitempty"` // of a rule: where it holds
	Said     int      `json:"said,omitempty"`  // of a rule: how often it was said
	Sayings  []string `json:"-"`               // of a rule: the ids of all memories that say it
	// ReplacedBy has the id of a newer one that says that this is no longer so; set in what a search finds.
	ReplacedBy string   `json:"replacedBy,omitempty"`
	Matched    []string `json:"matched,omitempty"` // words of the query that it or its neighbours have
}

const memoryColumns = `m.uid, m.content, m.type, m.project, m.personal, m.origin, m.source, m.harness, m.key,
	m.importance, m.rating, m.ratings, m.tags, m.context, m.created, m.updated, m.position`

func scanMemory(row sqlite.Row) (m Memory, err error) {
	var created, updated int64
	var position sql.NullFloat64
	err = row.Scan(&m.ID, &m.Content, &m.Type, &m.Project, &m.Personal, &m.Origin, &m.Source, &m.Harness, &m.Session,
		&m.Importance, &m.Rating, &m.Ratings, &m.Tags, &m.Context, &created, &updated, &position)
	if position.Valid {
		m.Position = &position.Float64
	}
	m.Created, m.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	return m, err
}

// passageColumns are the columns of a memory for a passage p, which is a memory's (m) or was said in a turn. The turn's
// columns are subqueries, row by row: in a join SQLite would make all rows of the view turns_said first.
const passageColumns = `coalesce(m.uid, p.uid), coalesce(m.content, p.content), coalesce(m.type, 'said'), p.project,
	p.personal, p.origin, coalesce(m.source, 'turn'), coalesce(m.harness, (SELECT harness FROM turns_said
	WHERE id = p.turn), ''), coalesce(m.key, (SELECT key FROM turns_said WHERE id = p.turn), ''),
	coalesce(m.importance, 0.5), coalesce(m.rating, p.rating), coalesce(m.ratings, p.ratings), coalesce(m.tags, ''),
	coalesce(m.context, ''), p.created, coalesce(m.updated, p.created),
	coalesce(m.position, iif(p.memory IS NULL, p.position, NULL))`

const passageJoins = `LEFT JOIN memories m ON m.id = p.memory`

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
	for _, field := range []*string{&m.ID, &m.Type, &m.Project, &m.Origin, &m.Source, &m.Harness, &m.Session, &m.Tags} {
		if *field = strings.ToValidUTF8(*field, "\ufffd"); len(*field) > maxField {
			return ErrTooLong
		}
	}
	for _, field := range []*string{&m.Type, &m.Tags} {
		*field, _ = privacy.WithoutPrivate(*field)
		*field = privacy.Redact(strings.TrimSpace(*field))
	}
	m.ID, m.Type = cmp.Or(m.ID, newID()), cmp.Or(m.Type, "fact")
	m.Origin, m.Source = cmp.Or(m.Origin, fromUser), cmp.Or(m.Source, "memory add")
	if m.Importance == 0 && !m.ImportanceSet {
		m.Importance = 0.5
	}
	m.ImportanceSet = false
	if !(m.Importance >= 0 && m.Importance <= 1) {
		return ErrImportance
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
// whether it is new. Errors: ErrEmpty, ErrTooLong, ErrImportance, package sqlite's.
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
		} else if err == nil {
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
	_, err := tx.ExecContext(ctx, `INSERT INTO memories (uid, type, project, personal, origin, source, harness, key,
		importance, rating, ratings, created, updated, digest, tags, context, position, content, turn, session)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?)`, m.ID, m.Type, m.Project,
		m.Personal, m.Origin, m.Source, m.Harness, m.Session, m.Importance, m.Rating, m.Ratings,
		m.Created.UnixMilli(), m.Updated.UnixMilli(),
		digest(m.Content), m.Tags, m.Context, m.Position, m.Content, from.Turn, from.Session)
	return err
}

// memoryOf returns the memory, or the passage of a conversation, with an id; ErrNotFound.
func memoryOf(ctx context.Context, q sqlite.Querier, uid string) (Memory, error) {
	m, err := scanMemory(q.QueryRowContext(ctx, `SELECT `+memoryColumns+` FROM memories m WHERE m.uid = ?`, uid))
	if errors.Is(err, sql.ErrNoRows) {
		m, err = scanMemory(q.QueryRowContext(ctx,
			`SELECT `+passageColumns+` FROM passages p `+passageJoins+` WHERE p.uid = ?`, uid))
	}
	if errors.Is(err, sql.ErrNoRows) {
		return Memory{}, ErrNotFound
	}
	return m, err
}

// resolve returns the id that name is, or the only one that begins with it; ErrNotFound, ErrAmbiguous.
func resolve(ctx context.Context, q sqlite.Querier, name string) (string, error) {
	if name = strings.ToLower(strings.TrimSpace(name)); name == "" {
		return "", ErrNotFound
	}
	const begins = `(SELECT uid FROM %s WHERE uid >= ?1 AND uid <= ?1 || char(1114111) ORDER BY uid LIMIT 2)`
	uids, err := sqlite.Collect(ctx, q, sqlite.One[string], `SELECT * FROM `+fmt.Sprintf(begins,
		"memories")+` UNION SELECT * FROM `+fmt.Sprintf(begins, "passages")+` ORDER BY uid LIMIT 2`, name)
	switch {
	case err != nil:
		return "", err
	case len(uids) == 0:
		return "", ErrNotFound
	case len(uids) > 1 && uids[0] != name:
		return "", ErrAmbiguous
	}
	return uids[0], nil
}

// Get returns the memory or passage with an id, or with the only id that begins so. Errors: ErrNotFound, ErrAmbiguous,
// package sqlite's.
func (s *Store) Get(ctx context.Context, id string) (Memory, error) {
	uid, err := resolve(ctx, s.db, id)
	if err != nil {
		return Memory{}, sqlite.While("looking for a memory", err)
	}
	m, err := memoryOf(ctx, s.db, uid)
	return m, sqlite.While("reading a memory", err)
}

// Sees reports whether a session of a project may see a memory: one of its own, one of no project, the person's own,
// or any where that is configured.
func (s *Store) Sees(project string, m Memory) bool {
	return s.opts.OtherProjects || m.Personal && !s.opts.NotPersonal || m.Project == "" || m.Project == project
}

// OtherProjects reports whether sessions may see the memories of other projects.
func (s *Store) OtherProjects() bool { return s.opts.OtherProjects }

// A Filter says which memories to list.
type Filter struct {
	Type    string // empty: any
	Project string // of this project, and the person's own; empty: all
	Within  bool   // an empty Project means that there is none, not all
	Said    bool   // passages of conversations as well
	Limit   int    // 0: 100
	Offset  int
}

// List returns memories, the newest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Memory, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	const which = ` WHERE (?1 = '' AND type <> 'wish' OR type = ?1)
		AND (NOT ?5 AND ?2 = '' OR project IN (?2, '') OR personal)`
	query := `SELECT ` + memoryColumns + `, m.created AS at, m.id AS n FROM memories m` + strings.NewReplacer("type",
		"m.type", "project", "m.project", "personal", "m.personal").Replace(which)
	if f.Said {
		query += ` UNION ALL SELECT ` + passageColumns + `, p.created, p.id FROM passages p ` + passageJoins +
			strings.NewReplacer("type", "'said'", "project", "p.project", "personal",
				"p.personal").Replace(which) + ` AND p.memory IS NULL`
	}
	all, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (Memory, error) {
		var at, n int64
		return scanMemory(trailingColumns{row, []any{&at, &n}})
	}, s.across(query)+` ORDER BY at DESC, n DESC LIMIT ?3 OFFSET ?4`,
		f.Type, f.Project, f.Limit, max(f.Offset, 0), f.Within)
	return all, sqlite.While("listing memories", err)
}

// A Change says what becomes of a memory; nil leaves a field.
type Change struct {
	Content, Type, Tags *string
	Importance          *float64
	Source              string // by which call; empty: "memory_modify"
}

// Pinned is the Source of a Change by which a person pins a memory: it is told to every session of its project. It
// stays pinned when its content is changed. Nobody else writes it: tools have sources of their own.
const Pinned = "memory pin"

// Modify changes a memory. What a turn taught is not learned again as it was; a passage of a conversation becomes a
// memory. Errors: ErrNotFound, ErrAmbiguous, ErrEmpty, ErrTooLong, ErrImportance, package sqlite's.
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
	if m.Type == wish { // what a person changes or pins is meant to last
		m.Type = string(stated.Rule)
	}
	if c.Importance != nil {
		m.Importance = *c.Importance
	}
	m.ImportanceSet = true
	if m.Source != Pinned {
		m.Source = cmp.Or(c.Source, "memory_modify")
	}
	m.Updated = now
	return m.prepare(now)
}

// forgetInTurn notes that a turn does not teach a memory or passage any more, and deletes its passages that say it: the
// memory says something else from now on, or goes.
func forgetInTurn(ctx context.Context, tx *sql.Tx, uid string) error {
	if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO memories_forgotten (turn, digest) SELECT turn, digest
		FROM memories WHERE uid = ? AND turn IS NOT NULL`, uid); err != nil {
		return err
	}
	type place struct {
		id, turn     int64
		uid, content string
	}
	said, err := sqlite.Collect(ctx, tx, func(row sqlite.Row) (p place, err error) {
		return p, row.Scan(&p.id, &p.turn, &p.uid, &p.content)
	}, `SELECT id, turn, uid, content FROM passages WHERE uid = ?1 OR turn IN (SELECT turn FROM memories
			WHERE uid = ?1)`, uid)
	if err != nil {
		return err
	}
	for _, p := range said {
		d := digest(p.content)
		var gone bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM memories_forgotten WHERE turn = ?
			AND digest = ?)`, p.turn, d).Scan(&gone); err != nil {
			return err
		}
		if !gone && p.uid != uid {
			continue
		}
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO memories_forgotten (turn, digest) VALUES (?, ?)`,
			p.turn, d); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM passages WHERE id = ?`, p.id); err != nil {
			return err
		}
	}
	return nil
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
