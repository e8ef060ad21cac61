package delegation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// checkLimit is how long a check may take.
const checkLimit = 10 * time.Minute

// Check runs a command in the tree of a delegation that has ended, and stores how that ended. Files are put back as the
// child handed them back.
func (r Runner) Check(ctx context.Context, d Delegation, command string) (c Check, err error) {
	if err := resultKept(d); err != nil {
		return c, err
	}
	if d.Tree == "" {
		return c, fmt.Errorf("its tree is gone (applied, or more than %v h or %d delegations ago): apply the changes, "+
			"and check them in your folder", treeTime.Hours(), MaxTrees)
	}
	f, err := worktree.OpenTree(ctx, r.Ledger.folders, d.Tree)
	if err != nil {
		return c, err
	}
	run := &run{Runner: r, d: d}
	if err = run.bound(d.Tree, f.Tree(), f.Reads()); err == nil {
		c, err = run.check(ctx, command, f.Cwd)
	}
	if err = errors.Join(err, f.Restore(context.WithoutCancel(ctx)), f.Close()); err != nil {
		return c, err
	}
	_, err = r.Ledger.db.ExecContext(ctx, `UPDATE delegations SET result = json_set(result, '$.check', json(?))
		WHERE id = ?`, column(c), d.ID)
	return c, sqlite.While("keeping a check", err)
}

// check runs a command in the child's bounds. The error says why it did not run.
func (r *run) check(ctx context.Context, command, cwd string) (c Check, err error) {
	if r.place == nil && !r.Unbounded {
		return c, errors.New("the command cannot be confined to its folder here: apply, then run it yourself, " +
			"or set delegation_unbounded: true")
	}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	began := time.Now()
	exit, last, err := r.shell(ctx, command, cwd)
	if err != nil {
		return c, err
	}
	c = Check{Command: clean(command), Exit: exit.Status(), Seconds: time.Since(began).Seconds(),
		Last: clean(strings.Join(last, "\n"))}
	if ctx.Err() != nil {
		c.Exit, c.Last = cmp.Or(c.Exit, 1), c.Last+"\n(it was ended: "+ctx.Err().Error()+")"
	}
	return c, nil
}

// checkAtEnd runs the command of the settings, if there is one, and notes in the outcome how it ended.
func (r *run) checkAtEnd(f *worktree.Folder, o *Delegation) {
	r.child.checking(r.CheckBy)
	switch c, err := r.check(r.ctx, r.CheckBy, f.Cwd); {
	case err != nil:
		o.Refused = append(o.Refused, "delegation_check: "+err.Error())
	default:
		o.Check = &c
	}
}
