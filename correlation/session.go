package correlation

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Session is an ACP session. It outlives processes, and two of them may hold it at once.
type Session struct {
	ID                    int64 // ours
	Harness               string
	ACPID                 string // the harness's sessionId, or a hash if that is longer than 1 KiB
	Key                   string // the current Signet key
	Record                string // acpxRecordId
	Cwd, Project          string
	AgentID               string // Signet's agentId
	Client, ClientVersion string
	Agent, AgentVersion   string
	ParentKey             string
	Title                 string // the harness's; "" for none
	ForkOf, ContinueOf    int64  // ids of sessions, 0 for none
	State                 State
	Started, LastActive   time.Time
	Replaced              time.Time // when the harness gave the same id to a newer session; zero: never

	// Only from Sessions and Resolve.
	Live  bool // a living process holds it
	Turns int  // with those of the sessions that it continues
}

const sessionColumns = `s.id, s.harness, s.acp_id, s.key, s.record, s.cwd, s.project, s.agent_id, s.client,
	s.client_version, s.agent, s.agent_version, s.parent_key, coalesce(s.fork_of, 0), coalesce(s.continue_of, 0),
	s.state, s.started, s.last_active, s.replaced, s.title`

func scanSession(row sqlite.Row) (v Session, err error) {
	var started, active, replaced int64
	err = row.Scan(&v.ID, &v.Harness, &v.ACPID, &v.Key, &v.Record, &v.Cwd, &v.Project, &v.AgentID, &v.Client,
		&v.ClientVersion, &v.Agent, &v.AgentVersion, &v.ParentKey, &v.ForkOf, &v.ContinueOf,
		&v.State, &started, &active, &replaced, &v.Title)
	v.Started, v.LastActive, v.Replaced = sqlite.Unstamp(started), sqlite.Unstamp(active), sqlite.Unstamp(replaced)
	return v, err
}

// OpenSession is what a process knows of a session that it opens. Empty strings leave what is stored as it is.
type OpenSession struct {
	Harness       string `json:"harness"`
	ACPID         string `json:"acpId"`
	Record        string `json:"record,omitempty"`
	Cwd           string `json:"cwd,omitempty"`
	Project       string `json:"project,omitempty"`
	AgentID       string `json:"agentId,omitempty"`
	Client        string `json:"client,omitempty"`
	ClientVersion string `json:"clientVersion,omitempty"`
	Agent         string `json:"agent,omitempty"`
	AgentVersion  string `json:"agentVersion,omitempty"`
	ParentKey     string `json:"parentKey,omitempty"`
	Process       string `json:"-"` // the process that holds the session from now on; empty: none

	// New: the harness has just made the session (session/new, session/fork). A stored one with the same id is another,
	// older one: some harnesses number sessions from 1 in each process.
	New bool `json:"new,omitempty"`
	// Made is when it did, with New. A stored session with the same id that began later, and that no process has made,
	// is this one: another process has loaded it before this event was folded in.
	Made time.Time `json:"made,omitzero"`
	// Began is when a session began that another program has kept. A new row is as old as that, its key is new.
	Began time.Time `json:"began,omitzero"`
	// ForkOf is the session that this one was forked from, 0 for none. The fork gets a key of its own and no turns.
	// Unless State is set, its state is that of a fork of the parent as it is now (Forked).
	ForkOf int64 `json:"forkOf,omitempty"`
	// ContinueOf is the session whose place this one takes, 0 for none. It takes over the record, and a stored context
	// that was not used.
	ContinueOf int64 `json:"continueOf,omitempty"`

	// For a session that is not stored yet. Key empty: that of ContinueOf if no context was used under it, else a new
	// one. State empty: that of the fork, else Armed.
	Key   string `json:"key,omitempty"`
	State State  `json:"state,omitempty"`
}

// Open finds or makes the session, stores what is new about it, and attaches the process to it. A session that is found
// keeps its state and key.
func (s *Store) Open(ctx context.Context, o OpenSession) (Session, error) {
	var session Session
	err := s.write(ctx, "opening a session", func(tx *sql.Tx) (err error) {
		session, err = s.open(ctx, tx, o)
		return err
	})
	return session, err
}

