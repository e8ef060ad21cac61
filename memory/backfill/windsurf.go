package backfill

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
)

// windsurf is Windsurf's Cascade: ~/.codeium/windsurf/cascade/….pb, which it encrypts (seen by others: 1.9544.35, and
// Devin Desktop 3.5.17). Nothing of it can be read.
var windsurf = format{
	agent: "windsurf",
	roots: func(p Place) []string { return []string{filepath.Join(p.Home, ".codeium", "windsurf", "cascade")} },
	match: func(rel string) bool { return strings.HasSuffix(rel, ".pb") },
	read: func(context.Context, Place, string, func(Conversation) error) error {
		return errors.New("it is encrypted by Windsurf; its Markdown export or SpecStory's files can be taken in")
	},
}
