package removal

import (
	"context"
	"errors"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
)

// Prune removes old conversations or, with o.DryRun, says which it would remove.
func (r Removal) Prune(ctx context.Context, o correlation.PruneOptions) error {
	d := r.Data
	o.Unlearn = d.Memories.Unlearn
	progress := term.NewProgress(r.Std.Err)
	progress.Step("looking for old sessions")
	if err := d.Bulk(ctx); err != nil { // before anything is recorded: it would drop the triggers that do so
		return err
	}
	dry := o
	dry.DryRun = true
	p, err := d.Sessions.Prune(ctx, dry)
	if err != nil {
		return err
	}
	listed, err := d.Listed(ctx, p.Sessions[:min(len(p.Sessions), maxListed)]) // before they are gone
	if err != nil {
		return err
	}
	learned, err := d.Memories.LearnedFrom(ctx, p.Sessions)
	if err != nil {
		return err
	}
	progress.Done()
	if learned.Passages+learned.Memories > 0 {
		r.Std.Say("%s", goesToo(learned))
	}
	found := len(p.Sessions)
	o.Done = func(n int) { progress.Share("removing", int64(n), int64(found)) }
	prune := func() (err error) {
		if learned.Passages >= manyPassages {
			if err := d.Memories.LeaveWords(ctx); err != nil {
				return err
			}
		}
		p, err = d.Sessions.Prune(ctx, o)
		return err
	}
	if !o.DryRun {
		err = r.sessions(ctx, "old conversations", prune, func() []int64 { return p.Debts })
	}
	progress.Done()
	removed := map[int64]bool{}
	for _, id := range p.Sessions {
		removed[id] = true
	}
	gone := slices.DeleteFunc(listed, func(s runtime.Listed) bool { return !removed[s.ID] })
	if len(gone) > 0 {
		err = errors.Join(err, report.Sessions(gone, term.On(r.Std.Out)))
	}
	if more := len(p.Sessions) - len(gone); more > 0 {
		r.Std.Say("%d more", more)
	}
	err = errors.Join(err, r.changes(ctx, o))
	what := term.Count(len(p.Sessions), "session") + ", " + term.Count(p.Turns, "turn")
	switch {
	case len(p.Sessions) == 0:
		r.Std.Say("nothing to remove; sessions in use or not yet delivered are kept")
	case o.DryRun:
		r.Std.Say("would remove %s; --yes does it", what)
	default:
		r.Std.Say("removed: %s", what)
		r.SayUndo()
	}
	return err
}

// changes removes what delegations have handed back and was applied, and what is as old as o says.
func (r Removal) changes(ctx context.Context, o correlation.PruneOptions) error {
	ledger := runtime.Ledger(r.Data.Config, r.Data.DB)
	folders := runtime.DelegationFolders(r.Data.Config)
	all, err := ledger.Kept(ctx)
	if err != nil {
		return err
	}
	var gone int
	var failed error
	for _, d := range all {
		result, err := worktree.Open(ctx, folders, d.Folder)
		if err == nil && !result.Applied(ctx) {
			old := !o.Before.IsZero() && d.Ended.Before(o.Before)
			r.Std.Say("not applied: %s, %s: %s", d.ID, term.Count(len(d.Paths), "file"),
				chars.Cut(chars.OneLine(d.Task), 60))
			if !old {
				continue
			}
		} else if err != nil && !errors.Is(err, worktree.ErrNothing) {
			failed = errors.Join(failed, err)
			continue
		}
		if !o.DryRun {
			if err := ledger.Discard(ctx, d); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		gone++
	}
	if !o.DryRun {
		failed = errors.Join(failed, ledger.RemoveTrees(ctx, 0))
	}
	if gone > 0 {
		word := "removed"
		if o.DryRun {
			word = "would remove"
		}
		r.Std.Say("%s: the changes of %s", word, term.Count(gone, "delegation"))
	}
	return failed
}