func (s *Store) open(ctx context.Context, tx *sql.Tx, o OpenSession) (Session, error) {
	o.ACPID = storedID(o.ACPID)
	now := sqlite.Stamp(s.now())
	var id, started, made int64
	err := tx.QueryRowContext(ctx, `SELECT id, started, made FROM sessions
		WHERE harness = ? AND acp_id = ? AND replaced = 0`, o.Harness, o.ACPID).Scan(&id, &started, &made)
	known := err == nil
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return Session{}, err
	case known && o.New && made == 0 && !o.Made.IsZero() && started >= sqlite.Stamp(o.Made):
		if err := s.fillSession(ctx, tx, id, o, now); err != nil {
			return Session{}, err
		}
	case known && o.New:
		if _, err := tx.ExecContext(ctx, `UPDATE sessions SET replaced = ? WHERE id = ?`, now, id); err != nil {
			return Session{}, err
		}
		fallthrough
	case !known:
		if id, err = s.insertSession(ctx, tx, o, now); err != nil {
			return Session{}, err
		}
	default:
		if err := refreshSession(ctx, tx, id, o, now); err != nil {
			return Session{}, err
		}
	}
	if o.Process != "" {
		if _, err := tx.ExecContext(ctx, `INSERT INTO attachments (session, process) VALUES (?, ?)
			ON CONFLICT DO NOTHING`, id, o.Process); err != nil {
			return Session{}, err
		}
	}
	if _, err := s.freshState(ctx, tx, id); err != nil {
		return Session{}, err
	}
	return scanSession(tx.QueryRowContext(ctx, `SELECT `+sessionColumns+` FROM sessions s WHERE id = ?`, id))
}

// derive fills in what a new session takes from those that it continues or was forked from. continues: it has the key
// of the one that it continues, and gets the context that was stored under it.
func (s *Store) derive(ctx context.Context, tx *sql.Tx, o *OpenSession) (continues bool, err error) {
	if o.ContinueOf != 0 {
		var key, record string
		var used int64
		err := tx.QueryRowContext(ctx, `SELECT s.key, s.record, coalesce(k.used, 1) FROM sessions s
			LEFT JOIN session_keys k ON k.key = s.key AND k.session = s.id
			WHERE s.id = ?`, o.ContinueOf).Scan(&key, &record, &used)
		if err != nil {
			return false, fmt.Errorf("the session to continue: %w", orNotFound(err))
		}
		if o.Record == "" {
			o.Record = record
		}
		if o.Key == "" && used == 0 {
			o.Key = key
		}
		continues = o.Key == key
	}
	if o.ForkOf != 0 {
		parent, err := s.freshState(ctx, tx, o.ForkOf)
		if err != nil {
			return false, fmt.Errorf("the session to fork: %w", err)
		}
		if o.State == "" {
			if o.State, _, err = s.nextState(o.ForkOf, parent, Event{Name: Forked}); err != nil {
				return false, err
			}
		}
		if o.ParentKey == "" {
			if err := tx.QueryRowContext(ctx, `SELECT key FROM sessions WHERE id = ?`,
				o.ForkOf).Scan(&o.ParentKey); err != nil {
				return false, err
			}
		}
	}
	if o.State == "" {
		o.State = Armed
	}
	if o.Key == "" {
		o.Key = NewKey()
	}
	return continues, nil
}

func (s *Store) insertSession(ctx context.Context, tx *sql.Tx, o OpenSession, now int64) (int64, error) {
	continues, err := s.derive(ctx, tx, &o)
	if err != nil {
		return 0, err
	}
	if o.New && o.Made.IsZero() {
		o.Made = s.now()
	}
	began := now
	if !o.Began.IsZero() {
		began = sqlite.Stamp(o.Began)
	}
	var id int64
	err = tx.QueryRowContext(ctx, `INSERT INTO sessions (harness, acp_id, key, record, cwd, project, agent_id, client,
		client_version, agent, agent_version, parent_key, fork_of, continue_of, state, started, last_active, made)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0), ?, ?, ?, ?) RETURNING id`,
		o.Harness, o.ACPID, o.Key, o.Record, o.Cwd, o.Project, o.AgentID, o.Client,
		o.ClientVersion, o.Agent, o.AgentVersion, o.ParentKey, o.ForkOf, o.ContinueOf, o.State,
		began, began, sqlite.Stamp(o.Made)).Scan(&id)
	if err != nil {
		return 0, err
	}
	if continues {
		if _, err := tx.ExecContext(ctx, `UPDATE stored_contexts SET session = ? WHERE session = ?`,
			id, o.ContinueOf); err != nil {
			return 0, err
		}
	}
	return id, addKey(ctx, tx, id, o.Key, now)
}

