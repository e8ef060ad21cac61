// Package removal removes from the database what a person wants gone, after a question, and restores what was removed
// last.
package removal

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
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

const (
	maxListed    = 50   // of the sessions that Prune removes, the newest
	manyPassages = 5000 // from here on, to merge the index of words costs less than to overwrite each
)

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
	trees := runtime.Ledger(r.Data.Config, r.Data.DB).RemoveTrees(ctx, delegation.MaxTrees)
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

// goesToo says what will be removed with sessions.
func goesToo(l embedded.Learned) string {
	return fmt.Sprintf("this removes %s and %s learned from it; memories that you added are kept",
		term.Count(l.Passages, "passage"), term.Count(l.Memories, "memory"))
}
