package correlation

import (
	"context"
	"crypto/sha256"
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

	// Only from Sessions and Resolve.
	Live  bool // a living process holds it
	Turns int  // with those of the sessions that it continues
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
	// AliasOf is the stored session that ACPID is another name of, 0 for none.
	AliasOf int64 `json:"aliasOf,omitempty"`

	// For a session that is not stored yet. Key empty: that of ContinueOf if no context was used under it, else a new
	// one. State empty: that of the fork, else Armed.
	Key   string `json:"key,omitempty"`
	State State  `json:"state,omitempty"`
}

const sessionColumns = `s.id, s.harness, s.acp_id, s.key, s.record, s.cwd, s.project, s.agent_id, s.client,
	s.client_version, s.agent, s.agent_version, s.parent_key, coalesce(s.fork_of, 0), coalesce(s.continue_of, 0),
	s.state, s.started, s.last_active, s.title`

func scanSession(row sqlite.Row) (Session, error) { return scanSessionWith(row) }

// scanSessionWith scans more columns behind those.
func scanSessionWith(row sqlite.Row, more ...any) (v Session, err error) {
	var started, active int64
	err = row.Scan(append([]any{&v.ID, &v.Harness, &v.ACPID, &v.Key, &v.Record, &v.Cwd, &v.Project, &v.AgentID,
		&v.Client, &v.ClientVersion, &v.Agent, &v.AgentVersion, &v.ParentKey, &v.ForkOf, &v.ContinueOf, &v.State,
		&started, &active, &v.Title}, more...)...)
	v.Started, v.LastActive = sqlite.Unstamp(started), sqlite.Unstamp(active)
	return v, err
}

// SetRecord notes the acpx record of a session. It may become known after the session, or change.
func (s *Store) SetRecord(ctx context.Context, id int64, record string) error {
	return s.mustChange(ctx, "noting a record", ErrNotFound, `UPDATE sessions SET record = ? WHERE id = ?`, record, id)
}

// Get returns a session by our id, or ErrNotFound.
func (s *core) Get(ctx context.Context, id int64) (Session, error) {
	return s.session(ctx, "reading a session", `WHERE s.id = ?`, id)
}

// session returns the session s that the rest of a query finds, or ErrNotFound.
func (s *core) session(ctx context.Context, doing, rest string, args ...any) (Session, error) {
	v, err := scanSession(s.db.QueryRowContext(ctx, `SELECT `+sessionColumns+` FROM sessions s `+rest, args...))
	return v, sqlite.While(doing, orNotFound(err))
}

// minLoneID is how many characters a sessionId must have to identify a session without its harness.
const minLoneID = 16

// Find returns the session of a harness by its ACP id; failing that by the id alone, if it is at least 16 characters
// long and unique. Else ErrNotFound.
func (s *core) Find(ctx context.Context, harness, acpID string) (Session, error) {
	const doing = "finding a session"
	acpID = storedID(acpID)
	found, err := sqlite.Collect(ctx, s.db, scanSession, `SELECT `+sessionColumns+` FROM sessions s
		WHERE s.acp_id = ?1 AND s.replaced = 0 UNION ALL
		SELECT `+sessionColumns+` FROM session_aliases a JOIN sessions s ON s.id = a.session
		WHERE a.acp_id = ?1`, acpID)
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
	return s.session(ctx, "finding a session", `WHERE s.record = ? AND s.record <> '' AND s.replaced = 0
		ORDER BY s.id DESC LIMIT 1`, record)
}

// FindByKey returns the session of a Signet key, current or former, or ErrNotFound.
func (s Book) FindByKey(ctx context.Context, key string) (Session, error) {
	return s.session(ctx, "finding a session by its key", `JOIN session_keys k ON k.session = s.id WHERE k.key = ?`,
		key)
}

