package removal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
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

// SayUndo says how, and until when, the removal can be undone.
func (r Removal) SayUndo() {
	if !r.ForGood {
		r.Std.Say("signet-acp-proxy forget --undo restores it until %s",
			time.Now().Add(runtime.UndoTime).Format(time.TimeOnly)[:5])
	}
}
