package delegation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/scope"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Limits of what one caller may ask for.
const (
	maxAtOnce = 4  // delegations of one session that are under way
	maxInAll  = 20 // delegations of a tree, from the session at its top
)

// Create makes the row of a delegation, or finds the one that the same request made before; fresh says which. A refusal
// makes no row; its text is for the caller.
func (l *Ledger) Create(ctx context.Context, who Caller, r Request, kind string) (d Delegation, fresh bool, err error) {
	if err := r.check(); err != nil {
		return d, false, err
	}
	if err := l.Settle(ctx); err != nil {
		return d, false, err
	}
	var refused error
	err = sqlite.Write(ctx, l.db, "noting a delegation", func(tx *sql.Tx) (err error) {
		d = Delegation{ID: ulid.Make().String(), Caller: who, Parent: who.Inside, Root: who.Key, Depth: 1,
			Agent: r.Agent, Mode: r.Mode, Kind: kind, Detach: r.Detach, Budget: r.Budget, Scope: r.Scope, Kept: r.Kept,
			Task: r.Task, State: Queued, Created: l.now(), Continues: r.Continues}
		if who.Key == "" {
			d.Root = d.ID
		}
		key := cmp.Or(r.Key, defaultKey(who, r))
		if refused = l.refuse(ctx, tx, &d); refused != nil {
			return refused
		}
		earlier, err := scanOne(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM delegations WHERE caller = ?
			AND key = ?`, who.Key, key))
		switch {
		case err == nil && earlier.State.answers():
			d = earlier
			return nil
		case err == nil:
			if err := freeKey(ctx, tx, earlier.ID); err != nil {
				return err
			}
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if refused = l.checkNumber(ctx, tx, d); refused != nil {
			return refused
		}
		if d.Continues != "" {
			if refused = l.takeOver(ctx, tx, &d); refused != nil {
				return refused
			}
		}
		fresh = true
		if err := l.insert(ctx, tx, d, key); err != nil {
			return err
		}
		return l.noteEvent(ctx, tx, d.ID)
	})
	if refused != nil {
		err = refused
	}
	return d, fresh, err
}

// refuse checks a request against the delegation that it is made in, and against the rule of package scope.
func (l *Ledger) refuse(ctx context.Context, tx *sql.Tx, d *Delegation) error {
	check := scope.Request{Delegated: d.Scope, Kept: d.Kept, Dir: d.Cwd, Follow: worktree.Follow}
	if d.Parent != "" {
		outer, err := byID(ctx, tx, d.Parent)
		if err != nil {
			return fmt.Errorf("the delegation that you work for: %w", err)
		}
		if err := l.nest(d, outer); err != nil {
			return err
		}
		check.Caller = outer.Scope
	}
	return check.Check()
}

// nest limits a delegation inside another to what that one leaves it: it shrinks with each agent in a chain.
func (l *Ledger) nest(d *Delegation, outer Delegation) error {
	d.Root, d.Depth = outer.Root, outer.Depth+1
	switch {
	case outer.State != Running || outer.Cancel != "":
		return errors.New("the delegation that you work for is at its end: hand nothing on")
	case d.Depth > maxDepth:
		return fmt.Errorf("you were delegated to at depth %d, and %d is the most: do it yourself, or say in your "+
			"answer what is left", outer.Depth, maxDepth)
	case d.Mode == Edit && outer.Mode != Edit:
		return errors.New("you may only read, and so may the agent that you ask: leave mode out")
	}
	left := outer.Budget
	if left.Seconds > 0 {
		left.Seconds = max(1, left.Seconds-int(l.now().Sub(outer.Started).Seconds()))
	}
	d.Budget, d.Detach = d.Budget.within(left), false
	return nil
}

// checkNumber refuses a delegation past maxAtOnce or maxInAll.
func (l *Ledger) checkNumber(ctx context.Context, tx *sql.Tx, d Delegation) error {
	var now, all int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE ended = 0 AND caller = ?1 AND parent = ?2),
		count(*) FILTER (WHERE root = ?3) FROM delegations WHERE root = ?3 OR caller = ?1 AND ended = 0`,
		d.Key, d.Parent, d.Root).Scan(&now, &all)
	switch {
	case err != nil:
		return err
	case now >= maxAtOnce:
		return fmt.Errorf("%d delegations of yours are under way, and that is the most: wait for one "+
			"(delegation_wait) or cancel one", now)
	case all >= maxInAll:
		return fmt.Errorf("this session has delegated %d times, and that is the most: do the rest yourself", all)
	}
	return nil
}

func (l *Ledger) insert(ctx context.Context, tx *sql.Tx, d Delegation, key string) error {
	budget, err := json.Marshal(d.Budget)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO delegations (id, caller, process, harness, turn, parent, root, depth, key,
		agent, mode, kind, cwd, project, detach, budget, state, created, scope, kept, task, continues,
		acp_id, folder, branch, tree)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.ID, d.Key, d.Process, d.Harness, d.Turn, d.Parent, d.Root, d.Depth, key, d.Agent, d.Mode, d.Kind, d.Cwd,
		d.Project, d.Detach, string(budget), d.State, sqlite.Stamp(d.Created), clean(d.Scope), clean(d.Kept),
		clean(d.Task), d.Continues, d.ACPID, d.Folder, d.Branch, d.Tree)
	return err
}

// freeKey lets a request be made again: what failed is no answer once its cause was mended.
func freeKey(ctx context.Context, tx *sql.Tx, id string) error {
	_, err := tx.ExecContext(ctx, `UPDATE delegations SET key = key || ' ' || id WHERE id = ?`, id)
	return err
}

// defaultKey identifies a request by what it asks for.
func defaultKey(who Caller, r Request) string {
	h := sha256.New()
	parts := []string{who.Project, who.Cwd, r.Agent, string(r.Mode), r.Scope, r.Task, r.Model, r.SessionMode}
	if r.Continues != "" {
		parts = append(parts, r.Continues)
	}
	for _, part := range parts {
		fmt.Fprintf(h, "%d %s\n", len(part), part)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:16])
}

