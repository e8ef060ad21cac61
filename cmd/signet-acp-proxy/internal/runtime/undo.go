package runtime

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/files"
)

// UndoTime is how long the last removal can be undone.
const UndoTime = time.Hour

// UndoFile holds what the last removal took out of the database.
func UndoFile(c *config.Config) string { return c.DB + "-undo" }

// DropUndo removes the undo file once its time is over. Every process that opens the database calls it.
func DropUndo(c *config.Config, log *Log) {
	info, err := os.Lstat(UndoFile(c))
	if err == nil && time.Since(info.ModTime()).Abs() >= UndoTime {
		err = RemoveUndo(UndoFile(c))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.warn(err).Msg("removing what was kept of a removal")
	}
}

// RemoveUndo removes an undo file, and the journal that SQLite leaves if it is killed.
func RemoveUndo(path string) error {
	return files.Remove("what was kept of a removal", path, path+"-journal")
}
