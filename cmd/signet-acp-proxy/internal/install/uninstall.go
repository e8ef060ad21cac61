package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/clients"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// Uninstall removes our entries from clients' files and, unless Yes, after a question, what was recorded. No process of
// ours may be alive.
func (s Steps) Uninstall() error {
	recorded := filepath.Join(s.Config.SignetPath, "acp")
	if !s.Yes && !s.Std.Interactive() {
		return fmt.Errorf("this would remove our entries from the clients' files, and %s: add --yes", recorded)
	}
	if err := runtime.Unused(s.Config); err != nil {
		return err
	}
	var failed error
	for _, name := range clients.Names() {
		failed = errors.Join(failed, s.takeOut(name))
	}
	if failed != nil {
		return failed
	}
	if err := s.discard(); err != nil {
		return err
	}
	files := []string{recorded, s.Config.DB, s.Config.DB + "-wal", s.Config.DB + "-shm", s.Config.DB + "-writer",
		runtime.UndoFile(s.Config)}
	files = append(files, migrations.CopyFiles(s.Config.DB)...)
	for _, name := range runtime.TurnFiles {
		files = append(files, filepath.Join(s.Config.Dir(), name))
	}
	for _, path := range files {
		failed = errors.Join(failed, s.remove(path))
	}
	failed = errors.Join(failed, s.removeNpxCopy())
	if failed == nil {
		s.Std.Say("done; remove the program itself the way you installed it. %s stays", s.Config.SignetPath)
	}
	return failed
}

// discard removes what delegations have handed back, and their refs in the repositories that they were made for.
func (s Steps) discard() error {
	ctx, folders := context.Background(), runtime.DelegationFolders(s.Config)
	roots, err := filepath.Glob(filepath.Join(folders, "*"))
	if err != nil {
		return err
	}
	applied := true
	for _, root := range roots {
		if r, err := worktree.Open(ctx, folders, root); err == nil && !r.Applied(ctx) {
			applied = false
			s.Std.Say("not applied: changes to %s, in %s", r.Top, root)
		}
	}
	if !applied && !s.Yes && !s.Std.Ask("discard changes that were not applied?") {
		return errors.New("nothing else was removed; apply or discard the changes first")
	}
	for _, root := range roots {
		err = errors.Join(err, worktree.Discard(ctx, folders, root))
	}
	return err
}

// removeNpxCopy removes the copy of the program that our npm package made for clients to start (npm/bin).
func (s Steps) removeNpxCopy() error {
	data := os.Getenv("XDG_DATA_HOME")
	if goruntime.GOOS == "windows" {
		data = os.Getenv("LOCALAPPDATA")
	} else if home, err := memory.Home(); err == nil && data == "" {
		data = filepath.Join(home, ".local", "share")
	}
	kept := filepath.Join(data, "signet-acp-proxy")
	programs, err := filepath.Glob(filepath.Join(kept, "signet-acp-proxy*"))
	if data == "" || err != nil || len(programs) == 0 {
		return err
	}
	if !s.Yes && !s.Std.Ask("remove %s, the program in npx's cache?", kept) {
		return nil
	}
	if err := os.RemoveAll(kept); err != nil {
		return err
	}
	s.Std.Say("removed: %s", kept)
	return nil
}

// takeOut removes our entries from a client's file.
func (s Steps) takeOut(name string) error {
	file, err := clients.Open(name)
	if err != nil || !file.Exists {
		return err
	}
	taken, err := file.TakeOut(nil)
	if err != nil || len(taken) == 0 {
		return err
	}
	if !s.Yes && !s.Std.Ask("take %s out of %s?", term.Count(len(taken), "entry"), file.Path) {
		return nil
	}
	if err := file.Save(); err != nil {
		return err
	}
	s.Std.Say("removed from %s: %s", file.Path, strings.Join(taken, ", "))
	return nil
}

// remove removes a file, or a folder with all that is in it.
func (s Steps) remove(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !s.Yes && !s.Std.Ask("remove %s, with all recordings? signet-acp-proxy backup makes a copy", path) {
		return nil
	}
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	s.Std.Say("removed: %s", path)
	return nil
}
