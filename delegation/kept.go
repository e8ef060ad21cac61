package delegation

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A follow-up goes on in the session and the tree of a delegation that has ended, which are kept for it: of the last
// MaxTrees delegations, for treeTime. What was handed back is the follow-up's from then on.
const (
	MaxTrees = 5
	treeTime = 4 * time.Hour
)

// stateName is the folder for a child's state below its root.
const stateName = "own"

// takeOver returns a follow-up the session, the tree and the changes of the delegation that it continues.
func (l *Ledger) takeOver(ctx context.Context, tx *sql.Tx, d *Delegation) error {
	first, err := byID(ctx, tx, d.Continues)
	if err != nil {
		return err
	}
	l.correct(&first)
	switch {
	case !first.State.Ended():
		return errors.New("still running: wait for it (delegation_wait), then continue it")
	case first.ContinuedBy != "":
		return fmt.Errorf("it was continued in %s: continue that one", first.ContinuedBy)
	case first.Tree == "":
		return l.whyGone(ctx, tx, first)
	}
	d.ACPID, d.Folder, d.Tree = first.ACPID, first.Folder, first.Tree
	return forgetFolder(ctx, tx, first.ID)
}

// whyGone says why a delegation cannot be gone on with whose tree is not there.
func (l *Ledger) whyGone(ctx context.Context, tx *sql.Tx, d Delegation) error {
	var reopens sql.NullBool
	err := tx.QueryRowContext(ctx, `SELECT value ->> 'reopens' FROM noted
		WHERE kind = 'agent' AND name = ?`, d.Agent).Scan(&reopens)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	case reopens.Valid && !reopens.Bool:
		return fmt.Errorf("%s cannot load a session: delegate again, with everything it must know", d.Agent)
	}
	return fmt.Errorf("its folder is gone (applied, discarded, too large, older than %v h, or %d others came since): "+
		"delegate again, with everything the other agent must know", treeTime.Hours(), MaxTrees)
}

// RemoveTrees removes the trees that are kept for follow-ups, but for the newest ones, and those of which the
// conversation was forgotten. Changes that were handed back stay.
func (l *Ledger) RemoveTrees(ctx context.Context, newest int) error {
	kept, err := l.stored(ctx, `WHERE ended > 0 AND tree <> '' AND NOT (state = 'lost'
		AND request ->> '$.mode' = 'edit') ORDER BY id DESC`)
	for i, d := range kept {
		if i >= newest || d.Task == "" || l.now().Sub(d.Ended) > treeTime {
			err = errors.Join(err, l.removeTree(ctx, d))
		}
	}
	return err
}

// removeTree removes the tree of a delegation and its session's state. Before, the row gets the folder's name, by which
// it is found if we are killed.
func (l *Ledger) removeTree(ctx context.Context, d Delegation) error {
	done, err := l.db.ExecContext(ctx, `UPDATE delegations SET folder = tree, tree = '' WHERE id = ? AND tree = ?
		AND tree <> ''`, d.ID, d.Tree)
	if err != nil {
		return sqlite.While("removing a tree", err)
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return err // a follow-up has it
	}
	left, err := worktree.RemoveTree(ctx, l.folders, d.Tree)
	switch {
	case err != nil:
		return err
	case left:
		return os.RemoveAll(filepath.Join(d.Tree, stateName))
	}
	return forgetFolder(ctx, l.db, d.ID)
}

// Kept returns the delegations that have ended and of which a folder is there, the newest first.
func (l *Ledger) Kept(ctx context.Context) ([]Delegation, error) {
	return l.stored(ctx, `WHERE ended > 0 AND folder <> '' ORDER BY id DESC`)
}

// Discard removes a delegation's folder, with what it has handed back.
func (l *Ledger) Discard(ctx context.Context, d Delegation) error {
	if err := worktree.Discard(ctx, l.folders, cmp.Or(d.Folder, d.Tree)); err != nil {
		return err
	}
	return forgetFolder(ctx, l.db, d.ID)
}

// forgetFolder notes that a delegation has no folder any more.
func forgetFolder(ctx context.Context, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, id string) error {
	_, err := db.ExecContext(ctx, `UPDATE delegations SET folder = '', tree = '',
		result = json_remove(result, '$.branch') WHERE id = ?`, id)
	return sqlite.While("noting that a folder is gone", err)
}
