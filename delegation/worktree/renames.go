package worktree

import (
	"context"
	"strings"
	"time"
)

const (
	renameCommits = "500"           // the newest, whose renames are found
	renameLimit   = 3 * time.Second // of git
)

// Renames returns the files that commits have renamed in a work tree, the new path by the old one.
func Renames(ctx context.Context, top string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, renameLimit)
	defer cancel()
	out, err := git{Tree: top}.run(ctx, "", "log", "-z", "--format=", "--name-status", "--diff-filter=R", "-M",
		"--max-count="+renameCommits)
	renamed := map[string]string{}
	fields := strings.Split(out, "\x00")
	for len(fields) >= 3 {
		if !strings.HasPrefix(fields[0], "R") {
			fields = fields[1:] // between two commits
			continue
		}
		if _, again := renamed[fields[1]]; !again { // the newest comes first
			renamed[fields[1]] = fields[2]
		}
		fields = fields[3:]
	}
	return renamed, err
}