// clean returns a text as it may be stored: without private passages and secrets.
func clean(text string) string {
	text, _ = privacy.WithoutPrivate(strings.ToValidUTF8(text, "\ufffd"))
	return privacy.Redact(strings.ReplaceAll(text, "\x00", ""))
}

func cleaned(all []string) []string {
	kept := make([]string, len(all))
	for i, text := range all {
		kept[i] = clean(text)
	}
	return kept
}

// Begin makes runner the one that runs a delegation. errTaken: another process does, or it may not begin any more.
func (l *Ledger) Begin(ctx context.Context, id, runner string) (Delegation, error) {
	var d Delegation
	err := sqlite.Write(ctx, l.db, "beginning a delegation", func(tx *sql.Tx) error {
		err := sqlite.MustHit(ctx, tx, errTaken, `UPDATE delegations SET state = ?, runner = ?, pid = ?, started = ?
			WHERE id = ? AND state = ? AND created > ?`, Running, runner, os.Getpid(), sqlite.Stamp(l.now()), id,
			Queued, sqlite.Stamp(l.now().Add(-beginLimit)))
		if err != nil {
			return err
		}
		if err := l.noteEvent(ctx, tx, id); err != nil {
			return err
		}
		d, err = byID(ctx, tx, id)
		return err
	})
	return d, err
}

// noteEvent adds the state of a delegation to the events of the session that asked for it (docs/events.md).
func (l *Ledger) noteEvent(ctx context.Context, tx *sql.Tx, id string) error {
	d, err := byID(ctx, tx, id)
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"delegation": d.ID, "agent": d.Agent, "mode": d.Mode, "state": d.State,
		"acpId": d.ACPID, "turns": d.Usage.Turns, "tokens": d.Usage.Tokens, "cost": d.Usage.Cost,
		"currency": d.Usage.Currency})
	if err != nil {
		return err
	}
	return correlation.NoteEvent(ctx, tx, d.Key, correlation.StoredEvent{At: l.now(), Kind: "delegation_changed",
		Process: cmp.Or(d.Runner, d.Process), Turn: d.Turn, Data: data})
}