// Resolve returns the session that a person names by its ACP id, a Signet key, its acpx record, or a prefix of these
// that matches only one conversation. Of a conversation that went on under new ids it is the newest. Errors:
// ErrNotFound, ErrAmbiguous.
func (s Book) Resolve(ctx context.Context, name string) (Session, error) {
	v, err := s.resolve(ctx, name)
	if errors.Is(err, ErrAmbiguous) {
		return v, err
	}
	return v, sqlite.While("looking for "+name, err)
}

func (s *core) resolve(ctx context.Context, name string) (Session, error) {
	if name == "" {
		return Session{}, ErrNotFound
	}
	exact := storedID(name)
	ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT id FROM sessions
		WHERE acp_id = ?1 AND replaced = 0 OR key = ?2 OR record <> '' AND record = ?2
		UNION SELECT session FROM session_keys WHERE key = ?2 AND session IS NOT NULL
		UNION SELECT session FROM session_aliases WHERE acp_id = ?1`, exact, name)
	if err != nil {
		return Session{}, err
	}
	if len(ids) == 0 {
		ids, err = sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT id FROM sessions
			WHERE replaced = 0 AND substr(acp_id, 1, ?2) = ?1 OR ?1 IN (substr(key, 1, ?2), substr(record, 1, ?2))
			UNION SELECT session FROM session_keys WHERE substr(key, 1, ?2) = ?1 AND session IS NOT NULL
			UNION SELECT session FROM session_aliases WHERE substr(acp_id, 1, ?2) = ?1`,
			name, utf8.RuneCountInString(name))
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
			return Session{}, fmt.Errorf("%s matches %d sessions; %w", name, len(ids), ErrAmbiguous)
		}
		newest = last
	}
	all, err := s.list(ctx, conversationTurns, `WHERE s.id = ?`, newest)
	if err == nil && len(all) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Session{}, err
	}
	return all[0], nil
}

// conversation returns the ids of the sessions that continue one another, among them this one, oldest first.
func (s *core) conversation(ctx context.Context, q sqlite.Querier, id int64) ([]int64, error) {
	return sqlite.Collect(ctx, q, sqlite.One[int64], `WITH RECURSIVE chain (id) AS (
			VALUES (?) UNION
			SELECT s.id FROM chain c JOIN sessions one ON one.id = c.id
			JOIN sessions s ON s.id = one.continue_of OR s.continue_of = one.id
				OR s.record <> '' AND s.record = one.record AND s.harness = one.harness)
		SELECT id FROM chain ORDER BY id`, id)
}

// Sessions lists sessions, the last active first; limit 0 means all.
func (s Book) Sessions(ctx context.Context, limit int) ([]Session, error) {
	if limit == 0 {
		limit = -1
	}
	all, err := s.list(ctx, conversationTurns, `ORDER BY s.last_active DESC, s.id DESC LIMIT ?`, limit)
	return all, sqlite.While("listing sessions", err)
}

// Count returns how many sessions there are, and how many of them living processes hold.
func (s Book) Count(ctx context.Context) (all, live int, err error) {
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

// conversationTurns counts the turns of a session and of those that it continues; ownTurns does not follow these.
const (
	conversationTurns = `(WITH RECURSIVE chain (id) AS (
			VALUES (s.id) UNION SELECT m.continue_of FROM sessions m JOIN chain c ON m.id = c.id
			WHERE m.continue_of IS NOT NULL)
		SELECT count(*) FROM turns WHERE session IN chain)`
	ownTurns = `(SELECT count(*) FROM turns WHERE session = s.id)`
)

// list returns sessions with what is counted, and whether they are live.
func (s *core) list(ctx context.Context, counted, where string, args ...any) ([]Session, error) {
	all, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (Session, error) {
		var turns int
		v, err := scanSessionWith(row, &turns)
		v.Turns = turns
		return v, err
	}, `SELECT `+sessionColumns+`, `+counted+` FROM sessions s `+where, args...)
	if err != nil {
		return nil, err
	}
	live, err := s.liveSessions(ctx)
	for i := range all {
		all[i].Live = live[all[i].ID]
	}
	return all, err
}

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
