package delegation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
)

// Run carries a delegation out, unless another process does or it may not begin any more. Errors are the database's;
// how the run went is in the row.
func (r Runner) Run(ctx context.Context, id, task string) error {
	lock, err := correlation.TakeLock(r.Ledger.live, correlation.NewProcessID())
	if err != nil {
		return err
	}
	defer lock.Release()
	d, err := r.Ledger.Begin(ctx, id, lock.ID())
	if errors.Is(err, errTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	r.Log.Info().Str("delegation", d.ID).Str("agent", d.Agent).Int("depth", d.Depth).Msg("delegation begins")
	d = r.carryOut(ctx, d, task)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	r.Ended(end, &d)
	for err = r.Ledger.End(end, d); err != nil && !errors.Is(err, errTaken) && end.Err() == nil; {
		select {
		case <-time.After(noteEvery): // the disk may be full for a while
		case <-end.Done():
		}
		err = r.Ledger.End(end, d)
	}
	r.Log.Info().Str("delegation", d.ID).Str("state", string(d.State)).Msg("delegation ended")
	r.tidy(end)
	return err
}

// tidy removes the folders of runs that were killed, and trees that are kept no longer.
func (r Runner) tidy(ctx context.Context) {
	err := errors.Join(r.Ledger.RemoveTrees(ctx, MaxTrees), r.Ledger.Settle(ctx))
	kept, failed := r.Ledger.Kept(ctx)
	err = errors.Join(err, failed)
	for _, d := range kept {
		if d.Mode == Read { // its runner was killed, or could not throw it away
			err = errors.Join(err, r.Ledger.Discard(ctx, d))
		}
	}
	if err != nil {
		r.Log.Warn().Err(err).Msg("removing folders that were left")
	}
}

// carryOut runs the delegation within its budget, and returns it as it ended.
func (r Runner) carryOut(ctx context.Context, d Delegation, task string) Delegation {
	run := &run{Runner: r, d: d, task: task}
	run.child = &child{budget: d.Budget, stop: run.stop, tools: map[string]bool{}, usage: Usage{Turns: 1},
		policy: policy{mode: d.Mode, allowedKinds: r.Granted}}
	run.ctx, run.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	defer run.cancel(nil)
	defer context.AfterFunc(ctx, func() { run.stop(Cancelled, "its runner was ended") })()
	limit := time.AfterFunc(time.Duration(d.Budget.Seconds)*time.Second, func() {
		run.stop(Stopped, fmt.Sprintf("its budget of %d seconds is used up", d.Budget.Seconds))
	})
	defer limit.Stop()

	o := run.beside("delegation", run.watch, run.work)
	if end := run.stopped(); end.state != "" && o.State != Done {
		o.State, o.Reason = end.state, end.why
	}
	return o
}

// ended is the delegation in a state, with nothing of its run yet but the session.
func (r *run) ended(state State, reason string) Delegation {
	d := r.d
	d.State, d.Run, d.Result = state, Run{ACPID: r.child.noted().ACPID}, Result{Reason: reason}
	return d
}

// watch ends the run when it is to end, and saves its progress.
func (r *run) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	noted := time.Time{}
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		cancel, inside, err := r.Ledger.checkStop(ctx, r.d)
		switch {
		case err != nil && ctx.Err() == nil:
			r.Log.Warn().Err(err).Str("delegation", r.d.ID).Msg("watching")
			continue
		case cancel != "":
			r.stop(Cancelled, cancel)
		}
		r.child.addInside(inside)
		if time.Since(noted) >= noteEvery {
			noted = time.Now()
			r.note(ctx)
		}
	}
}

// work makes the child's folder, has the child work there, and takes back what it wrote.
func (r *run) work() Delegation {
	root := cmp.Or(r.d.Tree, filepath.Join(r.Ledger.folders, r.d.ID))
	r.child.opened(root, r.d.ACPID)
	r.note(r.ctx) // so that the folder is found if we are killed
	r.readMode, r.cwd = r.ReadMode(r.d.Agent), r.d.Cwd
	folder, err := r.folder(root)
	switch {
	case errors.As(err, new(worktree.TooLarge)) && r.d.Mode == Read && (r.Bounded || r.readMode != ""):
		// it is kept from writing
		r.inPlace, r.child.policy.inside = true, func(string) bool { return false }
		defer os.RemoveAll(root)
		err = r.bound(root, r.cwd, nil)
	case err == nil:
		r.cwd = folder.Cwd
		err = r.enter(folder, root)
	}
	if err != nil {
		o := r.ended(Failed, err.Error())
		if _, gone := os.Stat(root); gone == nil {
			o.Folder = root // what was handed back before a follow-up, or what could not be removed
		}
		return o
	}
	given := worktree.Used(root)
	measure := func(ctx context.Context) { r.watchDisk(ctx, root, given, diskEvery) }
	o := r.beside("disk of a delegation", measure, r.converse)
	if folder != nil {
		r.takeBack(folder, root, &o)
	}
	if r.place != nil && !r.keep { // with the copy of a login, if its relay was killed
		if err := os.RemoveAll(r.place.State); err != nil {
			r.Log.Warn().Err(err).Str("delegation", r.d.ID).Msg("removing a child's state")
		}
	}
	return o
}

// folder makes the child's folder at root or, in a follow-up, opens the one that was.
func (r *run) folder(root string) (*worktree.Folder, error) {
	if r.d.Continues != "" {
		return worktree.Reopen(r.ctx, r.Ledger.folders, root)
	}
	options := worktree.Options{Edit: r.d.Mode == Edit, Copy: r.Copy}
	if len(r.Setup) > 0 {
		options.Prepare = r.prepare
	}
	return worktree.Make(r.ctx, r.d.Cwd, root, options)
}

// enter says what the child may reach in its folder. A new folder is removed where that fails.
func (r *run) enter(f *worktree.Folder, root string) error {
	r.child.policy.inside = f.Inside
	err := r.Made(r.d, root)
	if err == nil {
		err = r.bound(root, f.Tree(), f.Reads())
	}
	if err != nil && r.d.Continues == "" {
		err = errors.Join(err, f.Drop(context.WithoutCancel(r.ctx)))
	}
	return err
}

// takeBack adds to the outcome what the child has written.
func (r *run) takeBack(f *worktree.Folder, root string, o *Delegation) {
	limit := endLimit
	f.Keep = r.keep
	if r.CheckBy != "" && o.State == Done {
		limit += checkLimit
		f.Check = func() { r.checkAtEnd(f, o) }
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), limit)
	defer cancel()
	title, _, _ := strings.Cut(strings.TrimSpace(r.d.Task), "\n")
	written, err := f.Finish(ctx, "Delegated: "+clean(chars.Cut(title, 72)))
	if err != nil {
		r.Log.Warn().Err(err).Str("delegation", r.d.ID).Msg("taking back a folder")
		o.Reason = cmp.Or(o.Reason, err.Error())
	}
	o.Paths, o.Branch, o.Refused = written.Paths, written.Branch, append(o.Refused, written.NotTaken...)
	if o.Branch != "" || err != nil {
		o.Folder = root
	}
	if r.keep && err == nil {
		o.Tree = root
	}
}
