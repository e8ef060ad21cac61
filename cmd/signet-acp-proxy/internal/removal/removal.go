// Package removal removes from the database what a person wants gone, after a question, and restores what was removed
// last.
package removal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Removal says how things are removed.
type Removal struct {
	Data    *runtime.Data
	Std     term.Streams
	Yes     bool // nobody is asked
	ForGood bool // it cannot be undone
}

// Session removes the conversation of the session that a person names.
func (r Removal) Session(ctx context.Context, name string) error {
	d := r.Data
	s, err := d.Find(ctx, name)
	if err != nil {
		return err
	}
	learned, err := d.Memories.LearnedFrom(ctx, []int64{s.ID})
	if err != nil {
		return err
	}
	r.Std.Say("%s %q, %s: %s", s.ACPID, s.Title, term.Count(s.Turns, "turn"), goesToo(learned))
	switch {
	case r.Yes:
	case r.Std.Interactive():
		if !r.Std.Ask("remove it?") {
			r.Std.Say("nothing was removed")
			return nil
		}
	case name != s.ACPID && name != s.Key && name != s.Record:
		return fmt.Errorf("%s is a prefix of %s; type the whole id or pass --yes", name, s.ACPID)
	}
	if err := r.forget(ctx, "the conversation "+s.ACPID, s.ACPID, []int64{s.ID}); err != nil {
		return err
	}
	if s.Live {
		r.Std.Say("an agent still has it open; its next turns will not be recorded")
	}
	r.SayUndo()
	return nil
}

// Source removes all conversations of an import.
func (r Removal) Source(ctx context.Context, source string) error {
	d := r.Data
	ids, err := d.Sessions.Book().Imported(ctx, source)
	if err != nil {
		return err
	}
	r.Std.Say("%s from %s", term.Count(len(ids), "conversation"), source)
	switch {
	case len(ids) == 0:
		return nil
	case r.Yes:
	case !r.Std.Interactive():
		return fmt.Errorf("to remove them, add --yes")
	case !r.Std.Ask("remove them?"):
		r.Std.Say("nothing was removed")
		return nil
	}
	what := term.Count(len(ids), "conversation")
	if err := r.forget(ctx, what+" from "+source, what, ids); err != nil {
		return err
	}
	r.SayUndo()
	return nil
}

// forget removes sessions and says so. what is what an undo says, short what is said now.
func (r Removal) forget(ctx context.Context, what, short string, ids []int64) error {
	var gone correlation.Removed
	err := r.sessions(ctx, what, func() error {
		for _, id := range ids {
			one, err := r.Data.Sessions.Forget(ctx, id, r.Data.Memories.Unlearn)
			if errors.Is(err, correlation.ErrNotFound) && len(gone.Sessions) > 0 { // it went with another one
				continue
			}
			if err != nil {
				return err
			}
			gone.Sessions, gone.Debts = append(gone.Sessions, one.Sessions...), append(gone.Debts, one.Debts...)
			gone.Turns += one.Turns
		}
		return nil
	}, func() []int64 { return gone.Debts })
	if err == nil {
		r.Std.Say("forgotten: %s, %s", short, term.Count(gone.Turns, "turn"))
	}
	return err
}

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

const (
	maxListed    = 50   // of the sessions that Prune removes, the newest
	manyPassages = 5000 // from here on, to merge the index of words costs less than to overwrite each
)

// Undo restores what was removed last.
func Undo(ctx context.Context, d *runtime.Data, std term.Streams) error {
	path := runtime.UndoFile(d.Config)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return errNothing
	}
	what, err := sqlite.Undo{DB: d.DB, Path: path}.Run(ctx)
	if err != nil {
		return fmt.Errorf("%w; nothing was changed. A new session conflicts with the removed one: "+
			"forget the new one first", err)
	}
	if err := runtime.RemoveUndo(path); err != nil {
		return err
	}
	std.Say("restored: %s", what)
	return d.Memories.Learn(ctx) // so that what is back can be found
}

var errNothing = fmt.Errorf("nothing was removed in the last %d minutes, or it was removed for good",
	int(runtime.UndoTime.Minutes()))

// sessions removes sessions, and then what is left of them outside of the database.
func (r Removal) sessions(ctx context.Context, what string, work func() error,
	debts func() []int64) error {
	waiting := eventlog.Sweep{Store: r.Data.Sessions, Log: r.Data.Log.Logger, Living: true}
	if err := waiting.Run(ctx); err != nil {
		return err
	}
	err := errors.Join(r.keep(ctx, what, work), r.Data.Memories.EraseWords(ctx))
	// what a child has kept of its conversation
	trees := delegation.NewLedger(r.Data.DB, r.Data.Config.LiveDir()).RemoveTrees(ctx,
		runtime.DelegationFolders(r.Data.Config), delegation.MaxTrees)
	return errors.Join(err, trees, eventlog.TakeIn(ctx, waiting.Store, waiting.Log), r.Data.Sessions.Checkpoint(ctx),
		delivery.RemoveTranscripts(r.Data.Config.Dir(), debts()), runtime.RemoveShown(r.Data.Config))
}

// keep runs work, which removes something, and keeps for an hour what is needed to undo it, in a file that nobody else
// can read.
func (r Removal) keep(ctx context.Context, what string, work func() error) error {
	path := runtime.UndoFile(r.Data.Config)
	if r.ForGood {
		return errors.Join(work(), runtime.RemoveUndo(path)) // the undo file may hold parts of what is removed now
	}
	making := path + ".new"
	if err := runtime.RemoveUndo(making); err != nil {
		return err
	}
	f, err := os.OpenFile(making, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("preparing to undo: %w; --for-good removes without undo", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	kept, err := sqlite.Undo{DB: r.Data.DB, Path: making, Except: embedded.Derived}.Record(ctx, what, work)
	if !kept {
		return errors.Join(err, runtime.RemoveUndo(making))
	}
	return errors.Join(err, os.Rename(making, path))
}

// SayUndo says how, and until when, the removal can be undone.
func (r Removal) SayUndo() {
	if !r.ForGood {
		r.Std.Say("signet-acp-proxy forget --undo restores it until %s",
			time.Now().Add(runtime.UndoTime).Format(time.TimeOnly)[:5])
	}
}

// goesToo says what will be removed with sessions.
func goesToo(l embedded.Learned) string {
	return fmt.Sprintf("this removes %s and %s learned from it; memories that you added are kept",
		term.Count(l.Passages, "passage"), term.Count(l.Memories, "memory"))
}

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
				chars.Cut(chars.OneLine(d.Task), 60))
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