// fillSession merges o, which says that a session was made, into its row, which another process has made by loading the
// session before. The row's state stays unless it is armed, and its key stays current; the key of o comes before it.
func (s *Store) fillSession(ctx context.Context, tx *sql.Tx, id int64, o OpenSession, now int64) error {
	continues, err := s.derive(ctx, tx, &o)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE sessions SET made = ?, fork_of = coalesce(fork_of, nullif(?, 0)),
		continue_of = coalesce(continue_of, nullif(?, 0)), state = iif(state = ?, ?, state) WHERE id = ?`,
		sqlite.Stamp(o.Made), o.ForkOf, o.ContinueOf, Armed, o.State, id); err != nil {
		return err
	}
	if continues {
		if _, err := tx.ExecContext(ctx, `UPDATE OR IGNORE stored_contexts SET session = ? WHERE session = ?`,
			id, o.ContinueOf); err != nil {
			return err
		}
	}
	if err := addEarlierKey(ctx, tx, id, o.Key, now); err != nil {
		return err
	}
	return refreshSession(ctx, tx, id, o, now)
}

func refreshSession(ctx context.Context, tx *sql.Tx, id int64, o OpenSession, now int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET record = coalesce(nullif(?, ''), record),
			cwd = coalesce(nullif(?, ''), cwd), project = coalesce(nullif(?, ''), project),
			agent_id = coalesce(nullif(?, ''), agent_id), client = coalesce(nullif(?, ''), client),
			client_version = coalesce(nullif(?, ''), client_version), agent = coalesce(nullif(?, ''), agent),
			agent_version = coalesce(nullif(?, ''), agent_version),
			parent_key = coalesce(nullif(?, ''), parent_key), last_active = ?
		WHERE id = ?`, o.Record, o.Cwd, o.Project, o.AgentID, o.Client, o.ClientVersion, o.Agent, o.AgentVersion,
		o.ParentKey, now, id)
	return err
}

// SetRecord notes the acpx record of a session. It may become known after the session, or change.
func (s *Store) SetRecord(ctx context.Context, id int64, record string) error {
	return s.mustChange(ctx, "noting a record", ErrNotFound, `UPDATE sessions SET record = ? WHERE id = ?`, record, id)
}

// Get returns a session by our id, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id int64) (Session, error) {
	v, err := scanSession(s.db.QueryRowContext(ctx, `SELECT `+sessionColumns+` FROM sessions s WHERE s.id = ?`, id))
	return v, sqlite.While("reading a session", orNotFound(err))
}

// minLoneID is how many characters a sessionId must have to identify a session without its harness.
const minLoneID = 16

// Find returns the session of a harness by its ACP id; failing that by the id alone, if it is at least 16 characters
// long and unique. Else ErrNotFound.
func (s *Store) Find(ctx context.Context, harness, acpID string) (Session, error) {
	const doing = "finding a session"
	acpID = storedID(acpID)
	found, err := sqlite.Collect(ctx, s.db, scanSession, `SELECT `+sessionColumns+` FROM sessions s
		WHERE s.acp_id = ? AND s.replaced = 0`, acpID)
	if err != nil {
		return Session{}, sqlite.While(doing, err)
	}
	for _, v := range found {
		if v.Harness == harness {
			return v, nil
		}
	}
	if len(found) == 1 && utf8.RuneCountInString(acpID) >= minLoneID {
		return found[0], nil
	}
	return Session{}, sqlite.While(doing, ErrNotFound)
}

// FindByRecord returns the newest session of an acpx record, or ErrNotFound.
func (s *Store) FindByRecord(ctx context.Context, record string) (Session, error) {
	if record == "" {
		return Session{}, sqlite.While("finding a session", ErrNotFound)
	}
	v, err := scanSession(s.db.QueryRowContext(ctx, `SELECT `+sessionColumns+` FROM sessions s WHERE s.record = ?
		AND s.record <> '' AND s.replaced = 0 ORDER BY s.id DESC LIMIT 1`, record))
	return v, sqlite.While("finding a session", orNotFound(err))
}

// Resolve returns the session that a person names by its ACP id, a Signet key, its acpx record, or a prefix of these
// that matches only one conversation. Of a conversation that went on under new ids it is the newest. Errors:
// ErrNotFound, ErrAmbiguous.
func (s *Store) Resolve(ctx context.Context, name string) (Session, error) {
	v, err := s.resolve(ctx, name)
	return v, sqlite.While("looking for "+name, err)
}

