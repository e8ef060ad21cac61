package removal

import (
	"context"
	"errors"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
)

// changes removes what delegations have handed back and was applied, and what is as old as o says.
func (r Removal) changes(ctx context.Context, o correlation.PruneOptions) error {
	ledger := delegation.NewLedger(r.Data.DB, r.Data.Config.LiveDir())
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
				chars.Cut(strings.Join(strings.Fields(d.Task), " "), 60))
			if !old {
				continue
			}
		} else if err != nil && !errors.Is(err, worktree.ErrNothing) {
			failed = errors.Join(failed, err)
			continue
		}
		if !o.DryRun {
			if err := ledger.Discard(ctx, folders, d); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		gone++
	}
	if !o.DryRun {
		failed = errors.Join(failed, ledger.RemoveTrees(ctx, folders, 0))
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
