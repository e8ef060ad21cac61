// Package notes has the agent of a session write down, once it is over, what was decided and found in it. The agent is
// started once more, in bounds, gets one prompt and gives one answer; what it says is stored as its own word, never as
// the user's. Only what a person has switched on costs anything (notes: agent).
//
//	w := notes.Writer{Store: store, Memories: memories, Agent: agentOf, Command: relay, Folder: dir}
//	n, err := w.WriteDue(ctx)         // what has ended lately
//	written, err := w.Write(ctx, id)  // one session
package notes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// storeLimit is how long storing the outcome may take, also where we were told to end.
const storeLimit = 10 * time.Second

// ErrBusy says that another process writes notes now.
var ErrBusy = errors.New("another process is writing notes; try again in a few minutes")

// A Writer has notes written. One process at a time does.
type Writer struct {
	Store    *correlation.Store
	Memories *embedded.Store
	// Agent returns the agent to start for a session, by its name, or why there is none.
	Agent   func(correlation.Session) (name string, profile upstream.Profile, err error)
	Owed    func([]embedded.Memory) []correlation.Debt // what is delivered of notes
	Command []string                                   // the relay's command line without --agent and the name
	Folder  string                                     // in which agents get their folders; nothing else is in it
	Version string                                     // ours
	Reads   []string                                   // what agents may read beside what they need
	Memory  int64                                      // bytes that each of their processes may have; 0: no limit
	Model   string                                     // that a person has named; "": the cheapest
	Limit   int                                        // sessions in 24 hours
	Log     zerolog.Logger
}

// A Written is what came of asking an agent about a session.
type Written struct {
	correlation.Noting
	Agent, Model string
	Kept         []embedded.Memory
}

// WriteDue writes the notes that are due, unless another process does, and returns how many there are.
func (w Writer) WriteDue(ctx context.Context) (notes int, err error) {
	err = w.alone(func() error {
		due, err := w.Due(ctx)
		for _, id := range due {
			if err != nil || ctx.Err() != nil {
				break
			}
			var got Written
			if got, err = w.write(ctx, id); errors.Is(err, correlation.ErrNotFound) { // it was forgotten
				err = nil
				continue
			}
			notes += got.Notes
			w.Log.Info().Int64("session", id).Str("agent", got.Agent).Int("notes", got.Notes).Str("failed", got.Error).
				Dur("took", got.Ended.Sub(got.Began)).Msg("notes")
		}
		return err
	})
	return notes, err
}

// Write writes the notes of a session now. How the agent fared is in the result; the error is ErrBusy, that the session
// cannot be noted, or the database's.
func (w Writer) Write(ctx context.Context, session int64) (got Written, err error) {
	err = w.alone(func() error {
		got, err = w.write(ctx, session)
		return err
	})
	return got, err
}

// alone does work while no other process writes notes, and first removes what one that was killed has left.
func (w Writer) alone(work func() error) error {
	if err := os.MkdirAll(w.Folder, 0o700); err != nil {
		return err
	}
	lock := flock.New(w.Folder+".lock", flock.SetPermissions(0o600))
	mine, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("locking %s: %w", lock.Path(), err)
	}
	if !mine {
		return ErrBusy
	}
	defer lock.Close()
	left, err := os.ReadDir(w.Folder)
	for _, one := range left {
		err = errors.Join(err, os.RemoveAll(filepath.Join(w.Folder, one.Name())))
	}
	if err != nil {
		return err
	}
	return work()
}

func (w Writer) write(ctx context.Context, id int64) (got Written, err error) {
	session, err := w.Store.Get(ctx, id)
	if err != nil {
		return got, err
	}
	var profile upstream.Profile
	if got.Agent, profile, err = w.Agent(session); err != nil {
		return got, err
	}
	turns, err := w.Store.ToldOf(ctx, id)
	if err == nil && len(turns) == 0 {
		err = errors.New("it has no turns")
	}
	if err != nil {
		return got, err
	}
	var about strings.Builder
	for _, t := range turns {
		about.WriteString(t.User + "\n")
	}
	known, err := w.Memories.NotesAbout(ctx, about.String(), session.Project)
	if err != nil {
		return got, err
	}
	got.Noting, err = w.Store.BeginNoting(ctx, id, turns[len(turns)-1].Turn)
	if err != nil {
		return got, err
	}
	b := newBrief(turns, known, maxInput)
	answer, failed := w.ask(ctx, &got, profile, b.text)
	var notes []embedded.Note
	if failed == nil {
		notes, failed = b.parse(answer)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	if got.Ended = time.Now(); failed != nil {
		got.Error = failed.Error()
		return got, w.Store.EndNoting(ctx, got.Noting)
	}
	got.Kept, err = w.Memories.Note(ctx, got.Noting, got.Agent, turns, notes, w.Owed)
	got.Notes = len(got.Kept)
	return got, err
}
