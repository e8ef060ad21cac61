package removal

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Changes that were applied go; of the others those that are old, and each is named before it does.
func TestPruneChanges(t *testing.T) {
	d := opened(t)
	folders := runtime.DelegationFolders(d.Config)
	caller, now := t.TempDir(), time.Now()
	for id, ended := range map[string]time.Time{"APPLIED": now, "FRESH": now, "OLD": now.AddDate(-1, 0, 0), "EMPTY": now} {
		root := filepath.Join(folders, id)
		if id != "EMPTY" {
			f, err := worktree.Make(t.Context(), caller, root, worktree.Options{Edit: true})
			check(t, err)
			check(t, os.WriteFile(filepath.Join(f.Cwd, id), nil, 0o600))
			_, err = f.Finish(t.Context(), "m")
			check(t, err)
		}
		if id == "APPLIED" {
			r, err := worktree.Open(t.Context(), folders, root)
			check(t, err)
			_, _, err = r.Apply(t.Context(), worktree.ApplyOptions{Steering: true})
			check(t, err)
		}
		_, err := d.DB.ExecContext(t.Context(), `INSERT INTO delegations (id, caller, root, depth, key, agent, state,
			created, request, ended, folder)
			VALUES (?1, '', ?1, 1, ?1, 'a', 'done', 1, '{"mode":"edit","task":"t"}', ?2, ?3)`,
			id, sqlite.Stamp(ended), root)
		check(t, err)
	}
	for _, tt := range []struct {
		dry         bool
		left, named []string
	}{
		{true, []string{"APPLIED", "FRESH", "OLD"}, []string{"FRESH", "OLD"}},
		{false, []string{"FRESH"}, []string{"FRESH", "OLD"}},
		{false, []string{"FRESH"}, []string{"FRESH"}},
	} {
		var said bytes.Buffer
		err := Removal{Data: d, Std: term.Streams{Err: &said}}.changes(t.Context(),
			correlation.PruneOptions{Before: now.AddDate(0, -1, 0), DryRun: tt.dry})
		check(t, err)
		rest, err := filepath.Glob(filepath.Join(folders, "*"))
		check(t, err)
		for i := range rest {
			rest[i] = filepath.Base(rest[i])
		}
		if !slices.Equal(rest, tt.left) {
			t.Errorf("left: %q, want %q", rest, tt.left)
		}
		for _, id := range []string{"FRESH", "OLD", "APPLIED"} {
			named := strings.Contains(said.String(), "not applied: "+id+", ")
			if named != slices.Contains(tt.named, id) {
				t.Errorf("%s named: %v\n%s", id, named, &said)
			}
		}
	}
}
