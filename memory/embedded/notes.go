package embedded

import (
	"context"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// NoteSession is the Session of memories that were imported from the files in which an agent keeps notes for itself.
func NoteSession(agent string) string { return "agent:" + agent }

// WithoutOwnNotes leaves out items that were imported from the notes of this harness, which reads them by itself.
func (s *Store) WithoutOwnNotes(ctx context.Context, harness string, items []memory.Item) ([]memory.Item, error) {
	if len(items) == 0 {
		return items, nil
	}
	var ids, own []string
	for _, it := range items {
		ids = append(ids, it.ID)
	}
	for _, name := range namesOf(harness) {
		own = append(own, NoteSession(name))
	}
	known, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `SELECT uid FROM memories
		WHERE uid IN (SELECT value FROM json_each(?)) AND key IN (SELECT value FROM json_each(?))`,
		sqlite.List(ids), sqlite.List(own))
	if err != nil {
		return nil, sqlite.While("leaving out what the agent has", err)
	}
	return slices.DeleteFunc(items, func(it memory.Item) bool { return slices.Contains(known, it.ID) }), nil
}