// runProgress is what a runner saves while it works.
type runProgress struct {
	ACPID, Folder, Branch, Progress string
	Usage                           Usage
}

// saveProgress saves how far a run is, and returns why it is to end, "" for no reason. errTaken: it is not this
// runner's any more.
func (l *Ledger) saveProgress(ctx context.Context, id, runner string, s runProgress) (cancel string, err error) {
	err = sqlite.Write(ctx, l.db, "noting how a delegation stands", func(tx *sql.Tx) error {
		before, err := byID(ctx, tx, id)
		if err != nil {
			return err
		}
		err = sqlite.MustHit(ctx, tx, errTaken, `UPDATE delegations SET acp_id = ?, folder = ?, branch = ?,
			progress = ?, turns = ?, tokens = ?, cost = ?, currency = ? WHERE id = ? AND runner = ?
			AND state = ?`, s.ACPID, s.Folder, s.Branch, clean(s.Progress), s.Usage.Turns, s.Usage.Tokens, s.Usage.Cost,
			s.Usage.Currency, id, runner, Running)
		cancel = before.Cancel
		if err != nil || before.ACPID == s.ACPID && before.Usage.Turns == s.Usage.Turns {
			return err
		}
		return l.noteEvent(ctx, tx, id)
	})
	return cancel, err
}

// checkStop returns why a delegation is to end, "" for no reason, and what the delegations inside it have used.
func (l *Ledger) checkStop(ctx context.Context, d Delegation) (cancel string, inside Usage, err error) {
	var asked string
	err = l.db.QueryRowContext(ctx, `SELECT d.cancel, coalesce(sum(i.turns), 0), sum(i.tokens), sum(i.cost)
		FROM delegations d LEFT JOIN delegations i ON i.parent = d.id WHERE d.id = ?`, d.ID).
		Scan(&asked, &inside.Turns, &inside.Tokens, &inside.Cost)
	if err != nil || asked != "" || d.Detach {
		return asked, inside, sqlite.While("watching a delegation", err)
	}
	if d.Turn > 0 {
		switch stop, open, err := l.sessions.TurnStands(ctx, d.Turn); {
		case err != nil:
			return "", inside, err
		case stop == "cancelled":
			return "its caller's turn was cancelled", inside, nil
		case !open:
			return "its caller's session was closed", inside, nil
		}
	}
	if alive, err := correlation.Alive(l.live, d.Process); d.Process != "" && err == nil && !alive {
		return "its caller has ended", inside, nil
	}
	return "", inside, nil
}

// An Outcome is how a delegation ended.
type Outcome struct {
	State          State
	Stop, Reason   string
	Answer         string
	Branch, Folder string
	Tree           string // that is kept for a follow-up
	Paths, Refused []string
	Usage          Usage
}

// End stores how a run ended. errTaken: it is not this runner's any more.
func (l *Ledger) End(ctx context.Context, id, runner string, o Outcome) error {
	return sqlite.Write(ctx, l.db, "ending a delegation", func(tx *sql.Tx) error {
		err := sqlite.MustHit(ctx, tx, errTaken, `UPDATE delegations SET state = ?, stop = ?, reason = ?, answer = ?,
			branch = ?, folder = ?, tree = ?, paths = ?, refused = ?, turns = ?, tokens = ?, cost = ?, currency = ?,
			ended = ? WHERE id = ? AND runner = ? AND state = ?`, o.State, o.Stop, clean(o.Reason), clean(o.Answer),
			o.Branch, o.Folder, o.Tree, sqlite.List(cleaned(o.Paths)), sqlite.List(cleaned(o.Refused)), o.Usage.Turns,
			o.Usage.Tokens, o.Usage.Cost, o.Usage.Currency, sqlite.Stamp(l.now()), id, runner, Running)
		if err != nil {
			return err
		}
		return l.noteEvent(ctx, tx, id)
	})
}

