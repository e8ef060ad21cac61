package correlation

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// fold finds or makes the session, stores what is new about it, attaches the process to it, and gives it its number. A
// session that is found keeps its state and key.
func (e Opened) fold(b *Batch) error {
	o := e.Open
	for _, from := range []struct {
		n   int
		row *int64
	}{{e.Fork, &o.ForkOf}, {e.Continues, &o.ContinueOf}} {
		if from.n == 0 {
			continue
		}
		row, err := openedSession(b.ctx, b.tx, b.process, from.n)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		*from.row = row
	}
	id, err := b.open(o)
	if errors.Is(err, ErrNotFound) { // the session that it came from was forgotten
		o.ForkOf, o.ContinueOf, o.AliasOf = 0, 0, 0
		id, err = b.open(o)
	}
	if err != nil {
		return err
	}
	b.sessions[e.Session], b.Opened = id, append(b.Opened, e.Session)
	delete(b.Gone, e.Session)
	err = b.exec(`INSERT INTO attachments (process, n, session, closed) VALUES (?1, ?2, ?3, ?1 = '')
		ON CONFLICT (process, n) DO UPDATE SET session = excluded.session, closed = excluded.closed`,
		b.process, e.Session, id)
	if err != nil {
		return err
	}
	return b.record(e, id, 0)
}

func (b *Batch) open(o OpenSession) (id int64, err error) {
	o.ACPID = storedID(o.ACPID)
	if err := b.alias(o); err != nil {
		return 0, err
	}
	var started, made int64
	err = b.tx.QueryRowContext(b.ctx, `SELECT id, started, made FROM sessions
		WHERE harness = ?1 AND acp_id = ?2 AND replaced = 0 OR id = (
			SELECT session FROM session_aliases WHERE harness = ?1 AND acp_id = ?2)
		ORDER BY acp_id = ?2 DESC`, o.Harness, o.ACPID).Scan(&id, &started, &made)
	known := err == nil
	if known && o.New && (made != 0 || o.Made.IsZero() || started < sqlite.Stamp(o.Made)) {
		known = false
		err = b.exec(`UPDATE sessions SET replaced = ? WHERE id = ?`, b.now, id)
	}
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
	case !known:
		id, err = b.insertSession(o)
	case o.New:
		err = b.fillSession(id, o)
	default:
		err = b.refreshSession(id, o)
	}
	if err == nil {
		_, err = b.store.freshState(b.ctx, b.tx, id)
	}
	return id, err
}

// alias notes that a session has another name. A session that is new takes such a name from the one that had it.
func (b *Batch) alias(o OpenSession) error {
	switch {
	case o.New:
		return b.exec(`DELETE FROM session_aliases WHERE harness = ? AND acp_id = ?`, o.Harness, o.ACPID)
	case o.AliasOf == 0:
		return nil
	}
	return sqlite.MustHit(b.ctx, b.tx, ErrNotFound, `INSERT INTO session_aliases (acp_id, harness, session)
		SELECT ?, ?, id FROM sessions WHERE id = ? ON CONFLICT DO UPDATE SET session = excluded.session`,
		o.ACPID, o.Harness, o.AliasOf)
}

// takeOver fills in what a new session takes from those that it continues or was forked from. sameKey: it has the key
// of the one that it continues, and gets the context that was stored under it.
func (b *Batch) takeOver(o *OpenSession) (sameKey bool, err error) {
	if o.ContinueOf != 0 {
		var key, record string
		var used int64
		err := b.tx.QueryRowContext(b.ctx, `SELECT s.key, s.record, coalesce(k.used, 1) FROM sessions s
			LEFT JOIN session_keys k ON k.key = s.key AND k.session = s.id
			WHERE s.id = ?`, o.ContinueOf).Scan(&key, &record, &used)
		if err != nil {
			return false, fmt.Errorf("the session to continue: %w", orNotFound(err))
		}
		o.Record = cmp.Or(o.Record, record)
		if o.Key == "" && used == 0 {
			o.Key = key
		}
		sameKey = o.Key == key
	}
	if o.ForkOf != 0 {
		parent, err := b.store.freshState(b.ctx, b.tx, o.ForkOf)
		if err != nil {
			return false, fmt.Errorf("the session to fork: %w", err)
		}
		if o.State == "" {
			if o.State, _, err = b.store.nextState(o.ForkOf, parent, Step{Name: Forked}); err != nil {
				return false, err
			}
		}
		if o.ParentKey == "" {
			o.ParentKey, err = sqlite.One[string](b.tx.QueryRowContext(b.ctx, `SELECT key FROM sessions WHERE id = ?`,
				o.ForkOf))
			if err != nil {
				return false, err
			}
		}
	}
	o.State = cmp.Or(o.State, Armed)
	if o.Key == "" {
		o.Key = NewKey()
	}
	return sameKey, nil
}

