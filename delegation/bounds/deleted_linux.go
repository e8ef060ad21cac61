package bounds

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/Signet-AI/signet-acp-proxy/lineage"
)

// Adopt makes what forks away from our descendants our own child, so that Deleted finds it.
func Adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// Deleted returns how many bytes lie in deleted files that our descendants have open: no folder lists these. It also
// reaps those in bounds that were adopted and have ended.
func Deleted() (all int64) {
	type file struct{ device, number uint64 }
	seen := map[file]bool{}
	self := os.Getpid()
	for _, p := range lineage.Below(self) {
		if p.Ended && p.Confined && p.Parent == self { // what we start ourselves is in no bounds
			_, _ = unix.Wait4(p.ID, nil, unix.WNOHANG, nil)
			continue
		}
		for _, name := range lineage.OpenFiles(p.ID) {
			var found unix.Stat_t
			if unix.Stat(name, &found) != nil || found.Nlink > 0 || found.Mode&unix.S_IFMT != unix.S_IFREG {
				continue
			}
			if f := (file{uint64(found.Dev), found.Ino}); !seen[f] { //nolint:unconvert // not on every processor
				seen[f] = true
				all += found.Blocks * 512
			}
		}
	}
	return all
}
