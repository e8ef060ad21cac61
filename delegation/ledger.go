package delegation

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Errors that callers tell apart.
var (
	ErrNotFound = errors.New("no delegation has this id")
	errTaken    = errors.New("already started")
)

// beginLimit is how long after a row was made its runner may begin; after that the delegation has failed.
const beginLimit = 20 * time.Second

// A Ledger keeps delegations in the database. Every change of state is a compare-and-set. Its methods may be called
// from several goroutines.
type Ledger struct {
	db       *sql.DB
	sessions correlation.Book
	live     string
	folders  string // in which the children's folders are
	now      func() time.Time
}

// NewLedger makes a ledger on a database that migrations.Open has opened; live is the folder with the lock files of
// living processes, folders the one in which the children's folders are.
func NewLedger(db *sql.DB, live, folders string) *Ledger {
	return &Ledger{db: db, sessions: correlation.New(db, correlation.Options{LiveDir: live}).Book(), live: live,
		folders: folders, now: time.Now}
}

// minID is how many characters of an id name a delegation, at least.
const minID = 6

// Get returns a delegation by its id, or by a beginning or an end of it that no other id has: those of the same quarter
// of an hour begin alike. Errors: ErrNotFound, more than one, the database's.
func (l *Ledger) Get(ctx context.Context, id string) (Delegation, error) {
	if len(id) < minID {
		return Delegation{}, fmt.Errorf("%w: use at least %d characters", ErrNotFound, minID)
	}
	found, err := l.query(ctx, `WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1
		ORDER BY id LIMIT 2`, strings.ToUpper(id))
	switch {
	case err != nil:
		return Delegation{}, err
	case len(found) == 0:
		return Delegation{}, ErrNotFound
	case len(found) == 1:
		return found[0], nil
	}
	return Delegation{}, fmt.Errorf("%s matches more than one delegation, such as %s and %s; type more of the id",
		id, found[0].ID, found[1].ID)
}

// List returns the newest delegations, the newest first; limit -1 means all.
func (l *Ledger) List(ctx context.Context, limit int) ([]Delegation, error) {
	return l.query(ctx, `ORDER BY id DESC LIMIT ?`, limit)
}

// query reads rows, each corrected to its actual state, also where the database cannot be written.
func (l *Ledger) query(ctx context.Context, where string, args ...any) ([]Delegation, error) {
	all, err := l.stored(ctx, where, args...)
	if slices.ContainsFunc(all, func(d Delegation) bool {
		state, _ := l.actualState(d)
		return state == Lost && d.State != Lost
	}) { // or its runner has ended since we read
		all, err = l.stored(ctx, where, args...)
	}
	for i := range all {
		l.correct(&all[i])
	}
	return all, err
}

// correct sets a delegation's actual state.
func (l *Ledger) correct(d *Delegation) {
	if state, why := l.actualState(*d); state != d.State {
		d.State, d.Reason = state, why
	}
}

// stored reads rows as they are stored.
func (l *Ledger) stored(ctx context.Context, where string, args ...any) ([]Delegation, error) {
	all, err := sqlite.Collect(ctx, l.db, scanOne, `SELECT `+columns+` FROM delegations `+where, args...)
	return all, sqlite.While("reading delegations", err)
}

func byID(ctx context.Context, q sqlite.Querier, id string) (Delegation, error) {
	d, err := scanOne(q.QueryRowContext(ctx, `SELECT `+columns+` FROM delegations WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return d, err
}

const columns = `id, caller, turn, parent, root, depth, agent, state, runner, cancel, acp_id, folder, tree, continues,
	created, started, ended, request, work, result,
	coalesce((SELECT max(n.id) FROM delegations n WHERE n.continues = delegations.id AND n.continues <> ''), '')`

// scanOne reads columns.
func scanOne(row sqlite.Row) (d Delegation, err error) {
	var created, started, ended int64
	var request, work, result []byte
	if err := row.Scan(&d.ID, &d.Key, &d.Turn, &d.Inside, &d.Root, &d.Depth, &d.Agent, &d.State, &d.Runner, &d.Cancel,
		&d.ACPID, &d.Folder, &d.Tree, &d.Continues, &created, &started, &ended, &request, &work, &result,
		&d.ContinuedBy); err != nil {
		return d, err
	}
	d.Created, d.Started, d.Ended = sqlite.Unstamp(created), sqlite.Unstamp(started), sqlite.Unstamp(ended)
	return d, errors.Join(json.Unmarshal(request, &asked{&d.Caller, &d.Request}), json.Unmarshal(work, &d.Run),
		json.Unmarshal(result, &d.Result))
}

// asked is the column request.
type asked struct {
	*Caller
	*Request
}

// column returns a value as JSON, for a column; what is in one cannot fail.
func column(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// Runners returns the delegations that are being run, by the process id of their runner.
func (l *Ledger) Runners(ctx context.Context) (map[int]string, error) {
	running := map[int]string{}
	err := sqlite.Each(ctx, l.db, func(row sqlite.Row) error {
		var id, process string
		var pid int
		err := row.Scan(&id, &process, &pid)
		if correlation.Alive(l.live, process) {
			running[pid] = id
		}
		return err
	}, `SELECT id, runner, pid FROM delegations WHERE state = ?`, Running)
	return running, sqlite.While("looking for runners", err)
}

// Pulse returns a text that differs once delegations have come further.
func (l *Ledger) Pulse(ctx context.Context) (pulse string, err error) {
	err = l.db.QueryRowContext(ctx, `SELECT
		(SELECT count(*) || ' ' || coalesce(max(id), '') || ' ' || coalesce(max(ended), 0) FROM delegations) || ' ' ||
		(SELECT coalesce(group_concat(state || acp_id || work), '') FROM delegations WHERE ended = 0)`).Scan(&pulse)
	return pulse, sqlite.While("looking for what is new", err)
}

// Linked returns the delegations that a session asked for, and those of others that it works on, oldest first.
func (l *Ledger) Linked(ctx context.Context, session int64) (asked, works []Delegation, err error) {
	s, err := l.sessions.Get(ctx, session)
	if errors.Is(err, correlation.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	keys, err := l.sessions.Keys(ctx, session)
	if err != nil {
		return nil, nil, err
	}
	had := map[string]bool{}
	for _, k := range keys {
		had[k] = true
	}
	all, err := l.query(ctx, `WHERE caller IN (SELECT value FROM json_each(?1)) OR acp_id = ?2 AND acp_id <> ''
		ORDER BY id`, sqlite.List(slices.Collect(maps.Keys(had))), s.ACPID)
	for _, d := range all {
		if had[d.Key] {
			asked = append(asked, d)
			continue
		}
		worker, err := l.sessions.Worker(ctx, d.ACPID, d.Key)
		if err != nil {
			return nil, nil, err
		}
		if worker == session {
			works = append(works, d)
		}
	}
	return asked, works, err
}

// actualState returns the state of a delegation whose row may not say yet that its runner is dead or never began.
func (l *Ledger) actualState(d Delegation) (State, string) {
	switch {
	case d.State.Ended():
		return d.State, d.Reason
	case d.State == Queued && l.now().Sub(d.Created) > beginLimit:
		return Failed, "its runner never started; nothing was done"
	case d.State != Running:
		return d.State, ""
	}
	if !correlation.Alive(l.live, d.Runner) {
		return Lost, "its runner was killed, and its progress is unknown; its files are in its folder"
	}
	return d.State, ""
}