func (s *Store) resolve(ctx context.Context, name string) (Session, error) {
	if name == "" {
		return Session{}, ErrNotFound
	}
	exact := storedID(name)
	ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT id FROM sessions
		WHERE acp_id = ?1 AND replaced = 0 OR key = ?2 OR record <> '' AND record = ?2
		UNION SELECT session FROM session_keys WHERE key = ?2`, exact, name)
	if err != nil {
		return Session{}, err
	}
	if len(ids) == 0 {
		ids, err = sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT id FROM sessions
			WHERE replaced = 0 AND substr(acp_id, 1, ?2) = ?1 OR ?1 IN (substr(key, 1, ?2), substr(record, 1, ?2))
			UNION SELECT session FROM session_keys WHERE substr(key, 1, ?2) = ?1`, name, utf8.RuneCountInString(name))
		if err != nil {
			return Session{}, err
		}
	}
	if len(ids) == 0 {
		return Session{}, ErrNotFound
	}
	newest := int64(0)
	for _, id := range ids {
		one, err := s.conversation(ctx, s.db, id)
		if err != nil {
			return Session{}, err
		}
		last := one[len(one)-1]
		if newest != 0 && last != newest {
			return Session{}, fmt.Errorf("%w (%d): give more of it", ErrAmbiguous, len(ids))
		}
		newest = last
	}
	all, err := s.list(ctx, `WHERE s.id = ?`, newest)
	if err != nil || len(all) == 0 {
		return Session{}, orNotFound(errors.Join(err, sql.ErrNoRows))
	}
	return all[0], nil
}

// conversation returns the ids of the sessions that continue one another, among them this one, oldest first.
func (s *Store) conversation(ctx context.Context, q sqlite.Querier, id int64) ([]int64, error) {
	return sqlite.Collect(ctx, q, sqlite.One[int64], `WITH RECURSIVE chain (id) AS (
			VALUES (?) UNION
			SELECT s.id FROM chain c JOIN sessions one ON one.id = c.id
			JOIN sessions s ON s.id = one.continue_of OR s.continue_of = one.id
				OR s.record <> '' AND s.record = one.record AND s.harness = one.harness)
		SELECT id FROM chain ORDER BY id`, id)
}

// Sessions lists sessions, the last active first; limit 0 means all.
func (s *Store) Sessions(ctx context.Context, limit int) ([]Session, error) {
	if limit == 0 {
		limit = -1
	}
	all, err := s.list(ctx, `ORDER BY s.last_active DESC, s.id DESC LIMIT ?`, limit)
	return all, sqlite.While("listing sessions", err)
}

// Count returns how many sessions there are, and how many of them living processes hold.
func (s *Store) Count(ctx context.Context) (all, live int, err error) {
	const doing = "counting sessions"
	if err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM sessions`).Scan(&all); err != nil {
		return 0, 0, sqlite.While(doing, err)
	}
	held, err := s.liveSessions(ctx)
	for _, is := range held {
		if is {
			live++
		}
	}
	return all, live, sqlite.While(doing, err)
}

func (s *Store) list(ctx context.Context, where string, args ...any) ([]Session, error) {
	all, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (Session, error) {
		var turns int
		v, err := scanSession(extraColumns{row, []any{&turns}})
		v.Turns = turns
		return v, err
	}, `SELECT `+sessionColumns+`, (WITH RECURSIVE chain (id) AS (
			VALUES (s.id) UNION SELECT m.continue_of FROM sessions m JOIN chain c ON m.id = c.id
			WHERE m.continue_of IS NOT NULL)
		SELECT count(*) FROM turns WHERE session IN chain) FROM sessions s `+where, args...)
	if err != nil {
		return nil, err
	}
	live, err := s.liveSessions(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Live = live[all[i].ID]
	}
	return all, nil
}

// extraColumns scans more columns than the function that is given it.
type extraColumns struct {
	sqlite.Row
	dest []any
}

func (e extraColumns) Scan(dest ...any) error { return e.Row.Scan(append(dest, e.dest...)...) }

// maxID is how many bytes of a sessionId are stored as they are: ACP does not limit its length.
const maxID = 1 << 10

func storedID(id string) string {
	if len(id) <= maxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// NewKey makes a Signet key.
func NewKey() string { return "acp-" + strings.ToLower(ulid.Make().String()) }
