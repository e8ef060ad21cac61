package runtime

import (
	"errors"
	"os"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// UndoTime is how long the last removal can be undone.
const UndoTime = time.Hour

// UndoFile holds what the last removal took out of the database.
func UndoFile(c *config.Config) string { return c.DB + "-undo" }

// RemoveUndo removes an undo file, and the journal that SQLite leaves if it is killed.
func RemoveUndo(path string) error {
	return files.Remove("what was kept of a removal", path, path+"-journal")
}

// RemoveUpgradeCopy removes the copy of the database from before an upgrade.
func RemoveUpgradeCopy(c *config.Config) error {
	return files.Remove("the copy from before the upgrade", migrations.CopyFiles(c.DB)...)
}

// DropOutdated removes the undo file, and the copy from before an upgrade, once their time is over. Every process that
// opens the database calls it.
func DropOutdated(c *config.Config, log *logFile) {
	old := func(name string, limit time.Duration) bool {
		info, err := os.Lstat(name)
		return err == nil && time.Since(info.ModTime()).Abs() >= limit
	}
	var err error
	if old(UndoFile(c), UndoTime) {
		err = RemoveUndo(UndoFile(c))
	}
	if old(migrations.CopyOf(c.DB), migrations.CopyTime) {
		err = errors.Join(err, RemoveUpgradeCopy(c))
	}
	if err != nil {
		log.Warn().Err(err).Msg("removing what was kept of the database")
	}
}