func (b *Batch) insertSession(o OpenSession) (int64, error) {
	sameKey, err := b.takeOver(&o)
	if err != nil {
		return 0, err
	}
	if o.New && o.Made.IsZero() {
		o.Made = b.store.now()
	}
	began := cmp.Or(sqlite.Stamp(o.Began), b.now)
	id, err := sqlite.One[int64](b.tx.QueryRowContext(b.ctx, `INSERT INTO sessions (harness, acp_id, key, record, cwd,
		project, agent_id, client, client_version, agent, agent_version, parent_key, fork_of, continue_of, state,
		started, last_active, made)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0), ?, ?, ?, ?) RETURNING id`,
		o.Harness, o.ACPID, o.Key, o.Record, o.Cwd, o.Project, o.AgentID, o.Client,
		o.ClientVersion, o.Agent, o.AgentVersion, o.ParentKey, o.ForkOf, o.ContinueOf, o.State,
		began, began, sqlite.Stamp(o.Made)))
	if err != nil {
		return 0, err
	}
	return id, errors.Join(b.takeContext(sameKey, id, o), b.addKey(id, o.Key))
}

// takeContext gives a session the context that was stored for the one that it continues, unless it has one.
func (b *Batch) takeContext(sameKey bool, id int64, o OpenSession) error {
	if !sameKey {
		return nil
	}
	err := b.exec(`UPDATE sessions SET context_key = c.context_key, context_at = c.context_at, context = c.context
		FROM sessions c WHERE c.id = ?2 AND sessions.id = ?1 AND sessions.context_at = 0`, id, o.ContinueOf)
	if err == nil {
		err = b.exec(dropContexts+`AND id = ?`, o.ContinueOf)
	}
	return err
}

// fillSession merges o, which says that a session was made, into its row, which another process has made by loading the
// session before. The row's state stays unless it is armed, and its key stays current; the key of o comes before it.
func (b *Batch) fillSession(id int64, o OpenSession) error {
	sameKey, err := b.takeOver(&o)
	if err == nil {
		err = b.exec(`UPDATE sessions SET made = ?, fork_of = coalesce(fork_of, nullif(?, 0)),
			continue_of = coalesce(continue_of, nullif(?, 0)), state = iif(state = ?, ?, state) WHERE id = ?`,
			sqlite.Stamp(o.Made), o.ForkOf, o.ContinueOf, Armed, o.State, id)
	}
	if err == nil {
		err = b.takeContext(sameKey, id, o)
	}
	if err == nil {
		err = b.exec(`INSERT INTO session_keys (key, session, n, created)
			VALUES (?1, ?2, (SELECT coalesce(min(n), 1) - 1 FROM session_keys WHERE session = ?2), ?3)
			ON CONFLICT (key) DO UPDATE SET session = excluded.session, n = excluded.n WHERE session IS NULL`,
			o.Key, id, b.now)
	}
	if err == nil {
		err = b.refreshSession(id, o)
	}
	return err
}

func (b *Batch) refreshSession(id int64, o OpenSession) error {
	return b.exec(`UPDATE sessions SET record = coalesce(nullif(?, ''), record),
			cwd = coalesce(nullif(?, ''), cwd), project = coalesce(nullif(?, ''), project),
			agent_id = coalesce(nullif(?, ''), agent_id), client = coalesce(nullif(?, ''), client),
			client_version = coalesce(nullif(?, ''), client_version), agent = coalesce(nullif(?, ''), agent),
			agent_version = coalesce(nullif(?, ''), agent_version),
			parent_key = coalesce(nullif(?, ''), parent_key), last_active = ?
		WHERE id = ?`, o.Record, o.Cwd, o.Project, o.AgentID, o.Client, o.ClientVersion, o.Agent, o.AgentVersion,
		o.ParentKey, b.now, id)
}