// cancel asks the runner to end a delegation; one that has not begun ends at once.
func (l *Ledger) cancel(ctx context.Context, id, why string) error {
	return l.change(ctx, "cancelling a delegation", id, `UPDATE delegations SET cancel = ?2,
		reason = iif(state = 'queued', ?2, reason), ended = iif(state = 'queued', ?3, ended),
		state = iif(state = 'queued', 'cancelled', state)
		WHERE id = ?1 AND ended = 0 AND cancel = ''`, id, why, sqlite.Stamp(l.now()))
}

// fail ends a delegation whose runner could not be started.
func (l *Ledger) fail(ctx context.Context, id, why string) error {
	return l.change(ctx, "ending a delegation", id, `UPDATE delegations SET state = ?, reason = ?, ended = ?
		WHERE id = ? AND state = ?`, Failed, why, sqlite.Stamp(l.now()), id, Queued)
}

// change runs an UPDATE of a row, and notes the event if it changed the row.
func (l *Ledger) change(ctx context.Context, doing, id, query string, args ...any) error {
	return sqlite.Write(ctx, l.db, doing, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return err
		}
		return l.noteEvent(ctx, tx, id)
	})
}

// judge stores what a caller thinks of a result, -1 to 1.
func (l *Ledger) judge(ctx context.Context, id string, verdict float64, note string) error {
	return sqlite.Write(ctx, l.db, "keeping a verdict", func(tx *sql.Tx) error {
		return sqlite.MustHit(ctx, tx, ErrNotFound, `UPDATE delegations SET verdict = ?, note = ?
			WHERE id = ?`, verdict, clean(note), id)
	})
}

// Settle stores the state Lost or Failed for delegations whose runner is dead or never began.
func (l *Ledger) Settle(ctx context.Context) error {
	open, err := l.stored(ctx, `WHERE ended = 0`)
	if err != nil {
		return err
	}
	for _, d := range open {
		state, why := l.actualState(d)
		if state == d.State {
			continue
		}
		err := l.change(ctx, "settling a delegation", d.ID, `UPDATE delegations SET state = ?, reason = ?, ended = ?
			WHERE id = ? AND state = ? AND runner = ?`, state, why, sqlite.Stamp(l.now()), d.ID, d.State, d.Runner)
		if err != nil {
			return err
		}
	}
	return nil
}

// notRemoved returns the delegations that have ended and whose folder was to be thrown away: their runner was killed,
// or could not.
func (l *Ledger) notRemoved(ctx context.Context) ([]Delegation, error) {
	if err := l.Settle(ctx); err != nil {
		return nil, err
	}
	return l.stored(ctx, `WHERE ended > 0 AND mode = ? AND folder <> ''`, Read)
}

// Kept returns the delegations that have ended and of which a folder is there, the newest first.
func (l *Ledger) Kept(ctx context.Context) ([]Delegation, error) {
	return l.stored(ctx, `WHERE ended > 0 AND folder <> '' ORDER BY id DESC`)
}

// Discard removes a delegation's folder, with what it has handed back.
func (l *Ledger) Discard(ctx context.Context, folders string, d Delegation) error {
	if err := worktree.Discard(ctx, folders, cmp.Or(d.Folder, d.Tree)); err != nil {
		return err
	}
	return l.forgetFolder(ctx, d.ID)
}

// forgetFolder notes that a delegation's folder was removed.
func (l *Ledger) forgetFolder(ctx context.Context, id string) error {
	_, err := l.db.ExecContext(ctx, `UPDATE delegations SET folder = '', branch = '', tree = '' WHERE id = ?`, id)
	return sqlite.While("noting that a folder is gone", err)
}
